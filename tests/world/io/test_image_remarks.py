"""Transparent and gray images become what map_server makes of them, and what is surprising about it is told."""

import numpy as np
import pytest
from PIL import Image

from covey.cli import main
from covey.world.world import FREE, UNKNOWN, WALL, World

YAML = "image: a.png\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: {negate}\noccupied_thresh: {occupied}\nfree_thresh: {free}\n"


def saved(folder, pixels, mode, occupied=0.65, free=0.196, negate=0):
    Image.fromarray(np.asarray(pixels, np.uint8), mode).save(folder / "a.png")
    path = folder / "a.yaml"
    path.write_text(YAML.format(occupied=occupied, free=free, negate=negate) + "covey: {format: 1, border: open}\n")
    return path


def as_map_server(pixels, occupied, free, negate):
    """Return cells by the rule of map_server's trinary mode: the mean of all channels, alpha among them."""
    colours = pixels[..., :-1] if pixels.shape[2] == 4 else np.repeat(pixels[..., :1], 3, 2)
    mean = np.concatenate((colours, pixels[..., -1:]), 2).mean(axis=2)
    occupancy = mean / 255.0 if negate else (255.0 - mean) / 255.0
    cells = np.where(occupancy > occupied, WALL, np.where(occupancy < free, FREE, UNKNOWN))
    return cells if negate else np.where(np.rint(mean) == 205, UNKNOWN, cells)  # as map_saver writes what is unknown


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
@pytest.mark.parametrize("negate", [0, 1])
@pytest.mark.parametrize(("occupied", "free"), [(0.65, 0.196), (0.9, 0.196), (0.5, 0.3)])
def test_alpha_is_averaged_as_map_server_does(mode, negate, occupied, free, tmp_path):
    pixels = np.random.default_rng(1).integers(0, 256, (20, 30, len(mode)), np.uint8)
    pixels[::3, :, -1], pixels[1::3, :, -1] = 255, 0
    pixels[:, ::4, :-1], pixels[:, 1::4, :-1] = 255, 0
    world = World.from_file(saved(tmp_path, pixels, mode, occupied, free, negate))
    np.testing.assert_array_equal(world.grid.cells[::-1], as_map_server(pixels.astype(float), occupied, free, negate))


def test_a_bare_image_lies_on_white_paper(tmp_path):
    """Black walls on nothing, however the nothing is coloured."""
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[0] = 0, 0, 0, 255
    pixels[2] = 255, 255, 255, 0
    Image.fromarray(pixels, "RGBA").save(tmp_path / "bare.png")
    cells = World.from_file(tmp_path / "bare.png", resolution_m=0.1, border="open").grid.cells
    assert (cells[3] == WALL).all()
    assert (cells[:3] == FREE).all()


def drawn(background, wall, mode="L"):
    """Return a room with walls of one value on a background of another."""
    pixels = np.empty((60, 80) if mode == "L" else (60, 80, 4), np.uint8)
    pixels[:] = background
    pixels[[0, -1]] = pixels[:, [0, -1]] = wall
    return pixels


@pytest.mark.parametrize(
    ("pixels", "mode", "said"),
    [
        (drawn(191, 0), "L", "94 % of the pixels, of gray 191, are unknown: neither above occupied_thresh 0.65 nor below "
         "free_thresh 0.196; to make them free, write free_thresh: 0.26"),
        (drawn(254, 100), "L", "6 % of the pixels, of gray 100, are unknown: neither above occupied_thresh 0.65 nor below "
         "free_thresh 0.196; to make them walls, write occupied_thresh: 0.60"),
        (drawn((255, 255, 255, 0), (0, 0, 0, 255), "RGBA"), "RGBA", "94 % of the pixels are transparent, and map_server"),
        (drawn((0, 0, 0, 0), (0, 0, 0, 255), "RGBA"), "RGBA", "transparent black a wall"),
        (drawn(205, 0), "L", ""),  # as map_saver writes what nobody has seen
        (drawn(254, 0), "L", ""),
    ],
)  # fmt: skip
def test_why_cells_are_unknown_is_told_and_the_cure_cures(pixels, mode, said, tmp_path, capsys):
    path = saved(tmp_path, pixels, mode)
    world = World.from_file(path)
    assert (said in world.remark) if said else (world.remark == "")
    (tmp_path / "s.yaml").write_text(
        "world: {file: a.yaml}\nrobots: [{name: r, robot: turtlebot3_burger, controller: still}]\n"
    )
    if not (world.grid.cells == FREE).any():
        assert main(["check", str(tmp_path / "s.yaml")]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert f"{(world.grid.cells == UNKNOWN).sum():,} unknown" in told
        assert ("smaller body" in told) == (said == "")
    assert main(["map", str(path), "--out", str(tmp_path / "m.png")]) == 0
    assert f"{(world.grid.cells == WALL).sum():,} wall" in capsys.readouterr().out
    if "; to make" in said:
        key, _, value = said.rpartition("write ")[2].partition(": ")
        path.write_text(path.read_text().replace(f"{key}: ", f"{key}: {value} #"))
        assert not (World.from_file(path).grid.cells == UNKNOWN).any()


def test_a_photo_is_told_of_wall_below(tmp_path, capsys):
    pixels = np.random.default_rng(1).normal(140.0, 40.0, (60, 80)).clip(1, 255).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    command = ["map", str(tmp_path / "photo.png"), "-s", "resolution_m=0.1", "--out", str(tmp_path / "m.png")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "only black pixels are walls, 0.0 % of them" in told
    assert (
        f"with wall_below: 128 the darker half of the gray values are walls, {100 * (pixels < 128).mean():.1f} %"
        in told
    )
    assert main([*command, "-s", "wall_below=128"]) == 0
    assert "wall_below" not in capsys.readouterr().out
