"""Height maps: images, arrays and grids of other makers, and our own read back."""

import math
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from PIL import Image

from covey.errors import InvalidValueError, MapFileError
from covey.world.editing.ground_edits import crater
from covey.world.generators.grounds import hills
from covey.world.ground import Ground
from covey.world.io.ground_files import read_ground

LEVELS = np.array([[0, 10, 20], [255, 3, 7]])
SOUTH_FIRST = LEVELS[::-1] * 0.1


def test_an_8_bit_png_is_the_world_of_the_paper(tmp_path):
    """One metre between pixels, 0.1 m for each level, the top row in the north."""
    Image.fromarray(LEVELS.astype(np.uint8)).save(tmp_path / "hill.png")
    ground = read_ground(tmp_path / "hill.png")
    np.testing.assert_allclose(ground.altitude, SOUTH_FIRST)
    assert (ground.name, ground.spacing_m, ground.origin) == ("hill", 1.0, (-1.0, -0.5))
    finer = read_ground(tmp_path / "hill.png", spacing_m=0.05, m_per_step=0.01, zero_m=-1, range_m=(-5, 9))
    np.testing.assert_allclose(finer.altitude, SOUTH_FIRST / 10 - 1)
    assert (finer.spacing_m, finer.range_m) == (0.05, (-5, 9))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.pgm", b"P2\n# text\n3 2\n255\n0 10 20\n255 3 7\n"),
        ("b.pgm", b"P5 3 2 255\n" + LEVELS.astype(np.uint8).tobytes()),
        ("c.pgm", b"P5 3 2 65535\n" + LEVELS.astype(">u2").tobytes()),
    ],
)
def test_pgm_of_8_and_16_bits(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    np.testing.assert_allclose(read_ground(tmp_path / name).altitude, SOUTH_FIRST)


def test_png_of_16_bits_and_of_colours(tmp_path):
    Image.fromarray((LEVELS * 200).astype(np.uint16)).save(tmp_path / "deep.png")
    np.testing.assert_allclose(read_ground(tmp_path / "deep.png").altitude, SOUTH_FIRST * 200)
    Image.fromarray(np.stack([LEVELS.astype(np.uint8)] * 3, axis=-1)).save(tmp_path / "colour.png")
    np.testing.assert_allclose(read_ground(tmp_path / "colour.png").altitude, SOUTH_FIRST)


def test_arrays(tmp_path):
    np.save(tmp_path / "a.npy", LEVELS)
    np.testing.assert_array_equal(read_ground(tmp_path / "a.npy").altitude, LEVELS[::-1])
    np.savez(tmp_path / "b.npz", h=LEVELS, other=np.arange(3))
    np.testing.assert_array_equal(read_ground(tmp_path / "b.npz").altitude, LEVELS[::-1])
    np.savez(tmp_path / "c.npz", h=LEVELS, g=LEVELS * 2)
    np.testing.assert_array_equal(read_ground(tmp_path / "c.npz", key="g").altitude, LEVELS[::-1] * 2)
    with pytest.raises(MapFileError, match=r"holds h \(2, 3\), g \(2, 3\); key must name"):
        read_ground(tmp_path / "c.npz")


def test_esri_ascii_grids(tmp_path):
    path = tmp_path / "dem.asc"
    path.write_text("NCOLS 3\nnrows 2\nxllcorner 500000\nyllcorner 4e6\ncellsize 30\nNODATA_value -9999\n"
                    "1 2 3\n4 5 -9999\n")  # fmt: skip
    with pytest.raises(MapFileError, match="1 of 6 altitudes are holes"):
        read_ground(path)
    ground = read_ground(path, fill_m=0)
    np.testing.assert_array_equal(ground.altitude, [[4, 5, 0], [1, 2, 3]])
    assert (ground.spacing_m, ground.origin) == (30.0, (-30.0, -15.0))


def tiff(path, values, scale, geographic=False):
    """A GeoTIFF as the standard has it: ModelPixelScale, ModelTiepoint and the key directory."""
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    tags = ImageFileDirectory_v2()
    for tag, kind, value in ((33550, 12, (*scale, 0.0)), (33922, 12, (0.0, 0.0, 0.0, 10.0, 60.0, 0.0)),
                             (34735, 3, (1, 1, 0, 1, 1024, 0, 1, 2 if geographic else 1)),
                             (42113, 2, "-9999")):  # fmt: skip
        tags.tagtype[tag] = kind
        tags[tag] = value
    Image.fromarray(values).save(path, tiffinfo=tags)


def test_geotiff(tmp_path):
    values = np.array([[1.5, 2.5, 3.5], [4.5, 5.5, -9999.0]], np.float32)
    tiff(tmp_path / "dem.tif", values, (10.0, 10.0))
    ground = read_ground(tmp_path / "dem.tif", fill_m=6.0)
    np.testing.assert_array_equal(ground.altitude, [[4.5, 5.5, 6.0], [1.5, 2.5, 3.5]])
    assert ground.spacing_m == 10.0


def test_degrees_become_metres_and_the_finer_spacing_holds_for_both(tmp_path):
    """At 60 degrees north a degree of longitude is half as long as one of latitude: 55.6 and 111.2 km."""
    rows, columns = 101, 51
    values = np.tile(np.arange(rows, dtype=np.float32)[:, None], columns)
    tiff(tmp_path / "dem.tif", values, (0.0001, 0.0001), geographic=True)
    ground = read_ground(tmp_path / "dem.tif")
    assert ground.spacing_m == pytest.approx(0.0001 * 111195 / 2, rel=0.001)
    assert ground.size_m == pytest.approx((50 * 5.56, 100 * 11.12), rel=0.005)
    assert ground.altitude[0, 0] == 100
    np.testing.assert_allclose(np.diff(ground.altitude[:, 0]), -0.5, atol=1e-3)  # two rows for one of the file


def test_a_real_elevation_model_runs_as_it_is():
    """matplotlib's part of Tennessee: 403 x 344 altitudes of 236 to 1076 m, 0.00083333 degrees apart (3 seconds)."""
    from matplotlib import cbook

    path = Path(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False))
    with np.load(path) as file:
        elevation = file["elevation"]
    ground = read_ground(path)
    along = 0.00083333 * 111195 * math.cos(math.radians((36.73291667 + 36.44625) / 2))
    assert ground.spacing_m == pytest.approx(along, rel=1e-4)
    assert ground.size_m == pytest.approx((402 * along, 343 * 0.00083333 * 111195), rel=0.005)
    assert ground.altitude[0, 0] == elevation[-1, 0]  # the south-west corner
    assert ground.altitude[-1, 0] == pytest.approx(elevation[0, 0], abs=5)  # nearly the north-west one
    coarse = read_ground(path, resample_m=200.0)
    assert coarse.spacing_m == 200.0
    assert coarse.altitude.max() <= 1076
    toy = read_ground(path, spacing_m=1.0, m_per_step=0.02)
    assert toy.shape == (344, 403)
    np.testing.assert_allclose(toy.altitude, elevation[::-1] * 0.02)


@pytest.mark.parametrize(
    ("name", "off", "kept"),
    [
        ("a.png", 0.0005, False),
        ("a.pgm", 0.0005, False),
        ("a.npy", 0.0, False),
        ("a.npz", 0.0, True),
        ("a.asc", 5e-7, False),
        ("a.tif", 1e-6, False),
    ],
)
def test_saved_and_read_back(tmp_path, name, off, kept):
    ground = Ground.of(hills(size_m=(7, 5)).altitude - 2.5, 1.0, origin=(3.0, 4.0), range_m=(-20, 30))
    ground.save(tmp_path / "runs" / name)
    again = Ground.from_file(tmp_path / "runs" / name)
    np.testing.assert_allclose(again.altitude, ground.altitude, rtol=0, atol=off * (1 + 1e-9))
    assert again.spacing_m == 1.0
    assert ((again.origin, again.range_m) == (ground.origin, ground.range_m)) == kept


@pytest.mark.parametrize("suffix", [".png", ".pgm"])
def test_an_image_keeps_its_steps_and_its_spacing(tmp_path, suffix):
    """What has steps of 0.1 m from 0 to 25.5 m fits 8 bits, level by level, also with a spacing that images do not say."""
    levels = np.random.default_rng(0).integers(0, 256, (20, 30))
    levels[0, :2] = 0, 255
    ground = Ground.of(levels * 0.1, 0.25)
    ground.save(tmp_path / f"a{suffix}", m_per_step=0.1, bits=8)
    with Image.open(tmp_path / f"a{suffix}") as image:
        np.testing.assert_array_equal(np.asarray(image), levels[::-1])
    again = Ground.from_file(tmp_path / f"a{suffix}")
    np.testing.assert_allclose(again.altitude, ground.altitude, atol=1e-12)
    assert again.spacing_m == 0.25


def test_an_edited_ground_is_saved_and_the_source_file_stays_untouched(tmp_path):
    Image.fromarray(np.full((40, 40), 100, np.uint8)).save(tmp_path / "source.png")
    before = (tmp_path / "source.png").read_bytes()
    ground = Ground.from_file(tmp_path / "source.png")
    ground = ground.edited(crater(ground, (0.5, 0.5), 3.0, 8.0))
    ground.save(tmp_path / "edited.png")
    assert (tmp_path / "source.png").read_bytes() == before
    again = Ground.from_file(tmp_path / "edited.png")
    assert again.altitude_at((0.5, 0.5)) == pytest.approx(7.0, abs=0.001)
    assert again.altitude_at((-15, -15)) == pytest.approx(10.0, abs=0.001)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"m_per_step": 0.001, "bits": 8},
            "m_per_step is 0.001, but altitudes from .* need 8000 steps, and 8 bits have",
        ),
        ({"m_per_step": 0}, "m_per_step is 0"),
        ({"bits": 12}, "bits is 12"),
    ],
)
def test_images_that_cannot_be_written(tmp_path, options, message):
    with pytest.raises(InvalidValueError, match=message):
        hills(size_m=(9, 9)).save(tmp_path / "a.png", **options)
    assert not list(tmp_path.iterdir())


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(InvalidValueError, match=r"\.asc, \.npy, .* not as 'a.jpg'"):
        hills(size_m=(9, 9)).save(tmp_path / "a.jpg")
    with pytest.raises(MapFileError, match=r"must end in \.asc, .* and there is no such file"):
        read_ground(tmp_path / "a.jpg")
    with pytest.raises(InvalidValueError, match="are for images"):
        hills(size_m=(9, 9)).save(tmp_path / "a.asc", bits=8)


@pytest.mark.parametrize(
    ("name", "make", "options", "message"),
    [
        ("a.png", lambda p: Image.new("L", (1, 1)).save(p), {}, "1 x 1 vertices; it needs at least 2 x 2"),
        ("a.png", lambda p: Image.new("L", (9, 1)).save(p), {}, "9 x 1 vertices"),
        ("a.png", lambda p: Image.new("LA", (9, 9)).save(p), {}, "transparent"),
        ("a.png", lambda p: Image.new("L", (9, 9)).save(p), {"spacing_m": 0}, "spacing_m is 0; it must be a positive"),
        ("a.png", lambda p: Image.new("L", (9, 9)).save(p), {"m_per_step": 0}, "m_per_step is 0"),
        ("a.png", lambda p: Image.new("L", (9, 9)).save(p), {"resample_m": 1e-9}, "at most 2.5e\\+07"),
        ("a.png", lambda p: Image.new("L", (9, 9), 9).save(p), {"range_m": (0, 0.5)}, "range_m is"),
        ("a.png", lambda p: Image.new("L", (9, 9)).save(p), {"key": "h"}, "only a .npz file"),
        ("a.png", lambda p: p.write_bytes(b"GIF89a"), {}, "begins with b'GIF89a'"),
        ("a.png", lambda p: None, {}, "there is no such file"),
        ("a.npy", lambda p: np.save(p, np.full((3, 3), np.nan)), {}, "9 of 9 altitudes are holes"),
        ("a.npy", lambda p: np.save(p, np.array([[1, np.inf], [0, 0]])), {}, "not finite numbers, the first, inf"),
        ("a.npy", lambda p: np.save(p, np.zeros(5)), {}, "shape"),
        ("a.npy", lambda p: np.save(p, np.array([["a", "b"]])), {}, "must be numbers"),
        ("a.npy", lambda p: np.save(p, np.array([{}, []], object), allow_pickle=True), {}, "a damaged NumPy file"),
        ("a.npz", lambda p: np.savez(p, a=np.zeros((3, 3))), {"key": "b"}, r"holds a \(3, 3\); key must name"),
        ("a.asc", lambda p: p.write_text("ncols 3\n1 2 3"), {}, "begins with ncols, nrows"),
        ("a.asc", lambda p: p.write_text("ncols 2\nnrows 2\ncellsize 1\n1 2 3"), {}, "has 3 numbers behind its header"),
        ("a.asc", lambda p: p.write_text("ncols 2\nnrows 2\ncellsize 0\n1 2 3 4"), {}, "spacing_m is 0.0"),
        ("a.asc", lambda p: p.write_text("ncols 2\nnrows 2\ncellsize 1\n1 2 3 x"), {}, "altitude is no number"),
        ("a.asc", lambda p: p.write_text("ncols 1e5\nnrows 1e5\ncellsize 1\n1"), {}, "at most 2.5e\\+07"),
        ("a.tif", lambda p: p.write_bytes(b"II*\0"), {}, "a damaged TIFF"),
    ],
)  # fmt: skip
def test_bad_files_say_what_is_wrong(tmp_path, name, make, options, message):
    path = tmp_path / name
    make(path)
    with pytest.raises(MapFileError, match=message) as error:
        read_ground(path, **options)
    assert str(error.value).startswith(str(path))


def valid_files():
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".png", ".pgm", ".npy", ".npz", ".asc", ".tif"):
            hills(size_m=(5, 3)).save(Path(folder) / f"a{suffix}")
        return {p.name: p.read_bytes() for p in Path(folder).iterdir()}


FILES = valid_files()


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(sorted(FILES)))
def test_whatever_bytes_stand_in_a_file(data, name):
    out = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, max(0, len(out) - 1)))
        match data.draw(st.sampled_from(["set", "cut", "insert", "digits"])):
            case "set" if out:
                out[i] = data.draw(st.integers(0, 255))
            case "cut":
                del out[i:]
            case "digits":
                out[i:i] = b"9" * data.draw(st.integers(1, 30))
            case _:
                out[i:i] = data.draw(st.binary(max_size=12))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(out)
        try:
            assert np.isfinite(read_ground(Path(folder) / name).altitude).all()
        except MapFileError as error:
            assert folder in str(error)
            assert len(str(error)) < 2000
