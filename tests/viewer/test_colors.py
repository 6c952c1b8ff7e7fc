"""A robot has one colour, on the page and in figures."""

import re
from pathlib import Path

import pytest

from covey.results.figures.style import ROBOTS, robot_color

THEME = Path(__file__).parents[2] / "web" / "src" / "theme.ts"
PAGE = Path(__file__).parents[2] / "src" / "covey" / "viewer" / "page" / "index.html"


@pytest.mark.skipif(not THEME.is_file(), reason="the sources of the page are not here")
def test_the_page_has_the_colors_of_figures():
    text = THEME.read_text(encoding="utf-8")
    few = re.findall(r"#[0-9a-f]{6}", re.search(r"const ROBOTS = \[(.*?)\]", text)[1])
    many = "".join(re.findall(r'"([0-9a-f]+)"', re.search(r"const CIVIDIS =(.*?);", text, re.DOTALL)[1]))
    assert few == [color.lower() for color in ROBOTS]
    for count in (9, 10, 12, 50, 1000):
        for i in range(count):
            k = 6 * int(0.9 * i / (count - 1) * 256)
            assert f"#{many[k : k + 6]}" == robot_color(i, count).lower()


def test_the_built_page_has_them():
    page = PAGE.read_text(encoding="utf-8")
    assert ",".join(f'"{color.lower()}"' for color in ROBOTS) in page
