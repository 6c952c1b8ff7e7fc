"""What add-ons draw, on the page of a run that lasts and of a recorded one."""

import numpy as np
import pytest
from tests.viewer.browser.test_layers import Scene, rgb
from tests.viewer.browser.test_offline import exported

import covey
from covey.lab.addon import Addons
from covey.lab.play import simulation_of
from covey.lab.settings import settings_of
from covey.results.sensor_marks import COLORS
from covey.viewer.drawn import of_sensors

NAN = float("nan")
LOW, HIGH = "#440154", "#fde725"  # of viridis
SETTINGS = {"starts": [(1, 9, 0)], "stop_s": 0.5, "workspace": [(0, 0), (10, 0), (10, 6), (6, 10), (0, 10)]}


class Shapes:
    """One of each kind; the points go right by 1 m in each step."""

    def draw(self, canvas):
        x = 2 + round(10 * canvas.team.time)
        canvas.polygons([[(1, 1), (3, 1), (3, 3), (1, 3)]], "red", fill=1)
        canvas.points([(x, 5), (NAN, 5)], "#0000ff", 12)
        canvas.lines([(5, 1), (7, 1), (NAN, NAN), (8, 1), (9, 1)], "#008000", 4)
        canvas.arrows([(5, 3), (NAN, 3)], [(2, 0), (1, 1)], "#800080", 4)
        canvas.text((5, 9), "<b>bold</b><img src=x onerror=alert(1)>", size=9)


class Halves:
    """Low on the left, high on the right; half of the middle row is unknown."""

    def draw(self, canvas):
        canvas.field([[0, 1], [NAN, 1], [0, 1]], "viridis", fill=1.0)


def stand(team):
    return 0.0, 0.0


def check(scene, x):
    assert scene.shows(2, 2, "#ff0000")
    assert scene.shows(x, 5, "#0000ff")
    assert scene.shows(6, 1, "#008000")
    assert not np.allclose(scene.color(7.5, 1), rgb("#008000"), atol=14)  # a gap
    assert scene.shows(6, 3, "#800080")
    assert scene.shows(1, 0.5, LOW)
    assert scene.shows(9, 0.5, HIGH)
    assert scene.shows(8, 5, HIGH)
    assert scene.shows(1.5, 5, "#ffffff")  # there is no value: the floor
    assert not np.allclose(scene.color(9.5, 9.5), rgb("#ffffff"), atol=14)  # outside of the workspace
    assert scene.page.evaluate("document.querySelectorAll('b, img').length") == 0


def test_a_run_that_lasts(page_of):
    addons = Addons([Shapes, Halves])
    sim, _ = simulation_of(stand, settings_of({**SETTINGS, "speed": "max"}), addons=addons)
    shown = page_of(sim, drawn=addons.drawn)
    scene = Scene(shown)
    check(scene, 2)
    shown.steps(2)
    check(scene, 4)
    box = shown.page.get_by_role("checkbox", name="shapes")
    box.uncheck()
    assert scene.shows(2, 2, LOW)  # the field alone
    box.check()
    shown.page.get_by_role("checkbox", name="halves").uncheck()
    assert scene.shows(2, 2, "#ff0000")
    scene.until(lambda: np.abs(scene.color(1, 0.5) - scene.color(9, 0.5)).max() <= 14, "floor where the field was")


class Floor:
    """All is green, up to the edge of the workspace."""

    def draw(self, canvas):
        canvas.polygons([[(0, 0), (10, 0), (10, 10), (0, 10)]], "#00ff00", fill=1)


@covey.sensor("test_page_lamp", draws="place")
def lamp(robot, random):
    return 4.0, -4.0


def see_lamp(shown):
    """The lamp is 4 m ahead and 4 m to the right of a robot at (1, 9) that looks east; robots lie above all marks."""
    scene = Scene(shown)
    assert scene.shows(5, 5, COLORS[0])
    assert scene.shows(3, 6, "#00ff00")
    near = [scene.color(1 + dx, 9) for dx in (-0.08, 0.0, 0.08)]
    assert not any(np.allclose(one, rgb("#00ff00"), atol=60) for one in near)
    shown.page.get_by_role("checkbox", name="test_page_lamp").uncheck()
    assert scene.shows(5, 5, "#00ff00")


def test_sensors_are_drawn_below_the_robots(page_of, browser, tmp_path):
    settings = {**SETTINGS, "sensors": [lamp()], "workspace": [(0, 0), (10, 0), (10, 10), (0, 10)], "speed": "max"}
    addons = Addons([Floor])
    sim, _ = simulation_of(stand, settings_of(settings), addons=addons)
    shown = page_of(sim, drawn=lambda sim: addons.drawn | of_sensors(sim))
    shown.steps(2)
    see_lamp(shown)
    run = covey.play(stand, addons=[Floor], **settings).run
    with exported(browser, run, tmp_path, least=0) as page:
        page.evaluate("covey.player.seek(3)")
        see_lamp(type("Shown", (), {"page": page}))


@pytest.fixture(scope="module")
def played():
    return covey.play(stand, addons=[Shapes, Halves], **SETTINGS, speed="max").run


def test_a_recorded_run(browser, played, tmp_path):
    with exported(browser, played, tmp_path, least=0) as page:
        shown = type("Shown", (), {"page": page})
        for step, x in ((5, 7), (3, 5)):
            page.evaluate(f"covey.player.seek({step})")
            check(Scene(shown), x)
        page.get_by_role("checkbox", name="shapes").uncheck()
        assert Scene(shown).shows(2, 2, LOW)
