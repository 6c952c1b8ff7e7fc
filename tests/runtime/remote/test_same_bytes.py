"""Controllers in processes of their own do what they do in the simulator's: the same bytes, and traffic that is counted."""

import pytest

from covey.scenario.load import parse_scenario

CODE = '''
from dataclasses import dataclass

import covey


@dataclass
class Word:
    text: str
    number: float


async def busy(robot):
    """Draw, write, read, tag, talk, and fail in the end."""
    for turn in range(8):
        robot.drive(0.2, robot.random.uniform(-0.5, 0.5))
        robot.blackboard[robot.name] = turn
        robot.send(Word("turn", robot.random.random()), kind="word")
        if turn == 2:
            robot.leave_tag({"by": robot.name}, lifetime_s=1.0)
        heard = [m.payload.number for m in robot.messages("word")]
        times = [round(s.time, 2) for s in robot.samples("lidar")]
        robot.note(f"turn {turn}")
        robot.note(f"turn {turn}")
        robot.note(f"{turn} {times} {dict(robot.blackboard)} {heard} {[t.content for t in robot.tags]} {len(robot.history)}")
        await robot.sleep(0.2)
    if robot.name == "busy0":
        raise ValueError("this far and no further")
    await robot.receive("never", timeout_s=0.5)


@covey.controller(scope="group", sees=("pose",))
class Circle:
    def __init__(self, *, speed=0.3):
        self.speed, self.steps = speed, 0

    def step(self, group):
        self.steps += 1
        if self.steps % 10 == 0:
            group.note("ring1", f"step {self.steps}")
        return [[self.speed, 0.01 * self.steps, 0.0]] * group.count
'''

SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - {name: scout, count: 2, controller: market, localization: noise, start: {together: {around: [-10, 10]}},
     robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}, computer: {cpus: 1, speed: 0.5}}, control_every: 2}
  - {name: busy, count: 2, robot: {base: disc, mapping: null, sensors: [{kind: lidar, rate_hz: 40}]}, controller: "./mine.py:busy", start: {together: {around: [10, -10]}}}
  - {name: ring, count: 2, controller: {name: "./mine.py:Circle", speed: 0.4}, start: {together: {around: [10, 10]}}}
radio: {range_m: 30, loss: 0.1}
share_maps: {every_s: 0.5}
stop: {timeout_s: 4}
execution: {controllers: WHERE}
record: {scans_every_s: 1, maps_every_s: 1}
seed: 3
"""
TABLES = ("measurements", "team", "events", "radio", "links", "traffic", "computers", "localization")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    (folder / "mine.py").write_text(CODE)
    places = ("in_process", "processes")
    scenarios = {w: parse_scenario(SCENARIO.replace("WHERE", w), folder=folder) for w in places}
    return {where: scenario.build(folder / where).run() for where, scenario in scenarios.items()}


def test_every_table_and_the_maps_have_the_same_bytes(runs):
    for name in (*(f"{table}.parquet" for table in TABLES), "maps.npz", "map_changes.npz", "scans.npz"):
        here, there = ((runs[where].folder / name).read_bytes() for where in runs)
        assert here == there, name
    assert runs["in_process"].plans is not None
    assert runs["processes"].plans is None  # they stay in the processes
    events = runs["processes"].events
    assert "this far and no further" in events.filter(events["kind"] == "controller_failed")["text"][0]
    assert events.filter(events["kind"] == "tag_left").height == 2
    said = events.filter((events["kind"] == "note") & (events["robot"] == "busy1"))["text"].to_list()
    assert any("'busy0': 3" in text for text in said)  # read from the blackboard
    said = events.filter((events["kind"] == "note") & (events["robot"] == "ring1"))["text"].to_list()
    assert said == ["step 10", "step 20", "step 30", "step 40"]
    assert runs["processes"].metrics["bytes_sent_by_kind"]["map tiles"] > 0
    assert runs["processes"].manifest["repeatable"] is True


@pytest.mark.slow
@pytest.mark.parametrize("where", ["in_process", "processes"])
def test_each_note_of_a_step_is_recorded_and_none_twice(runs, where):
    events = runs[where].events
    notes = events.filter((events["kind"] == "note") & (events["robot"] == "busy1"))["text"].to_list()
    assert [note.split(" [")[0] for note in notes] == [word for k in range(8) for word in (f"turn {k}", f"{k}")]


def test_traffic_is_counted_by_class(runs):
    run = runs["processes"]
    last = {(row["robot"], row["traffic"]): row for row in run.process_traffic.iter_rows(named=True)}
    assert {robot for robot, _ in last} == {"scout0", "scout1", "busy0", "busy1", "ring"}
    assert last["scout0", "monitor"]["bytes_from_controller"] > 1024  # tiles of its map
    assert last["busy1", "monitor"]["bytes_from_controller"] < 5000  # notes alone
    assert last["scout0", "team"]["bytes_to_controller"] > 1024  # tiles of the other's
    assert last["ring", "team"]["bytes_to_controller"] == last["ring", "team"]["bytes_from_controller"] == 0
    steps, heads = 40, 2 + 40  # one letter to the group in each step, and two to begin and end
    ring = last["ring", "simulator"]
    assert ring["letters_to_controller"] == ring["letters_from_controller"] == steps
    poses = 2 * 3 * 8
    assert ring["bytes_to_controller"] > steps * poses + heads * 21
    by_class = run.metrics["controller_bytes_by_traffic"]
    for kind in ("simulator", "monitor", "team"):
        rows = [row for (_, traffic), row in last.items() if traffic == kind]
        assert by_class[kind] == sum(r["bytes_to_controller"] + r["bytes_from_controller"] for r in rows)
    assert runs["in_process"].metrics["controller_bytes_by_traffic"] is None


def test_what_each_process_takes_of_the_machine_is_recorded(runs):
    host = runs["processes"].process_host
    assert set(host["robot"]) == {"scout0", "scout1", "busy0", "busy1", "ring"}
    assert host["cpu_percent"].is_between(0, 1000).all()
    assert host["cpu_percent"].sum() > 0  # of one alone it may be none: it is counted in hundredths of a second
    assert host["rss_mib"].is_between(30, 2000).all()
    assert (host.filter(host["robot"] == "scout0")["ram_percent"] < 20).all()  # of 2 GiB, without the bare process
    assert host["missed_deadlines"].sum() == 0
    assert runs["processes"].metrics["controller_rss_mib"] == pytest.approx(host["rss_mib"].mean(), rel=0.5)
