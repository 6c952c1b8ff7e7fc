"""The gallery and a study in the browser: cards, the form and its problems, the table of runs."""

import re
import threading
from collections import Counter
from contextlib import contextmanager

import pytest
from tests.viewer.browser.conftest import barriers, needs_axe, page_in, page_of_its_own, until
from tests.viewer.test_study import PLAIN, SLOW

from covey.experiments import run
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.run import Progress
from covey.experiments.workers.execute import execute
from covey.experiments.workers.folder import prepare
from covey.viewer import Server
from covey.viewer.forms import checked
from covey.viewer.gallery import Gallery
from covey.viewer.study import Study


@contextmanager
def opened(browser, url, **context):
    """Open a page; an error in it fails the test."""
    errors = []
    with page_of_its_own(browser, errors, **context) if context else page_in(browser, errors) as page:
        page.goto(url)
        yield page
    errors = [error for error in errors if "ERR_CONNECTION_REFUSED" not in error]  # the page of a run that has ended
    assert not errors, errors


def test_a_card_opens_a_form_that_tells_problems_at_their_fields(browser, tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server, opened(browser, server.url) as page:
        page.get_by_role("button", name="Maze", exact=True).click()
        form = page.get_by_role("dialog", name="Maze")
        count = form.get_by_label("Number of robots: scout")
        assert count.input_value() == "6"
        assert "minpos" in form.get_by_label("Controller: scout").inner_text()
        count.fill("2000")
        form.get_by_role("button", name="Run", exact=True).click()
        until(lambda: count.get_attribute("aria-invalid") == "true", "a problem", page=page)
        said = form.locator(f"#{count.get_attribute('id').replace('.', chr(92) + '.')}-error")
        assert "cannot start" in said.inner_text()
        assert count.evaluate("element => element === document.activeElement")
        assert not gallery.runs
        form.get_by_role("button", name="Cancel").click()
        assert page.get_by_role("dialog").count() == 0


def test_a_problem_in_a_closed_part_opens_it(browser, tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server, opened(browser, server.url) as page:
        page.get_by_role("button", name="Maze", exact=True).click()
        form = page.get_by_role("dialog", name="Maze")
        stop = form.get_by_role("group").filter(has_text="stop.timeout_s")
        stop.locator("summary").click()
        form.get_by_label("stop.timeout_s").fill("-1")
        stop.locator("summary").click()
        assert not form.get_by_label("stop.timeout_s").is_visible()
        form.get_by_role("button", name="Run", exact=True).click()
        form.get_by_text("must be greater than 0; given: -1").wait_for()
        assert form.get_by_label("stop.timeout_s").is_visible()


def test_the_fields_follow_the_controller_and_the_kinds_of_start_and_localization(browser, tmp_path, monkeypatch):
    asked = []
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        monkeypatch.setattr(
            gallery, "_launch", lambda message: asked.append(message) or {"run": "1", "url": server.url}
        )
        with opened(browser, server.url) as page:
            page.get_by_role("button", name="Maze", exact=True).click()
            form = page.get_by_role("dialog", name="Maze")
            form.get_by_label("Number of robots: scout").fill("3")
            form.locator("summary", has_text="Robots: scout").click()
            form.get_by_label("controller.min_cells").fill("5")
            form.get_by_label("Controller: scout").select_option("wander")
            form.get_by_label("controller.distance_m").fill("0.7")
            assert form.get_by_label("controller.min_cells").count() == 0
            form.get_by_label("localization", exact=True).select_option("noise")
            form.get_by_label("localization.sigma_m", exact=True).fill("0.1")
            form.get_by_label("start", exact=True).select_option("{spread: {}}")
            form.get_by_label("start.spread.gap_m").fill("0.2")
            assert form.get_by_label("Number of robots: scout").input_value() == "3"
            form.get_by_role("button", name="Run", exact=True).click()
            until(lambda: asked, "the launch", page=page)
    assert asked[0].changes == {
        f"robots.scout.{name}": text
        for name, text in {
            "count": "3",
            "controller": "wander",
            "controller.distance_m": "0.7",
            "localization": "noise",
            "localization.sigma_m": "0.1",
            "start": "{spread: {}}",
            "start.spread.gap_m": "0.2",
        }.items()
    }
    checked("maze", asked[0].changes)


@pytest.mark.parametrize(("button", "paused"), [("Run", False), ("Begin paused", True)])
def test_run_asks_for_what_was_changed_and_goes_to_the_page_of_the_run(browser, tmp_path, monkeypatch, button, paused):
    asked = []
    with Gallery(tmp_path) as gallery, Server(gallery) as other, Server(gallery) as server:

        def launch(message):
            asked.append(message)
            return {"run": "1", "url": other.url}

        monkeypatch.setattr(gallery, "_launch", launch)
        with opened(browser, server.url) as page:
            page.get_by_role("button", name="Office", exact=True).click()
            form = page.get_by_role("dialog", name="Office")
            form.get_by_label("Number of robots: scout").fill("3")
            form.get_by_label("Speed").select_option("max")
            form.get_by_role("button", name=button, exact=True).click()
            page.wait_for_url(f"{other.url}&from=gallery")
    (message,) = asked
    assert (message.name, message.speed, message.changes) == ("office", "max", {"robots.scout.count": "3"})
    assert message.paused == paused


def test_the_gallery_fits_and_shows_pictures(browser, tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server, opened(browser, server.url) as page:
        picture = page.get_by_role("listitem").filter(has_text="Maze").locator("img")
        until(lambda: picture.evaluate("image => image.naturalWidth"), "the picture", page=page)
        for width in (400, 980):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.querySelector('#app').scrollWidth") <= width


SIZES = pytest.mark.parametrize(("width", "theme"), [(980, "light"), (400, "dark")])


def look(width, theme):
    return {"viewport": {"width": width, "height": 800}, "color_scheme": theme, "bypass_csp": True}


@needs_axe
@SIZES
def test_a_screen_reader_finds_its_way_in_the_gallery_and_its_form(browser, tmp_path, width, theme):
    with (
        Gallery(tmp_path) as gallery,
        Server(gallery) as server,
        opened(browser, server.url, **look(width, theme)) as page,
    ):
        page.get_by_role("heading", name="Maze", exact=True).wait_for()
        assert not barriers(page)
        page.get_by_role("button", name="Maze", exact=True).click()
        form = page.get_by_role("dialog", name="Maze")
        room = form.bounding_box()
        for name in ("Run", "Begin paused", "Cancel"):
            box = form.get_by_role("button", name=name, exact=True).bounding_box()
            assert box["x"] + box["width"] <= room["x"] + room["width"], name
        form.get_by_label("Number of robots: scout").fill("2000")
        form.get_by_role("button", name="Run", exact=True).click()
        form.get_by_text("cannot start").wait_for()
        form.evaluate("form => form.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert not barriers(page)


@needs_axe
@SIZES
def test_a_screen_reader_finds_its_way_in_a_study(browser, tmp_path, width, theme):
    design = Design.model_validate(PLAIN)
    planned = plan(design)
    lock = prepare(tmp_path / "study", design, planned)
    with Study(design, tmp_path / "study", 2) as study, Server(study) as server:
        study.observe(Progress(4, 0))
        row = {"run_id": planned[1].run_id, "status": "timeout", "metrics": {"exploration_cost_m": 12.5}}
        study.observe(Progress(4, 0, Counter(timeout=1), row))
        bad = {"run_id": planned[2].run_id, "status": "died", "reason": "too much memory", "metrics": {}}
        study.observe(Progress(4, 0, Counter(timeout=1, died=1), bad))
        with opened(browser, server.url, **look(width, theme)) as page:
            page.get_by_text("too much memory").wait_for()
            page.get_by_role("cell", name="12.5").wait_for()
            assert page.evaluate("document.querySelector('#app').scrollWidth") <= width
            page.set_viewport_size({"width": 320, "height": 800})
            words, choice = (page.locator(one).bounding_box() for one in ("[for=study-metric]", "#study-metric"))
            assert choice["x"] >= words["x"] + words["width"]  # in one line
            assert not barriers(page)
    lock.release()


def test_who_only_watches_has_nothing_to_press(browser, tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server, opened(browser, server.view_url) as page:
        page.get_by_role("heading", name="Maze", exact=True).wait_for()
        assert page.get_by_role("button", name="Maze", exact=True).count() == 0


def test_a_study_shows_its_runs_as_they_end(browser, tmp_path):
    design = Design.model_validate(PLAIN)
    planned = plan(design)
    lock = prepare(tmp_path / "study", design, planned)
    with Study(design, tmp_path / "study", 2) as study, Server(study) as server:
        study.observe(Progress(4, 0))
        with opened(browser, server.url) as page:
            table = page.get_by_role("table", name="Runs")
            until(lambda: table.get_by_role("row").count() == 5, "the table", page=page)
            row = {"run_id": planned[1].run_id, "status": "timeout", "metrics": {"exploration_cost_m": 12.5}}
            study.observe(Progress(4, 0, Counter(timeout=1), row))
            bad = {"run_id": planned[2].run_id, "status": "died", "reason": "too much memory", "metrics": {}}
            study.observe(Progress(4, 0, Counter(timeout=1, died=1), bad))
            table.get_by_role("cell", name="12.5").wait_for()
            table.get_by_text("too much memory").wait_for()
            said = page.get_by_role("status").filter(has_text="runs have ended").inner_text()
            assert said.startswith("2 of 4 runs have ended · 1 failed · 0 running · 2 workers")
            assert page.get_by_role("progressbar").get_attribute("value") == "2"
            assert "1 of 4 runs have a value" in page.get_by_role("img").filter(
                has=page.locator("canvas")
            ).get_attribute("aria-label")
            page.get_by_label("Show", exact=True).select_option("failed")
            assert table.get_by_role("row").count() == 2
    lock.release()


def test_a_study_over_names_says_them_and_its_columns_are_in_sight(browser, tmp_path):
    changes = {"parameters": {"robots.scout.controller": ["wander", "still"]}, "iterations": 1}
    design = Design.model_validate(PLAIN | changes)
    planned = plan(design)
    lock = prepare(tmp_path / "study", design, planned)
    with Study(design, tmp_path / "study", 2) as study, Server(study) as server:
        study.observe(Progress(2, 0))
        with opened(browser, server.url) as page:
            page.add_init_script(
                "const say = CanvasRenderingContext2D.prototype.fillText; window.said = []; CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.said.push(text); say.call(this, text, ...rest); };"
            )
            page.reload()
            for done, (one, cost) in enumerate(zip(planned, (12.5, 30.0), strict=True), 1):
                row = {"run_id": one.run_id, "status": "timeout", "metrics": {"exploration_cost_m": cost}}
                study.observe(Progress(2, 0, Counter(timeout=done), row))
            until(lambda: {"wander", "still"} <= set(page.evaluate("window.said")), "the names", page=page)
            picture = page.get_by_role("img").filter(has=page.locator("canvas"))
            assert "over robots.scout.controller" in picture.get_attribute("aria-label")
            assert page.get_by_text("dot: median, circle: each run").is_visible()
            for width in (400, 980):
                page.set_viewport_size({"width": width, "height": 800})
                button = page.get_by_role("button", name="Open vector 0, iteration 0").bounding_box()
                assert button["x"] + button["width"] <= width
    lock.release()


def test_a_run_of_a_study_is_watched_while_it_lasts_and_opens_as_a_replay_afterwards(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "keep", lambda planned, folder, limits, environment: execute(planned, folder))
    (tmp_path / "slow.py").write_text(SLOW)
    wait = tmp_path / "wait"
    wait.touch()
    robots = [{"name": "scout", "robot": "disc", "count": 2, "controller": f"{tmp_path}/slow.py:slow"}]
    scenario = {"world": {"empty_m": [8, 8]}, "robots": robots, "stop": {"timeout_s": 60}}
    changes = {"scenario": scenario, "parameters": {}, "iterations": 1, "keep": "everything"}
    design = Design.model_validate(PLAIN | changes)
    with Study(design, tmp_path / "study", 1) as study, Server(study) as server, opened(browser, server.url) as page:
        work = threading.Thread(
            target=run.run_design, args=(design, tmp_path / "study"), kwargs={"jobs": 1, "observer": study.observe}
        )
        work.start()
        page.get_by_role("button", name="Watch vector 0, iteration 0").click()
        page.wait_for_url("**&from=study")
        step = "window.covey?.model.frame?.step ?? 0"
        first = until(lambda: page.evaluate(step), "the first frame", page=page)
        until(lambda: page.evaluate(step) > first + 5, "later frames", page=page)
        assert page.get_by_role("status", name="State of the run").inner_text() == "only watching"
        assert page.get_by_role("listbox", name="Robots").get_by_role("option").count() == 2
        wait.unlink()
        page.get_by_text(
            re.compile(r"The run has ended at .* s: time is up. Its record opens from the study.")
        ).wait_for()
        work.join(240)
        page.get_by_role("button", name="Study", exact=True).click()
        page.get_by_role("button", name="Open vector 0, iteration 0").click()
        page.wait_for_url("**&from=study")
        until(lambda: page.evaluate("window.covey?.model.hello?.mode") == "replay", "the replay", page=page)
