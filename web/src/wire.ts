/** Binary messages: a JSON header and raw arrays, used without a copy. The other side is covey/plain.py. */

export type Numbers = Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
export interface NumberArray {
  data: Numbers;
  shape: number[];
}
export type Arrays = Map<string, NumberArray>;
export interface Header {
  type: string;
  [name: string]: unknown;
}

const TYPES = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  i4: Int32Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
} as const;

export function unpack(buffer: ArrayBuffer): { header: Header; arrays: Arrays } {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays: Arrays = new Map();
  for (const { name, type, shape, offset } of header.arrays) {
    const count = shape.reduce((a: number, b: number) => a * b, 1);
    arrays.set(name, { data: new TYPES[type as keyof typeof TYPES](buffer, 4 + length + offset, count), shape });
  }
  return { header, arrays };
}
