"""Maps of absurd sizes and contents: measured before they are unpacked, refused in words."""

import io
import os
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from PIL import Image

from covey.errors import MapFileError
from covey.world.ground import Ground
from covey.world.world import World


def refused(path, match, **options):
    tracemalloc.start()
    try:
        with pytest.raises(MapFileError, match=match):
            Ground.from_file(path, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_an_archive_is_measured_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("z.npy", "w") as member:
        for _ in range(64):
            member.write(bytes(10_000_000))
    assert path.stat().st_size < 1_000_000
    assert refused(path, "holds 640000000 bytes when unpacked") < 20_000_000


@pytest.mark.parametrize("name", ["claims.npy", "claims.npz"])
def test_an_array_that_claims_more_than_there_is_takes_no_memory(tmp_path, name):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (90_000, 90_000)})
    path = tmp_path / name
    if name.endswith("npy"):
        path.write_bytes(stream.getvalue() + bytes(800))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", stream.getvalue() + bytes(800))
    assert refused(path, "takes 64800000000 bytes, but there are only 800") < 20_000_000


def test_an_archive_whose_members_are_no_arrays_is_refused(tmp_path):
    path = tmp_path / "notes.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "hello")
        archive.writestr("altitude", "hello")
    refused(path, "holds nothing; key must name the array")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("altitude.npy", "hello")
    refused(path, "a damaged NumPy file")


def test_a_colour_image_is_no_ground_but_a_gray_one_saved_as_colours_is(tmp_path):
    gray = np.arange(200, dtype=np.uint8).reshape(10, 20)
    colours = np.stack([gray, gray, gray[::-1]], axis=-1)
    Image.fromarray(colours).save(tmp_path / "photo.png")
    refused(tmp_path / "photo.png", "has colours, which are not altitudes")
    Image.fromarray(np.stack([gray] * 3, axis=-1)).save(tmp_path / "gray.png")
    ground = Ground.from_file(tmp_path / "gray.png", m_per_step=1.0)
    np.testing.assert_allclose(ground.altitude[::-1], gray)


@pytest.mark.parametrize("metres", [2e5, -1e6, 1e300])
def test_altitudes_that_nothing_on_earth_has_are_refused(tmp_path, metres):
    np.save(tmp_path / "a.npy", np.array([[0.0, 0.0], [0.0, metres]]))
    refused(tmp_path / "a.npy", "altitudes are from -100000 to 100000 m")
    refused(tmp_path / "a.npy", "not finite|altitudes are from", m_per_step=1e200)


def test_a_geotiff_with_a_scale_that_overflows_is_refused(tmp_path):
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    tags = ImageFileDirectory_v2()
    tags[33550], tags.tagtype[33550] = (1e-300, 1e300, 0.0), 12
    Image.fromarray(np.zeros((4, 4), np.float32)).save(tmp_path / "a.tif", tiffinfo=tags)
    refused(tmp_path / "a.tif", "spacing_m is .* from 0.001 to 100 000")


@pytest.mark.slow
def test_a_large_image_as_text_is_read_with_memory_for_its_pixels_only(tmp_path):
    side, path = 2000, tmp_path / "plan.pgm"
    values = np.arange(side * side, dtype=np.uint32) % 251
    text = b" ".join(np.char.mod(b"%d", values[: side * 10]).tolist())
    path.write_bytes(b"P2\n# a plan\n%d %d\n255\n" % (side, side) + (text + b"\n") * (side // 10))
    tracemalloc.start()
    begin = time.process_time()
    world = World.from_file(path, resolution_m=0.05, wall_below=100.0)
    seconds, peak = time.process_time() - begin, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = (np.tile(values[: side * 10], side // 10).reshape(side, side) < 100)[::-1]
    assert np.array_equal(world.solid[1:-1, 1:-1], expected)
    assert peak < 40 * side * side  # was 73 bytes for each pixel, and a word of text for each
    assert seconds < 8


def test_a_long_ascii_grid_that_is_too_short_is_refused_without_memory_for_its_words(tmp_path):
    path = tmp_path / "a.asc"
    path.write_bytes(b"ncols 4000\nnrows 4000\ncellsize 1\n" + b"1.5 " * 2_000_000)
    assert refused(path, "has 2000000 numbers behind its header, but 4000 columns x 4000 rows need 16000000") < 90e6


def test_a_pipe_or_a_device_is_no_map(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    refused(tmp_path / "pipe.png", "there is no such file")
    (tmp_path / "zero.asc").symlink_to("/dev/zero")
    refused(tmp_path / "zero.asc", "there is no such file")
