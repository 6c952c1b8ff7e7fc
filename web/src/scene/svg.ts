/** What a pen draws on a canvas, as SVG: the part of CanvasRenderingContext2D that pens use. */

export class SvgContext {
  globalAlpha = 1;
  lineWidth = 1;
  strokeStyle = "#000000";
  fillStyle = "#000000";
  font = "12px sans-serif";
  textBaseline = "middle";
  lineCap = "round";
  lineJoin = "round";
  private path = "";
  private dash: number[] = [];
  private parts: string[] = [];
  private ruler = document.createElement("canvas").getContext("2d")!;

  constructor(
    private width: number,
    private height: number,
  ) {}

  image(url: string, width: number, height: number): void {
    this.parts.push(`<image href="${url}" width="${width}" height="${height}" style="image-rendering:pixelated"/>`);
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${n(x)} ${n(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${n(x)} ${n(y)}`;
  }

  closePath(): void {
    this.path += "Z";
  }

  /** A whole circle. */
  arc(x: number, y: number, r: number): void {
    this.path += `M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0Z`;
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  stroke(): void {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" ${this.pen()}${dash}/>`);
  }

  fill(): void {
    this.parts.push(`<path d="${this.path}" fill="${escape(this.fillStyle)}" opacity="${n(this.globalAlpha)}"/>`);
  }

  strokeText(text: string, x: number, y: number): void {
    this.words(text, x, y, `fill="none" ${this.pen()}`);
  }

  fillText(text: string, x: number, y: number): void {
    this.words(text, x, y, `fill="${escape(this.fillStyle)}" opacity="${n(this.globalAlpha)}"`);
  }

  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /** The whole file. */
  text_of(title: string): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><title>${escape(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private pen(): string {
    const line = `stroke-width="${n(this.lineWidth)}" stroke-linecap="round" stroke-linejoin="round"`;
    return `stroke="${escape(this.strokeStyle)}" ${line} opacity="${n(this.globalAlpha)}"`;
  }

  private words(text: string, x: number, y: number, how: string): void {
    const font = `style="font:${escape(this.font)}" dominant-baseline="central"`;
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" ${font} ${how}>${escape(text)}</text>`);
  }
}

function n(value: number): string {
  return String(Math.round(100 * value) / 100);
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]!);
}
