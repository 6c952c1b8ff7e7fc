"""The gallery: cards, pictures, forms, and runs as processes of their own, over real sockets."""

import inspect
import io
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image
from tests.viewer.test_live import Viewer

from covey.controllers.exploration.connected import connected
from covey.errors import InvalidValueError, ScenarioError
from covey.registry import looking
from covey.scenario.load import load_scenario
from covey.scenario.overrides import override, parse_override
from covey.scenario.shipped import library
from covey.viewer import Server
from covey.viewer.children import Replays
from covey.viewer.forms import checked, filled, form_of
from covey.viewer.gallery import Gallery, scenario_files
from covey.viewer.pictures import picture_of

MINE = "format: 1\nworld: {empty_m: [4, 4]}\nrobots: [{count: 1, start: {together: {}}}]\nstop: {timeout_s: 20}\n"


def values(scenario):
    return {field["path"]: field["value"] for part in form_of(scenario) for field in part["fields"]}


@pytest.mark.parametrize("name", ["maze", "patrol", "hills"])
def test_each_value_of_a_form_is_what_the_scenario_holds(name):
    scenario = load_scenario(name)
    for path, text in values(scenario).items():
        if ".controller" not in path:  # parameters that a file leaves out are written out afterwards
            assert override(scenario, dict([parse_override(f"{path}={text}")])) == scenario, path


def test_a_form_has_the_schemas_words_and_limits():
    fields = {field["path"]: field for part in form_of(load_scenario("maze")) for field in part["fields"]}
    count = fields["robots.scout.count"]
    assert (count["value"], count["kind"], count["least"], count["help"]) == ("6", "integer", 1, "Number of robots.")
    assert fields["world.terrain"]["choices"] == ["loop", "cross", "zigzag", "maze"]
    assert "minpos" in fields["robots.scout.controller"]["choices"]


@pytest.mark.parametrize(
    ("name", "offers", "others"),
    [
        (
            "maze",
            {"nearest_frontier", "minotaur", "ssb", "wander"},
            {"cyclic_patrol", "rescue_team", "lloyd", "terrain_team"},
        ),
        ("patrol", {"cyclic_patrol", "expected_idleness", "still"}, {"minpos", "boustrophedon", "lloyd"}),
        ("rescue", {"rescue_team", "with_lookout"}, {"minpos", "cyclic_patrol"}),
        ("coverage", {"boustrophedon", "ssb"}, {"minpos", "rescue_team"}),
    ],
)
def test_a_form_offers_strategies_that_can_do_the_mission(name, offers, others):
    (choices,) = [
        set(field["choices"]) for field in form_of(load_scenario(name))[0]["fields"] if "controller" in field["path"]
    ]
    assert offers <= choices
    assert not others & choices


def test_a_form_offers_laws_in_place_of_a_law(tmp_path):
    file = tmp_path / "law.yaml"
    file.write_text(MINE.replace("count: 1", "count: 1, controller: lloyd"))
    (field,) = [field for field in form_of(load_scenario(file))[0]["fields"] if "controller" in field["path"]]
    assert {"lloyd", "consensus", "wander"} <= set(field["choices"])


def test_a_form_follows_the_choice_of_controller_localization_and_start():
    changes = {
        "robots.scout.controller": "connected",
        "robots.scout.localization": "noise",
        "robots.scout.start": "{spread: {}}",
    }
    parts = form_of(filled("maze", changes))
    fields = {field["path"].removeprefix("robots.scout."): field for part in parts for field in part["fields"]}
    below = {path.removeprefix("controller.") for path in fields if path.startswith("controller.")}
    assert below == set(inspect.signature(connected).parameters) - {"robot"}
    assert fields["controller.definition"]["choices"] == ["explore", "m_explore", "rescue", "maes"]
    assert (fields["controller.min_cells"]["kind"], fields["controller.min_cells"]["most"]) == ("integer", 1_000_000)
    assert fields["controller.patience_s"]["help"] in " ".join(inspect.getdoc(connected).split())
    assert len(fields["controller.patience_s"]["help"]) > 10
    assert set(fields["localization"]["choices"]) == {"truth", "noise", "odometry", "known_map", "particles", "slam"}
    assert (fields["localization"]["value"], fields["localization.sigma_m"]["value"]) == ("noise", "0.022")
    assert (fields["start"]["value"], fields["start.spread.gap_m"]["value"]) == (fields["start"]["choices"][0], "0.1")
    for text in fields["start"]["choices"]:
        filled("maze", {"robots.scout.count": "1", "robots.scout.start": text})


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"robots.scout.count": "0"}, "robots.scout.count", "greater than or equal to 1"),
        ({"stop.explored": "2", "seed": "4"}, "stop.explored", "less than or equal to 1"),
        ({"seed": "[1"}, "seed", ""),
        ({"world.size_m": "10"}, "world.size_m", "multiple"),
        ({"robots.scout.count": "2000"}, "robots.scout.count", "cannot start"),
        ({"robots.scout.robot": "skid_steer"}, "robots.scout.robot", "maps the ground"),
        ({"robots.scout.controller": "min_max_reactive"}, "robots.scout.controller", "needs waypoints"),
        (
            {"robots.scout.controller.auction_s": "x", "robots.scout.controller": "market"},
            "robots.scout.controller.auction_s",
            "must be a number",
        ),
        (
            {"robots.scout.controller": "./evil.py:run"},
            "robots.scout.controller",
            "code from a file, which a form does not",
        ),
    ],
)
def test_problems_are_told_at_their_field(changes, path, words):
    with pytest.raises(ScenarioError) as error:
        checked("maze", changes)
    (problem,) = error.value.problems
    assert problem.file == path
    assert words in problem.message


def test_a_picture_shows_walls_and_robots_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.viewer.pictures.cache_root", lambda: tmp_path)
    with looking():
        png = picture_of(load_scenario("maze"))
    (kept,) = (tmp_path / "pictures").glob("*.png")
    assert kept.read_bytes() == png
    image = Image.open(io.BytesIO(png)).convert("RGB")
    assert max(image.size) <= 320
    assert sum(image.getpixel((0, 0))) < 200  # the border is a wall
    scout = [round((side + 40) / 80 * image.width) for side in (-38, -38)]  # starts at x = -38, y = 38 m of 80
    assert image.getpixel(tuple(scout)) == (213, 94, 0)


def test_files_of_the_folder_are_listed_and_nothing_else(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "mine.yaml").write_text(MINE)
    (folder / ".hidden.yaml").write_text(MINE)
    (folder / "other.yaml").write_text("a: 1")
    (folder / "broken.yaml").write_text("{")
    os.mkfifo(folder / "pipe.yaml")
    (tmp_path / "outside.yaml").write_text(MINE)
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    assert [path.name for path in scenario_files(folder.resolve())] == ["mine.yaml"]


@pytest.mark.parametrize("text", [MINE.replace("}]", "}"), "world: {empty_m: [4, 4]", "robots:\n\t- {count: 1}\n"])
def test_the_card_of_a_file_that_is_not_yaml_says_so(tmp_path, text):
    (tmp_path / "broken.yaml").write_text(text)
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        viewer = Viewer(server)
        hello = viewer.until(lambda header: header["type"] == "hello")
        assert hello["cards"][-1]["name"] == "broken.yaml"
        viewer.send(type="watch")  # as a page does: what was said before it came is said again
        said = viewer.until(lambda header: header["type"] == "picture" and header["name"] == "broken.yaml")
        assert "broken.yaml:" in said["problem"]
        assert "not valid YAML" in said["problem"]
        answer = viewer.ask(type="form", name="broken.yaml")
        assert answer["type"] == "refused"
        assert "not valid YAML" in answer["text"]


def test_cards_name_all_scenarios_and_say_what_they_are(tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        hello = Viewer(server).until(lambda header: header["type"] == "hello")
    assert hello["mode"] == "gallery"
    assert {card["name"] for card in hello["cards"]} == set(library())
    assert hello["cards"][0]["line"] == "Six Pioneers explore the maze: many walls and dead ends, like a city."


@pytest.mark.parametrize("name", ["nowhere", "../mine.yaml", "/etc/passwd", "outside.yaml"])
def test_only_what_is_on_a_card_can_be_run(tmp_path, name):
    (tmp_path / "outside.yaml").write_text(MINE)
    (tmp_path / "here").mkdir()
    with Gallery(tmp_path / "here") as gallery, Server(gallery) as server:
        viewer = Viewer(server)
        for message in ({"type": "form"}, {"type": "launch"}):
            answer = viewer.ask(**message, name=name)
            assert answer["type"] == "refused"
            assert "unknown scenario" in answer["text"]
        assert not gallery.runs


@pytest.mark.parametrize(
    "message",
    [
        {"type": "launch", "name": "hello", "speed": "--out=/tmp"},
        {"type": "launch", "name": "hello", "changes": {"--out": "/tmp"}},
        {"type": "launch", "name": "hello", "changes": {"robots.robot.count": "none"}},
        {"type": "open", "run": "1"},
        {"type": "quit", "run": "../.."},
        {"type": "play"},
    ],
)
def test_what_makes_no_sense_is_refused_with_words(tmp_path, message):
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        answer = Viewer(server).ask(**message)
        assert answer["type"] == "refused"
        assert answer["text"]
        assert not gallery.runs
    assert not list(tmp_path.iterdir())


def test_who_only_watches_starts_nothing(tmp_path):
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        viewer = Viewer(server, edits=False)
        for message in (
            {"type": "form", "name": "hello"},
            {"type": "launch", "name": "hello"},
            {"type": "open", "run": "1"},
            {"type": "quit", "run": "1"},
        ):
            assert "only" in viewer.ask(**message)["text"]
        assert not gallery.runs


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_run_is_a_process_that_knows_no_secret_and_ends_with_the_gallery(tmp_path, monkeypatch):
    monkeypatch.setenv("COVEY_AUTHKEY", "5ec2e7")
    (tmp_path / "mine.yaml").write_text(MINE)
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        viewer, watcher = Viewer(server), Viewer(server, edits=False)
        how = {"changes": {"robots.robot.count": "2"}, "speed": "1", "paused": True}
        answer = viewer.ask(type="launch", name="mine.yaml", **how)
        assert answer["type"] == "done", answer
        assert answer["url"].startswith("http://127.0.0.1:")
        assert str(server.port) not in answer["url"]
        process = gallery.runs["1"].child._process
        assert b"5ec2e7" not in Path(f"/proc/{process.pid}/environ").read_bytes()
        assert b"robots.robot.count=2" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        watcher.send(type="watch")
        listed = watcher.until(lambda header: header["type"] == "runs" and header["runs"])["runs"]
        assert listed[0]["url"] not in ("", answer["url"])  # the address that only lets watch
        port = int(answer["url"].split(":")[2].split("/")[0])
        of_run = Viewer(SimpleNamespace(url=answer["url"], port=port))
        of_run.send(type="watch")
        first = of_run.until(lambda header: header["type"] == "frame", timeout=240)
        assert (first["step"], first["playing"]) == (0, False)
        assert of_run.ask(type="add", group="robot", pose=[1, 1, 0])["type"] == "done"
        hello = of_run.until(lambda header: header["type"] == "hello")
        assert [robot["name"] for robot in hello["robots"]] == ["robot0", "robot1", "robot2"]
        of_run.send(type="play")
        of_run.until(lambda header: header.get("step", 0) > 0, timeout=240)
        of_run.socket.close()
        viewer.ask(type="quit", run="1")
        viewer.until(lambda header: header["type"] == "runs" and not header["runs"][0]["running"])
        (folder,) = tmp_path.glob("runs/mine/2*")
        assert gallery.runs["1"].folder == folder
        assert gallery.runs["1"].state == "interrupted"
        again = viewer.ask(type="open", run="1")
        assert again["type"] == "done", again
        assert again["url"] != answer["url"]
    assert process.poll() is not None
    assert not os.path.exists(f"/proc/{process.pid}")
    assert list(tmp_path.glob("runs/mine/*/manifest.json"))


@pytest.mark.slow
def test_a_run_that_has_ended_is_no_longer_running_while_its_page_is_looked_at(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE)
    with Gallery(tmp_path) as gallery, Server(gallery) as server:
        viewer = Viewer(server)
        changes = {"changes": {"stop.timeout_s": "1"}, "speed": "max", "paused": True}
        url = viewer.ask(type="launch", name="mine.yaml", **changes)["url"]
        of_run = Viewer(SimpleNamespace(url=url, port=int(url.split(":")[2].split("/")[0])))
        of_run.send(type="watch")
        of_run.send(type="play")
        (listed,) = viewer.until(lambda header: header["type"] == "runs" and not header["runs"][0]["running"])["runs"]
        child = gallery.runs["1"].child
        assert child.code is None  # its page is open
        assert (listed["state"], listed["url"]) == ("ended without the goal", "")
        assert (tmp_path / listed["folder"] / "manifest.json").is_file()
        replay = viewer.ask(type="open", run="1")
        assert replay["type"] == "done", replay
        assert replay["url"] != url


class _Run:
    """The process of a run that gets its page at once, or fails when it is let go."""

    def __init__(self, arguments, folder, changed):
        self.folder, self.words, self.code, self.view_url = folder, ["no such robot"], None, ""
        self.ended = self.record = ""
        self.url, self.let_go = arguments[0], threading.Event()
        if self.url:
            self.let_go.set()

    def wait(self):
        self.let_go.wait(240)
        return bool(self.url)

    def interrupt(self):
        self.code = 130

    def end(self):
        self.url, self.code = "", 130


def test_no_run_gets_the_number_of_another_when_one_before_it_fails(tmp_path, monkeypatch):
    """The first of them would be forgotten, and nobody would end it."""
    monkeypatch.setattr("covey.viewer.gallery.Child", _Run)
    gallery = Gallery(tmp_path)
    with gallery, ThreadPoolExecutor(1) as other:
        fails = other.submit(gallery._start, "wrong", [""])
        while not gallery.runs:
            time.sleep(0.001)
        second = gallery._start("right", ["http://second"])
        gallery.runs["1"].child.let_go.set()
        with pytest.raises(InvalidValueError, match="no such robot"):
            fails.result(240)
        third = gallery._start("right", ["http://third"])
        assert list(gallery.runs.values()) == [second, third]
    assert [run.child.code for run in (second, third)] == [130, 130]


def test_a_run_that_begins_while_the_gallery_closes_ends(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr("covey.viewer.gallery.Child", lambda *given: begun.append(_Run(*given)) or begun[-1])
    gallery = Gallery(tmp_path)
    with gallery:
        pass
    with pytest.raises(InvalidValueError, match="no such robot"):
        gallery._start("late", ["http://late"])
    assert begun[0].code == 130


def test_no_page_of_a_run_opens_after_all_have_been_ended(tmp_path):
    replays = Replays("127.0.0.1")
    replays.end()
    with pytest.raises(InvalidValueError, match="this page is being closed"):
        replays.open(tmp_path / "run")
    assert not replays.any
