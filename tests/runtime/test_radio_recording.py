"""What a run keeps about its radio: links, groups, traffic, news; and nothing when nobody speaks."""

import numpy as np
import pytest

import covey
from covey.comms.links import LineOfSight
from covey.comms.radio import Radio
from covey.onboard.group import Group
from covey.world.world import World


def team(controller, starts, world=None, **options):
    group = Group("r", covey.robots.disc(), np.array(starts, float), controller)
    return covey.Simulation(world or World.empty(30, 6, resolution_m=0.1), [group], **options)


async def chatter(robot):
    while True:
        robot.send(bytes(70), kind="chat")  # 70 + 2 + 28 bytes
        if robot.name == "r0":
            robot.send(bytes(70), "r1", kind="whisper")
        await robot.sleep(1.0)


async def leaving(robot):
    robot.drive(0.5 if robot.name == "r2" else 0.0)
    await chatter(robot)


STARTS = [(-6.0, 0, 0), (-4.0, 0, 0), (-2.0, 0, 0)]


def test_links_groups_traffic_and_news_are_recorded():
    run = team(leaving, STARTS, radio=3.0).run(until_s=6.05)
    radio = run.radio
    assert radio["links"].to_list()[:3] == [2, 2, 1]  # r2 leaves the reach of r1, 3 m, after 2 s
    assert radio["groups"].to_list()[-1] == 2
    changes = run.links.select("robot", "other", "up").rows()
    assert changes == [("r0", "r1", True), ("r1", "r2", True), ("r1", "r2", False)]
    assert run.metrics["messages_sent"] == 3 * 6 + 6  # what was written in the last step is not on its way yet
    assert run.metrics["bytes_sent_by_kind"] == {"chat": 1800, "whisper": 600}
    assert run.metrics["bytes_sent_by_robot"] == {"r0": 1200, "r1": 600, "r2": 600}
    lost = run.metrics["dropped_by_cause"]
    assert lost["out_of_range"] + run.metrics["bytes_received"] / 100 == 2 * 18 + 6
    assert sum(lost.values()) == lost["out_of_range"]
    assert run.metrics["delivery_ratio"] == pytest.approx(run.metrics["bytes_received"] / 100 / 42)
    assert run.metrics["message_delay_s"] == 0.0
    assert run.metrics["connected_share"] == pytest.approx((radio["groups"] == 1).mean())
    assert run.metrics["news_age_max_s"] == pytest.approx(6.1)  # r0 never heard r2


def test_a_run_in_which_nobody_speaks_has_no_tables_about_it():
    run = team(None, STARTS).run(until_s=1.0)
    assert run.radio is run.links is run.traffic is run.messages is None
    assert not list(run.folder.glob("radio*"))
    assert run.metrics["bytes_sent"] is None


def test_single_packets_are_logged_on_request():
    run = team(leaving, STARTS, radio=Radio(range_m=3.0, latency_s=0.05), execution={"log_messages": "all"}).run(
        until_s=1.05
    )
    rows = run.messages.select("sender", "receiver", "kind", "size_bytes", "sent_s", "arrived_s", "cause").rows()
    assert ("r0", "r1", "whisper", 100, 0.0, 0.05, "") in rows
    assert ("r0", "r2", "chat", 100, 0.0, None, "out_of_range") in rows
    drops = team(leaving, STARTS, radio=3.0, execution={"log_messages": "drops"}).run(until_s=1.05).messages
    assert set(drops["cause"].to_list()) == {"out_of_range"}


def test_a_wall_between_robots_silences_them():
    cells = np.zeros((60, 300), np.uint8)
    cells[:, 120] = 1  # x = -3, between r1 and r2
    world = World(covey.World.empty(30, 6, resolution_m=0.1).grid.__class__(cells, 0.1, (-15.0, -3.0, 0.0)))
    run = team(chatter, STARTS, world, radio=Radio(links=(LineOfSight(),))).run(until_s=1.05)
    assert run.metrics["dropped_by_cause"]["walls"] > 0
    assert run.radio["groups"].to_list()[-1] == 2


def test_tags_are_events_and_walls_hide_them():
    seen = {}

    async def drop(robot):
        if robot.name == "r1":
            robot.leave_tag("here")
        await robot.sleep(0.3)
        seen[robot.name] = [t.content for t in robot.tags]

    cells = np.zeros((60, 300), np.uint8)
    cells[:, 120] = 1  # x = -3, between r1 and r2
    world = World(covey.World.empty(30, 6, resolution_m=0.1).grid.__class__(cells, 0.1, (-15.0, -3.0, 0.0)))
    run = team(drop, STARTS, world).run(until_s=1.0)
    assert seen == {"r0": ["here"], "r1": ["here"], "r2": []}
    event = run.events.filter(run.events["kind"] == "tag_left").row(0, named=True)
    assert (event["robot"], event["x_m"], event["text"]) == ("r1", -4.0, "here")


def test_a_robot_picks_one_of_its_radios():
    heard = {}

    async def talk(robot):
        if robot.name == "r0":
            robot.send("near")
            robot.send("far", radio="lora")
            with pytest.raises(covey.InvalidValueError, match="did you mean 'lora'"):
                robot.send("?", radio="loral")
        await robot.sleep(1.0)
        heard[robot.name] = sorted(m.payload for m in robot.messages())

    radios = [Radio(name="wifi", range_m=2.5), Radio(name="lora", range_m=100.0)]
    team(talk, STARTS, radio=radios).run(until_s=2.0)
    assert heard == {"r0": [], "r1": ["far", "near"], "r2": ["far"]}


def test_a_lossy_run_repeats_itself():
    def bytes_of_run():
        radio = Radio.model_validate({"preset": "gz", "tx_power_dbm": -20.0, "jitter_s": 0.1, "loss": 0.2})
        run = team(leaving, STARTS, radio=radio, seed=4).run(until_s=5.0)
        assert 0.1 < run.metrics["delivery_ratio"] < 0.9
        return [(run.folder / f"{t}.parquet").read_bytes() for t in ("radio", "traffic", "links")]

    assert bytes_of_run() == bytes_of_run()
