"""Maps over the radio: what arrives, how much is on the air, and under which policy."""

import numpy as np
import pytest

import covey
from covey.comms.message import HEADER_BYTES
from covey.comms.radio import Radio
from covey.comms.traffic import COUNTERS
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.records import Mapping
from covey.onboard.group import Group
from covey.runtime.phases.map_exchange import DIGEST, TILES
from covey.sensors.lidar import Lidar

LINE = [(-8.0, 0.0, 0.0), (0.0, 0.0, 0.0), (8.0, 0.0, 0.0)]


async def still(robot):
    await robot.sleep(1e9)


@covey.controller(sees=("pose", "map"))
async def apart(robot):
    await robot.sleep(1e9)


def robot():
    base = covey.robots.disc()
    lidar = Lidar(range_m=4.0, rays=60, fov_deg=360, rate_hz=10)
    return base.model_copy(update={"sensors": (lidar,), "mapping": Mapping(resolution_m=0.2)})


def team(starts=LINE, programs=(still,), **options):
    options = {"radio": 9.0, "share_maps": 1.0} | options
    groups = [
        Group(f"g{k}_", robot(), np.array(starts[k :: len(programs)], float), program)
        for k, program in enumerate(programs)
    ]
    return opened(covey.Simulation(covey.World.empty(30, 12, resolution_m=0.1), groups, **options))


SIMS = []


def opened(sim):
    SIMS.append(sim)
    return sim


@pytest.fixture(autouse=True)
def _closed():
    yield
    while SIMS:
        SIMS.pop().close()


def run(sim, seconds):
    while sim.time < seconds - 1e-9:
        sim.step()
    return sim


def known(sim):
    """Number of known cells of each robot's map."""
    beliefs = sim.localization.teams[0].beliefs
    return np.count_nonzero(beliefs.occupancy >= 0, axis=(1, 2))


def count(sim, counter, kind):
    """One counter of a kind of message, of each robot."""
    found = sim.communication.network.traffic
    return found.counts[:, found.kind(kind), COUNTERS.index(counter)].astype(int)


def all_know_all(sim):
    beliefs = sim.localization.teams[0].beliefs
    return all((beliefs[i].occupancy() == beliefs.union()).all() for i in range(len(beliefs)))


def test_maps_travel_over_several_hops_and_then_the_air_is_quiet():
    sim = run(team(), 0.1)
    own = known(sim)
    run(sim, 6.0)
    assert all_know_all(sim)
    assert (known(sim) > 2 * own).all()
    before = count(sim, "bytes_sent", TILES)
    run(sim, 12.0)
    assert (count(sim, "bytes_sent", TILES) == before).all()  # nobody moves: nothing new
    assert (count(sim, "messages_sent", DIGEST) == 12).all()  # one a second


def test_a_map_that_came_over_another_robot_is_news_of_whose_it_is():
    async def forward(robot):
        await robot.drive(0.3, for_s=1e9)

    sim = run(team(programs=(still, still, forward), radio=9.0), 2.9)
    news_s = sim.communication.network.news_s
    assert 0.0 < news_s[0, 2] <= news_s[1, 2] <= sim.time
    sim.communication.network.hears_of(0, np.array([2]), np.array([0.0]))
    assert news_s[0, 2] > 0.0  # what is older is no news


def test_the_bytes_on_the_air_are_those_of_the_encoded_tiles(monkeypatch):
    sim = team()
    network, codes = sim.communication.network, []
    send = network.send_many

    def spy(senders, tos, sizes, kind, payloads, **options):
        if kind == TILES:
            codes.extend(len(sim.localization.teams[0].beliefs.encode(news)) + HEADER_BYTES for news in payloads)
        send(senders, tos, sizes, kind, payloads, **options)

    monkeypatch.setattr(network, "send_many", spy)
    run(sim, 5.0)
    assert sum(codes) == count(sim, "bytes_sent", TILES).sum() > 0
    tiles = sum(np.count_nonzero(sim.localization.teams[0].beliefs.team.own[i]) for i in range(3))
    assert sum(codes) < 1024 * tiles  # compressed: less than one plain copy of every tile


def test_where_all_hear_all_each_robot_sends_its_news_once():
    sim = run(team(radio=100.0), 1.2)  # asked at 0 and 1 s
    assert all_know_all(sim)
    assert (count(sim, "messages_sent", TILES) <= 2).all()
    assert (count(sim, "messages_received", TILES) <= 4).all()


@pytest.mark.parametrize(
    "radio",
    [
        Radio(range_m=9.0, loss=0.4),
        Radio(range_m=9.0, latency_s=0.7, jitter_s=0.5),
        Radio(range_m=9.0, bandwidth_kbit_s=8.0),
    ],
    ids=["loss", "latency", "bandwidth"],
)
def test_a_bad_radio_delays_maps_and_does_not_harm_them(radio):
    ideal, bad = team(), team(radio=radio)
    run(ideal, 20.0)
    steps = 0
    while not all_know_all(bad) or bad.time < 2.0:
        bad.step()
        steps += 1
        assert bad.time < 30.0
    assert steps > 0
    run(bad, 40.0)
    np.testing.assert_array_equal(
        ideal.localization.teams[0].beliefs.occupancy, bad.localization.teams[0].beliefs.occupancy
    )


def test_a_slow_radio_is_not_flooded_with_repetitions():
    fast, slow = run(team(), 20.0), run(team(radio=Radio(range_m=9.0, bandwidth_kbit_s=4.0)), 60.0)
    assert all_know_all(slow)
    assert count(slow, "bytes_sent", TILES).sum() <= 1.5 * count(fast, "bytes_sent", TILES).sum()


def test_who_does_not_declare_shared_maps_neither_gives_nor_takes():
    sim = team([(-3.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (3.0, 3.0, 0.0)], (still, apart))
    run(sim, 0.9)
    own = known(sim)
    run(sim, 4.0)
    after = known(sim)
    sharing, not_sharing = [0, 1], [2, 3]  # groups follow one another
    assert (after[not_sharing] == own[not_sharing]).all()
    beliefs = sim.localization.teams[0].beliefs
    union = (beliefs[0].own.astype(int) + beliefs[1].own) != 0
    for i in sharing:
        np.testing.assert_array_equal(beliefs[i].occupancy() >= 0, union)


def test_a_robot_that_has_failed_is_silent():
    async def fails(robot):
        await robot.sleep(0.45)
        raise RuntimeError("broken")

    sim = run(team(programs=(still, fails)), 5.0)  # the middle one fails before anybody has asked twice
    members = [sim.names.index(name) for name in ("g0_0", "g0_1")]
    assert (known(sim)[members] < (sim.localization.teams[0].beliefs.union() >= 0).sum()).all()


def test_maps_on_request_move_when_asked_for_and_when_offered():
    async def asks(robot):
        await robot.sleep(1.0)
        robot.request_maps()
        await robot.sleep(1e9)

    async def offers(robot):
        await robot.sleep(2.0)
        robot.share_map()
        await robot.sleep(1e9)

    starts, policy = [(-3.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ShareMaps(policy="on_request")
    sim = team(starts, (asks, offers, still), share_maps=policy)
    sim = run(sim, 0.9)
    asker, offerer, other = known(sim)
    run(sim, 1.8)
    assert known(sim)[0] > asker
    assert known(sim)[1:].tolist() == [offerer, other]
    run(sim, 3.0)
    assert known(sim)[1] == offerer
    assert known(sim)[2] > other


def test_without_share_maps_nothing_moves_unless_asked():
    sim = run(team(share_maps=None), 3.0)
    assert count(sim, "messages_sent", DIGEST).sum() == 0


def test_robots_that_meet_exchange_once():
    async def comes(robot):
        await robot.goto((2.0, 0.0))
        await robot.sleep(3.0)
        await robot.goto((9.0, 0.0))

    policy = ShareMaps(policy="on_meeting", apart_s=1.0)
    sim = team([(0.0, 0.0, 0.0), (9.0, 0.0, 3.14)], (still, comes), radio=5.0, share_maps=policy)
    asked = []
    while sim.time < 20.0:
        sim.step()
        asked.append(tuple(count(sim, "messages_sent", DIGEST)))
    assert asked[-1] == (1, 1)
    apart = np.hypot(*(sim.state.pose[0, :2] - sim.state.pose[1, :2]))
    assert apart > 5.0  # it went away again
    own = sim.localization.teams[0].beliefs
    assert (own[0].occupancy() >= 0).sum() > (own[0].own != 0).sum()


def test_continuous_sharing_keeps_maps_equal_within_three_steps():
    async def drives(robot):
        robot.drive(0.5)
        await robot.sleep(6.0)
        robot.drive(0.0)
        await robot.sleep(1e9)

    sim = team([(-3.0, 2.0, 0.0), (3.0, -2.0, 0.0)], (drives, still), share_maps=ShareMaps(policy="continuous"))
    run(sim, 6.0)
    behind = (sim.localization.teams[0].beliefs.union() >= 0).sum() - known(sim)
    assert behind.max() < 200  # of several thousand
    run(sim, 8.0)
    assert all_know_all(sim)
    before = count(sim, "messages_sent", DIGEST).sum()
    run(sim, 12.0)
    assert count(sim, "messages_sent", DIGEST).sum() == before  # nothing changes: silence


def test_rules_reach_the_maps():
    sim = team(share_maps=ShareMaps(rule="maximum"))
    assert sim.localization.teams[0].beliefs.rule.kind == "maximum"


def test_values_of_another_policy_are_refused():
    with pytest.raises(ValueError, match="every_s belongs to policy every"):
        ShareMaps(policy="continuous", every_s=2.0)
    with pytest.raises(ValueError, match="apart_s belongs to policy on_meeting"):
        ShareMaps(apart_s=2.0)


def test_a_robot_without_a_map_cannot_share_one():
    async def asks(robot):
        robot.request_maps()

    blind = robot().model_copy(update={"mapping": None})
    sim = opened(covey.Simulation(covey.World.empty(6, 6), [Group("r", blind, [(0.0, 0.0, 0.0)], asks)]))
    sim.step()
    assert "has no map" in sim.deciding.failures[0].text
