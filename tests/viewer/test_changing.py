"""Viewers change a run: what they do is recorded, repeats, and robots that they drive are let go in time."""

from tests.viewer.test_live import Viewer, running

from covey.events.inputs import recorded_inputs
from covey.experiments.repeating import Repeated
from covey.results.run import Run
from covey.scenario.load import parse_scenario
from covey.viewer import Live

ROOMS = """
world: {workspace_m: [[0, 0], [10, 0], [10, 6], [0, 6]], walls_m: [[[5, 0], [5, 6]]], resolution_m: 0.1}
doors: [{name: d, box_m: [4.8, 2, 5.2, 4]}]
robots: [{name: scout, robot: pioneer3dx, count: 2, start: {together: {around: [2, 3]}}, controller: minpos}]
share_maps: {every_s: 1}
stop: {timeout_s: 600}
seed: 4
"""


def simulation(live, folder=None):
    sim = parse_scenario(ROOMS).build(folder)
    sim.observers.append(live.observe)
    return sim


def begin(server, **options):
    viewer = Viewer(server, **options)
    viewer.until(lambda header: header["type"] == "hello")
    viewer.send(type="watch", rate_hz=60)
    return viewer


def happens(viewer, kind, count=1):
    while sum(event["kind"] == kind for event in viewer.events) < count:
        viewer.take()


def drives(sim):
    return [one for one in recorded_inputs(sim.close()) if "drive" in one]


def test_a_robot_goes_on_by_itself_when_the_last_message_is_old(monkeypatch):
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = begin(server)

        def drive(lapse_s):
            monkeypatch.setattr("covey.viewer.live.LAPSE_S", lapse_s)
            assert viewer.ask(type="drive", robot="scout0", twist=[0.2, 0.5])["type"] == "done"

        def steps(count):
            goal = sim.clock.step + count
            viewer.send(type="step", count=count)
            viewer.until(lambda header: header.get("step", 0) >= goal)

        drive(1e6)
        steps(5)
        assert not any(event["kind"] == "drive_over" for event in viewer.events)
        drive(0.0)  # each message counts anew
        steps(1)
        assert [event["kind"] for event in viewer.events].count("drive_over") == 1
    assert [one.get("twist") for one in drives(sim)] == [[0.2, 0.5], None], "only changes are inputs"


def test_a_robot_is_let_go_at_once_when_its_driver_leaves(monkeypatch):
    monkeypatch.setattr("covey.viewer.live.LAPSE_S", 1e6)
    live = Live(factor=1.0)
    sim = simulation(live)
    with running(live, sim) as server:
        driver, other = begin(server), begin(server)
        driver.ask(type="drive", robot="scout0", twist=[0.2, 0.5])
        happens(other, "driven")
        driver.socket.close()
        happens(other, "drive_over")


def test_who_drives_last_drives_and_a_driver_has_one_robot():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        a, b = begin(server), begin(server)
        a.ask(type="drive", robot="scout0", twist=[0.1, 0.0])
        b.ask(type="drive", robot="scout0", twist=[0.2, 0.0])
        b.ask(type="drive", robot="scout1", twist=[0.3, 0.0])
        b.ask(type="drive", robot="scout1", twist=None)
        assert "scout9" in a.ask(type="drive", robot="scout9", twist=[1.0, 0.0])["text"]
        b.ask(type="step", count=1)
        happens(b, "input", 5)
    assert [(one["drive"], one.get("twist")) for one in drives(sim)] == [
        ("scout0", [0.1, 0.0]),
        ("scout0", [0.2, 0.0]),
        ("scout0", None),
        ("scout1", [0.3, 0.0]),
        ("scout1", None),
    ]


def test_who_only_watches_drives_nobody_and_adds_none():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = begin(server, edits=False)
        assert "only" in viewer.ask(type="drive", robot="scout0", twist=[0.2, 0.0])["text"]
        assert "only" in viewer.ask(type="add", group="scout", pose=[8, 3, 0])["text"]
        assert "no scenario" in begin(server).ask(type="add", group="scout", pose=[8, 3, 0])["text"]


def test_a_run_that_viewers_have_changed_repeats_to_the_same_bytes(tmp_path):
    live = Live(playing=False)
    sim = simulation(live, tmp_path / "first")
    with running(live, sim) as server:
        viewer = begin(server)

        def do(**event):
            assert viewer.ask(type="do", event=event)["type"] == "done"

        do(place="scout1", pose=[8, 3, 180])
        viewer.ask(type="step", count=5)
        viewer.until(lambda header: header.get("step") == 5)
        do(door="any", to="toggle")
        do(jam={"centre_m": [8, 3], "radius_m": 2}, for_s=1)
        viewer.ask(type="drive", robot="scout0", twist=[0.2, 0.5])
        viewer.ask(type="speed", factor=10)
        viewer.ask(type="play")
        happens(viewer, "drive_over")
        do(remove={"polygon_m": [[4, 0.5], [6, 0.5], [6, 1.5], [4, 1.5]]})
        happens(viewer, "wall_removed")
        do(restore="gap 2")
        do(kind="localization_jumps", robot="any")
        happens(viewer, "fault")
    first = Run(tmp_path / "first")
    kinds = set(first.events["kind"])
    assert {"placed", "door_closed", "jam", "jam_over", "driven", "drive_over", "wall_removed", "wall_added"} <= kinds
    parse_scenario(ROOMS).build(tmp_path / "again").run(before_step=Repeated(first))
    tables = sorted(path.name for path in (tmp_path / "first").glob("*.parquet") if path.stem != "host")
    for table in (*tables, "maps.npz"):
        assert (tmp_path / "first" / table).read_bytes() == (tmp_path / "again" / table).read_bytes(), table
