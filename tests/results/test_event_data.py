"""Events carry data; their text is for people, and nothing that is computed from a run depends on it."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

import covey
from covey.events.inputs import recorded_inputs
from covey.missions import Rescue
from covey.plain import unpack
from covey.results.figures.search import false_alarms, meetings, targets_of
from covey.results.metrics import compute
from covey.results.run import Run
from covey.robots.catalogue import disc
from covey.sensors import TagCamera
from covey.viewer.recorded import messages_of

CAMERA = TagCamera(detect_near=1, detect_far=1, detect_slant=1, sigma_m=0, sigma_per_m=0, false_per_min=200.0)
TARGETS = [{"kind": "victim", "at": (-1.5, 0)}, {"kind": "big_fire", "at": (1.5, 0)}]
CALLS = [
    {"jam": {"centre_m": [1, 1], "radius_m": 0.5}},
    {"order": {"objective_m": [0, 0], "formation": "rank", "spacing_m": 0.5, "facing_deg": 90.0}},
    {"kind": "dies", "robot": "r2", "vanishes": True},
    {"place": "r1", "pose": [0.0, 1.0, 0.0]},
    {"drive": "r0", "to": [0.9, 0.0]},
]


async def search(robot):
    robot.report(1, (1.5, 0.0))
    await robot.drive(0.0, 1.0, for_s=100.0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run with events of each kind that has data, and the same run with other texts."""
    body = disc().model_copy(update={"sensors": (*disc().sensors, CAMERA)})
    starts = [(0.5, 0, 0.0), (0.5, 0.8, 3.0), (-0.7, -0.9, 0.0)]
    rules = {"victim": {"points": 10}, "big_fire": {"points": 10, "robots": 2, "within_m": 2.0, "meeting_points": 5}}
    folder = tmp_path_factory.mktemp("event_data") / "run"
    sim = covey.Simulation(
        covey.World.empty(3, 3, 0.1),
        [covey.Group("r", body, starts, search)],
        targets=TARGETS,
        mission=Rescue(kinds=rules, end_when_done=False),
        recording=folder,
    )
    while sim.clock.step < 40:
        if sim.clock.step == 20:
            for call in CALLS:
                sim.do(call)
        sim.step()
    sim.close()
    other = shutil.copytree(folder, folder.parent / "other" / folder.name)
    table = pl.read_parquet(other / "events.parquet")
    table.with_columns(text=pl.lit("in other words")).write_parquet(other / "events.parquet")
    return Run(folder), Run(other)


def test_events_say_as_data_what_their_text_says(recorded):
    run, _ = recorded
    said = {event["kind"]: event["data"] for event in run.events_of()}
    x, y, heading = said["placed"]["before"]
    assert (x, y) == pytest.approx((0.5, 0.8))
    assert heading == pytest.approx(np.degrees(3.0 + run.times[19] - 2 * np.pi), abs=6.0)  # it has turned at 1 rad/s
    assert said["fault"]["vanishes"] is True
    assert [event["data"] for event in run.events_of("driven")] == [
        {"goal_m": [0.9, 0.0], "is_there": False},
        {"goal_m": [0.9, 0.0], "is_there": True},
    ]
    assert said["jam"] == {"centre_m": [1.0, 1.0], "radius_m": 0.5}
    assert said["order"]["objective_m"] == [0.0, 0.0]
    assert {event["data"].get("is_true") for event in run.events_of("sighted")} == {True, False}
    told = {key for event in run.events_of("mission") for key in event["data"]}
    assert {"reported", "answer", "meeting"} <= told
    assert [call.keys() - {"at_step", "name"} for call in recorded_inputs(run)] == [call.keys() for call in CALLS]


def test_nobody_but_people_reads_the_text(recorded):
    run, other = recorded
    values, others = compute(run), compute(other)
    assert json.dumps(values) == json.dumps(others)
    assert recorded_inputs(run) == recorded_inputs(other)
    for marks in (false_alarms, meetings, targets_of):
        assert marks(run)
        assert repr(marks(run)) == repr(marks(other))
    for shown, again in zip(messages_of(run), messages_of(other), strict=True):
        if shown[:1] == b"{":  # the description of the run, with its folder
            assert json.loads(shown) | {"folder": ""} == json.loads(again) | {"folder": ""}
            continue
        (header, arrays), (other_header, other_arrays) = unpack(shown), unpack(again)
        for event in (*header.get("events", ()), *other_header.get("events", ())):
            event.pop("text", None)
        assert header == other_header
        assert arrays.keys() == other_arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, other_arrays[name])


def test_data_that_nobody_wrote_is_damage(recorded, tmp_path):
    _, other = recorded
    folder = shutil.copytree(other.folder, tmp_path / "run")
    for data in ("[1, 2]", "{"):
        pl.read_parquet(folder / "events.parquet").with_columns(data=pl.lit(data)).write_parquet(
            folder / "events.parquet"
        )
        with pytest.raises(covey.RunFolderError, match="events"):
            Run(folder).events_of("fault")


def test_a_kind_that_is_none_is_answered_with_the_nearest(recorded):
    with pytest.raises(covey.UnknownNameError, match="unknown kind of event 'sigthed', did you mean 'sighted'"):
        recorded[0].events_of("sigthed")
