"""Whatever bytes stand in a map file, the reader returns a world or says `MapFileError`."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from covey.errors import MapFileError
from covey.world.doors import Door
from covey.world.io.map_files import read_map
from covey.world.world import World

FEW = settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def valid_files() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        world = World.empty(0.4, 0.3, 0.1, border="open")
        world = world.replace(materials=np.zeros(world.grid.shape, np.uint8), material_names=("brick",))
        world = world.replace(doors=(Door("d0", 0.0, 0.0, 0.1, 0.1),), halls=((0.0, 0.0, 0.1, 0.2),))
        world.save(Path(folder) / "map.yaml")
        from PIL import Image

        Image.fromarray(np.arange(60, dtype=np.uint8).reshape(6, 10)).save(Path(folder) / "gray.png")
        Image.fromarray(np.zeros((6, 10, 4), np.uint8)).save(Path(folder) / "colour.png")
        (Path(folder) / "text.pgm").write_text("P2\n# text\n3 2\n255\n0 1 2\n3 4 255\n")
        return {p.name: p.read_bytes() for p in Path(folder).iterdir()}


FILES = valid_files()


def check(files: dict[str, bytes], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for other, data in files.items():
            (Path(folder) / other).write_bytes(data)
        path = Path(folder) / name
        try:
            world, message = read_map(path, resolution_m=None if path.suffix == ".yaml" else 0.1), ""
        except MapFileError as error:
            world, message = None, str(error)
        assert world.grid.cells.size > 0 if world else folder in message
        assert len(message) < 2000


@st.composite
def mutated(draw, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        i = draw(st.integers(0, max(0, len(out) - 1)))
        what = draw(st.sampled_from(["set", "cut", "insert", "delete", "digits"]))
        if what == "set" and out:
            out[i] = draw(st.integers(0, 255))
        elif what == "cut":
            del out[i:]
        elif what == "delete":
            del out[i : i + draw(st.integers(1, 8))]
        elif what == "digits":
            out[i:i] = b"9" * draw(st.integers(1, 30))
        else:
            out[i:i] = draw(st.binary(max_size=12))
    return bytes(out)


@FEW
@given(st.binary(max_size=200), st.sampled_from(["", "P2 ", "P5 ", "P5 3 2 255\n", "\x89PNG\r\n\x1a\n"]))
def test_random_images(data, start):
    check({"plan.pgm": start.encode("latin-1") + data}, "plan.pgm")


@FEW
@given(st.data(), st.sampled_from(["text.pgm", "map.pgm", "gray.png", "colour.png"]))
def test_mutated_images(data, name):
    check({name: data.draw(mutated(FILES[name]))}, name)


@FEW
@given(st.data(), st.sampled_from(["map.yaml", "map.yaml", "map.pgm", "map.cells.pgm", "map.materials.pgm"]))
def test_mutated_maps(data, name):
    check({**FILES, name: data.draw(mutated(FILES[name]))}, "map.yaml")


@FEW
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)))
def test_random_yaml(data):
    check({"map.yaml": data}, "map.yaml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda v: st.lists(v, max_size=4)
)


@pytest.mark.slow
@FEW
@given(
    st.dictionaries(
        st.sampled_from(["image", "resolution", "origin", "negate", "mode", "occupied_thresh", "free_thresh", "covey"]),
        VALUES,
    )
)
def test_map_headers_with_other_values(changes):
    header = {**yaml.safe_load(FILES["map.yaml"]), **changes}
    check({**FILES, "map.yaml": yaml.safe_dump(header).encode()}, "map.yaml")


@pytest.mark.slow
def test_deeply_nested_yaml():
    check({"map.yaml": b"[" * 20_000}, "map.yaml")
