"""Maps and height maps of every kind, changed at random, byte by byte and in what they say."""

import io
import json
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
from attacks.bounded import main
from attacks.scenarios import said
from attacks.strange import NUMBERS, strange


def case(number: int) -> str:
    """Return ``good`` or ``refused``, after a map was read as walls or as ground, and written and read again."""
    from covey.errors import CoveyError
    from covey.world.ground import MAX_ALTITUDE_M, Ground
    from covey.world.world import World

    random = Random(number)
    folder = Path(f"case{number}")
    folder.mkdir()
    try:
        path, is_ground = _written(folder, random)
        try:
            if is_ground:
                ground = Ground.from_file(path, **_options(random))
                assert np.abs(ground.altitude).max() <= MAX_ALTITUDE_M, "an altitude that nothing can have"
                ground.world()
            else:
                bare = path.suffix != ".yaml"
                world = World.from_file(path, **({"resolution_m": 0.05} if bare else {}))
                world.save(folder / "again.yaml")
                again = World.from_file(folder / "again.yaml")
                assert np.array_equal(again.grid.cells, world.grid.cells), "it reads back as another one"
        except CoveyError as error:
            said(error)
            return "refused"
        return "good"
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _options(random: Random) -> dict:
    if random.random() < 0.8:
        return {}
    name = random.choice(("spacing_m", "m_per_step", "zero_m", "resample_m", "fill_m"))
    return {name: float(random.choice(NUMBERS))}


def _written(folder: Path, random: Random) -> tuple[Path, bool]:
    """Write a map that was changed; return its path, and whether it is one of altitudes."""
    kind = random.choice(sorted(_SOURCES))
    data = bytearray(_SOURCES[kind](random))
    for _ in range(random.choice((0, 1, 1, 2, 5))):
        at = random.randrange(len(data) + 1)
        how = random.random()
        if how < 0.5 and data:
            data[min(at, len(data) - 1)] = random.randrange(256)
        elif how < 0.65:
            del data[at : at + random.choice((1, 4, 100, 10**6))]
        elif how < 0.8:
            data[at:at] = random.choice((b"9" * 12, b"-", b"e308", b"\n", b"nan ", b"\0\0\0\0", b"\xff\xff\xff\xff"))
        elif len(data) > 8:
            data[at % (len(data) - 8) :][:4] = struct.pack("<i", random.choice((-1, 0, 2**31 - 1, 65536, 10**9)))
    path = folder / f"map.{kind.rpartition(' ')[2]}"
    path.write_bytes(data)
    if path.suffix == ".yaml":
        (folder / "plan.pgm").write_bytes(_pgm(random))
    return path, kind.startswith("ground")


def _cells(random: Random) -> np.ndarray:
    return np.random.default_rng(random.randrange(2**32)).integers(0, 256, (12, 9), np.uint8)


def _pgm(random: Random) -> bytes:
    cells = _cells(random)
    if random.random() < 0.5:
        return b"P5 9 12 255\n" + cells.tobytes()
    size = random.choice((b"9 12", b"9 12", b"8000 8000", b"99999 1", b"12 9 # \x1b\n"))
    return b"P2\n" + size + b"\n255\n" + b" ".join(b"%d" % v for v in cells.ravel().tolist())


def _image(kind: str, random: Random) -> bytes:
    from PIL import Image

    cells, stream = _cells(random), io.BytesIO()
    mode = random.choice(("L", "RGB", "RGBA", "P", "1", "I;16", "LA", "F"))
    if mode == "I;16":
        image = Image.fromarray(cells.astype(np.uint16) * 200)
    elif mode == "F":
        image = Image.fromarray(cells.astype(np.float32) * 10.0 ** random.choice((0, 3, 30)))
    else:
        image = Image.fromarray(cells).convert(mode)
    if kind == "PNG" and mode == "F":
        image = image.convert("L")
    tags = {}
    if kind == "TIFF":
        from PIL.TiffImagePlugin import ImageFileDirectory_v2

        tags = ImageFileDirectory_v2()
        tags[33550] = tuple(float(random.choice(NUMBERS) if random.random() < 0.3 else 1.0) for _ in range(3))
        tags[42113] = str(strange(random, "-9999"))[:50].encode("ascii", "replace").decode()
        tags.tagtype.update({33550: 12, 42113: 2})
        tags = {"tiffinfo": tags}
    try:
        image.save(stream, kind, **tags)
    except (ValueError, TypeError, struct.error):
        image.save(stream, kind)
    return stream.getvalue()


def _ros(random: Random) -> bytes:
    header = {"image": "plan.pgm", "resolution": 0.05, "origin": [0.0, 0.0, 0.0], "negate": 0}
    header |= {"occupied_thresh": 0.65, "free_thresh": 0.196}
    if random.random() < 0.4:
        header["covey"] = {"format": 1, "border": "wall", "doors": [], "halls": [[0, 0, 1, 1]]}
    key = random.choice(list(header))
    if random.random() < 0.5:
        header[key] = strange(random, header[key])
    return json.dumps(header).encode("utf-8", "replace").replace(b"NaN", b".nan").replace(b"Infinity", b".inf")


def _npy(random: Random, shape: object = None) -> bytes:
    stream = io.BytesIO()
    kinds = ("f8", "f4", "i2", "u1", "b1", "c16", "U3", "M8[s]", ">f8")
    np.save(stream, _cells(random).astype(np.uint8).astype(random.choice(kinds)))
    claims = random.choice((b"(12, 9)", b"(12, 9)", b"(99999, 99999)", b"(-12, 9)", b"(12, 9, 1)", b"(108,)", b"()"))
    return stream.getvalue().replace(b"(12, 9)", claims)


def _npz(random: Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("altitude.npy", _npy(random))
        for name in ("dx", "dy", "spacing_m", "origin", "range_m"):
            if random.random() < 0.3:
                buffer = io.BytesIO()
                number = random.choice(NUMBERS)
                np.save(buffer, np.array([float(number)] * random.choice((1, 2))))
                archive.writestr(f"{name}.npy", buffer.getvalue())
        if random.random() < 0.3:
            archive.writestr(random.choice(("notes.txt", "altitude", "../x.npy", "b.npy")), b"not an array")
        if random.random() < 0.03:
            archive.writestr("bomb.npy", bytes(410_000_000), compresslevel=1)
    return stream.getvalue()


def _asc(random: Random) -> bytes:
    header = {"ncols": 9, "nrows": 12, "xllcorner": 0, "yllcorner": 0, "cellsize": 1, "nodata_value": -9999}
    key = random.choice(list(header))
    if random.random() < 0.5:
        header[key] = strange(random, header[key])
    lines = [f"{name} {value}" for name, value in header.items()]
    rows = [" ".join(map(str, row)) for row in _cells(random).tolist()]
    return "\n".join(lines + rows).encode("utf-8", "replace")


_SOURCES: dict[str, Callable[[Random], bytes]] = {
    "walls pgm": _pgm,
    "walls png": lambda random: _image("PNG", random),
    "walls yaml": _ros,
    "ground pgm": _pgm,
    "ground png": lambda random: _image("PNG", random),
    "ground npy": _npy,
    "ground npz": _npz,
    "ground asc": _asc,
    "ground tif": lambda random: _image("TIFF", random),
}


if __name__ == "__main__":
    sys.exit(main("attacks.maps", 1000))
