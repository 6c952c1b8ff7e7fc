"""A run at the size of a stamp."""

import io

import numpy as np
from PIL import Image

from covey.results.figures.style import FREE_COLOR, WALL_COLOR, rgb
from covey.results.figures.thumbnail import MISSED_COLOR, thumbnail


def pixels_of(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))[::-1]


def test_walls_free_ground_and_ways(record):
    run = record(steps=100)
    pixels = pixels_of(thumbnail(run, side_px=80))
    assert pixels.shape == (80, 80, 3)  # 40 x 40 cells
    assert (pixels[0] == rgb(WALL_COLOR)).all()
    assert (pixels[40, 40] == rgb(FREE_COLOR)).all()
    colours = {tuple(c) for c in pixels.reshape(-1, 3)}
    assert len(colours - {tuple(rgb(c)) for c in (WALL_COLOR, FREE_COLOR, MISSED_COLOR)}) == 2  # one for each robot


def test_thin_walls_are_not_lost_when_cells_outnumber_pixels(record):
    pixels = pixels_of(thumbnail(record(steps=10), side_px=15))
    assert (pixels[0] == rgb(WALL_COLOR)).all()
    assert (pixels[:, -1] == rgb(WALL_COLOR)).all()


def test_what_nobody_explored_is_marked(record, square_maps):
    run = record(steps=10)
    run.maps.first_explored[20:, :] = -1
    pixels = pixels_of(thumbnail(run, side_px=40))
    assert (pixels[30, 5] == rgb(MISSED_COLOR)).all()


def test_without_maps_there_is_no_picture(record):
    assert thumbnail(record(maps=False)) is None
