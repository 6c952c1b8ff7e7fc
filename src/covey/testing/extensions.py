"""Checks of each extension point, as classes for pytest: subclass one, and return from `made` what it checks.

    from covey.testing import SensorChecks
    from mine import Compass

    class TestCompass(SensorChecks):
        def made(self):
            return Compass()

``covey check-extension ./mine.py:Compass`` runs the same checks without pytest.
"""

import inspect
import itertools
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from covey.comms.links import LinkModel
from covey.comms.protocols import Protocol
from covey.controllers.policies.actions import Action
from covey.controllers.policies.observations import Observation
from covey.errors import CoveyError, InvalidValueError, UnknownNameError
from covey.events.fault_records import Fault
from covey.events.records import Event
from covey.lab.out import Out
from covey.lab.play import play
from covey.mapping.exchange.merge_rules import MergeRule
from covey.mapping.localizer import Equipment, LocalizerRecord, Scan, Sensed
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapper, Mapping
from covey.mapping.slam.log import Laser
from covey.missions import Mission
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.physics.records import PhysicsRecord
from covey.planning.planner import Planner
from covey.results.metrics.registry import metrics
from covey.results.run import Run
from covey.robots.model import RobotModel
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.scenario.records import Scenario
from covey.sensors import Lidar, Odometry, Readings, SensorRecord, Wedge, sensor_keys
from covey.testing.comms import check_link, check_protocol
from covey.testing.controllers import check_controller
from covey.testing.missions import check_mission
from covey.testing.sensors import check_sensor, scene
from covey.testing.worlds import check_world
from covey.world.ground import Ground
from covey.world.placement.placing import place
from covey.world.placement.targets import lay
from covey.world.records.starts import StartRecord
from covey.world.records.targets import TargetRecord
from covey.world.records.world_record import WorldRecord
from covey.world.world import World


class Checks:
    """Base of the checks of one extension point.

    Attributes:
        of: the base class of what it checks; None: a function.
        point: the extension point, as in the entry-point group ``covey.<point>``.
    """

    of: ClassVar[type | None] = None
    point: ClassVar[str]

    def made(self) -> Any:
        """Return what is checked, a record with parameters that suit an empty room of 8 x 8 m around the origin."""
        raise NotImplementedError("write def made(self), which returns what is checked")


class RecordChecks(Checks):
    """What holds for all records that files name."""

    def test_it_comes_back_from_plain_data(self) -> None:
        """Its parameters are plain data, from which an equal record is made."""
        record = self.made()
        name, data = type(record).__name__, record.model_dump(mode="json")
        try:
            again = type(record).model_validate(json.loads(json.dumps(data)))
        except ValueError as error:
            raise AssertionError(f"{name} is not made again from its own parameters {data}: {error}") from None
        assert again == record, f"{name} made from {data} differs; keep no state in a record"

    def test_it_goes_to_another_process(self) -> None:
        """It pickles."""
        record = self.made()
        try:
            again = pickle.loads(pickle.dumps(record))
        except Exception as error:
            raise AssertionError(
                f"{type(record).__name__} does not pickle ({error}); define it at the top level of a module"
            ) from error
        assert again == record, f"{type(record).__name__} differs after pickling; derive it with fields only"


class SensorChecks(RecordChecks):
    """Checks of a sensor."""

    of, point = SensorRecord, "sensor"

    def test_readings_are_repeatable_and_independent(self) -> None:
        """See `check_sensor`."""
        check_sensor(self.made())

    def test_it_says_truly_what_it_feeds(self) -> None:
        """Readings that feed scans or degrade have what these need."""
        record = self.made()
        readings = _read(record)
        if "scan" in record.feeds:
            for needed in ("angles", "range_m", "mount", "sees_robots"):
                assert hasattr(record, needed), f"{type(record).__name__} feeds scan but has no {needed}"
            ranges: Any = getattr(readings, "ranges", None)
            shape = np.shape(ranges)
            assert shape == (4, len(record.angles)), f"its readings have ranges of shape {shape}, one for each ray"
        own = type(readings).degrade is not Readings.degrade
        assert not record.degrades or own, (
            f"{type(record).__name__} says degrades = True, but {type(readings).__name__} has no method degrade"
        )

    def test_a_team_drives_with_it(self) -> None:
        """A run with it takes samples."""
        record = self.made()
        ground = Ground.of(np.zeros((17, 17)), 0.5).world() if "ground" in record.feeds else None
        sim, _ = _run(RobotModel(radius_m=0.2, sensors=(record,)), ground)
        bank, due = sim.sensing.banks[0], record.latency_s + 1.0 / record.rate_hz < 1.0
        assert bank.newest is not None or not due, f"{record.name!r} took no sample in 1 s"


class LocalizerChecks(RecordChecks):
    """Checks of a localizer."""

    of, point = LocalizerRecord, "localizer"

    def test_estimates_are_finite_repeatable_and_of_the_right_shape(self) -> None:
        """Two localizers with the same seed give the same poses; covariances are symmetric or not known."""
        record = self.made()
        first, again = _estimates(record), _estimates(record)
        name = type(record).__name__
        for one, other in zip(first, again, strict=True):
            pose, covariance, revision = (np.asarray(part) for part in one)
            assert pose.shape == (3, 3), f"{name} gives poses of shape {pose.shape} for 3 robots; (3, 3) is right"
            assert covariance.shape == (3, 3, 3), f"{name} gives covariances of shape {covariance.shape}; not (3, 3, 3)"
            assert revision.shape == (3,), f"{name} gives revisions of shape {revision.shape}; not (3,)"
            assert np.isfinite(pose).all(), f"{name} gives poses that are not finite"
            swapped = np.swapaxes(covariance, 1, 2)
            assert np.allclose(covariance, swapped, equal_nan=True), f"{name} gives covariances that are not symmetric"
            assert np.array_equal(pose, np.asarray(other[0])), (
                f"{name} does not repeat itself under the same seed; draw from covey.random"
            )


class MapperChecks(RecordChecks):
    """Checks of a mapper."""

    of, point = Mapper, "mapper"

    def test_scans_become_the_same_map_twice(self) -> None:
        """The map is repeatable, holds unknown, free and occupied cells only, and leaves the scan as it is."""
        record = self.made()
        if not isinstance(record, Mapping):
            robot = RobotModel(radius_m=0.2, sensors=(Wedge(),), mapping=record)
            sims = [_run(robot, Ground.of(np.zeros((17, 17)), 0.5).world())[0] for _ in range(2)]
            first, again = (sim.localization.belief_of[0].occupancy() for sim in sims)
            assert np.array_equal(first, again), f"{type(record).__name__} makes different maps of the same run"
            return
        lidar = Lidar(rays=90, range_m=6.0)
        ranges = _read(lidar).ranges.copy()
        ranges.flags.writeable = False
        maps = []
        for _ in range(2):
            beliefs = Beliefs(["a"], (16.0, 16.0), (-4.0, -4.0), record)
            beliefs.update(np.array([0]), np.zeros((1, 3)), ranges[:1], lidar.angles, lidar.mount, lidar.range_m, 0)
            maps.append(beliefs[0].occupancy().copy())
        assert np.array_equal(*maps), f"{type(record).__name__} makes different maps of one scan"
        assert np.isin(maps[0], (-1, 0, 100)).all(), f"{type(record).__name__} makes cells other than -1, 0 and 100"


class MissionChecks(RecordChecks):
    """Checks of a mission."""

    of, point = Mission, "mission"

    def test_it_measures_and_changes_nothing(self) -> None:
        """See `check_mission`."""
        check_mission(self.made())


class EventChecks(RecordChecks):
    """Checks of an event."""

    of, point = Event, "event"

    def test_it_happens_in_the_same_way_twice(self) -> None:
        """Two runs with it have the same events and poses."""
        record = self.made()
        first, again = (_seen(_run(events=[record])[1]) for _ in range(2))
        assert first == again, (
            f"{type(record).__name__} does not repeat itself under the same seed; draw from at.random"
        )


class FaultChecks(RecordChecks):
    """Checks of a fault."""

    of, point = Fault, "fault"

    def test_it_strikes_and_ends(self) -> None:
        """Two runs with it are the same; a robot is struck; a fault that ends leaves a robot that goes on."""
        record = self.made()
        robot = RobotModel(radius_m=0.2, sensors=(Lidar(rays=30), Odometry()))
        (_, first), (_, again) = (_run(robot, faults=[record]) for _ in range(2))
        name = type(record).__name__
        assert _seen(first) == _seen(again), (
            f"{name} does not repeat itself under the same seed; draw from what drawn() is given"
        )
        assert first.count("fault"), f"{name} struck no robot with a lidar and odometry"


class StartChecks(RecordChecks):
    """Checks of a start."""

    of, point = StartRecord, "start"

    def test_robots_fit(self) -> None:
        """Three robots stand in an empty room, at the same places twice."""
        record = self.made()
        poses = [place(record, _room(), [0.2] * 3, np.random.default_rng(5)) for _ in range(2)]
        assert poses[0].shape == (3, 3), f"{type(record).__name__} gives {len(poses[0])} poses for 3 robots"
        assert np.array_equal(poses[0], poses[1]), (
            f"{type(record).__name__} does not repeat itself; draw from `random` alone"
        )


class TargetChecks(RecordChecks):
    """Checks of a declaration of targets."""

    of, point = TargetRecord, "target"

    def test_targets_lie_in_the_room(self) -> None:
        """They lie at the same places twice."""
        record = self.made()
        first, again = (lay([record], _room(), np.zeros((1, 3)), np.array([0.2]), 5) for _ in range(2))
        assert np.array_equal(first.positions, again.positions), (
            f"{type(record).__name__} does not repeat itself; draw from `random` alone"
        )


class WorldChecks(RecordChecks):
    """Checks of a world."""

    of, point = WorldRecord, "world"

    def test_the_same_seed_gives_the_same_world(self) -> None:
        """See `check_world`."""
        check_world(self.made())


class LinkChecks(RecordChecks):
    """Checks of a link model."""

    of, point = LinkModel, "link"

    def test_pairs_are_answered_independently(self) -> None:
        """See `check_link`."""
        check_link(self.made())


class ProtocolChecks(RecordChecks):
    """Checks of a protocol."""

    of, point = Protocol, "protocol"

    def test_each_message_arrives_once(self) -> None:
        """See `check_protocol`."""
        check_protocol(self.made())


class PhysicsChecks(RecordChecks):
    """Checks of a physics."""

    of, point = PhysicsRecord, "physics"

    def test_a_team_moves_the_same_way_twice(self) -> None:
        """Robots that drive move, stay finite, and repeat themselves."""
        record = self.made()
        (sim, first), (_, again) = (_run(physics=record) for _ in range(2))
        name, poses = type(record).__name__, first.measurements["x_m", "y_m", "heading_rad"]
        assert np.isfinite(sim.state.pose).all(), f"{name} gives poses that are not finite"
        assert poses.n_unique() > 3, f"{name} moves no robot; step must write state.pose"
        assert _seen(first) == _seen(again), f"{name} does not repeat itself; draw from covey.random"


class PlannerChecks(RecordChecks):
    """Checks of a planner."""

    of, point = Planner, "planner"

    def test_routes_lead_through_the_gap_to_the_goal(self) -> None:
        """A route begins and ends where it must, leads through a gap in a wall, and is the same twice."""
        record, name = self.made(), type(self.made()).__name__
        cost = np.ones((20, 30), np.float32)
        cost[:, 15] = np.inf
        cost[4:8, 15] = 3.0
        cost.flags.writeable = False
        start, goal = (15, 3), (15, 27)
        corners, again = (self._corners(record, cost, start, goal) for _ in range(2))
        assert corners.ndim == 2 and corners.shape[1] == 2 and corners.dtype.kind == "i", (  # noqa: PT018
            f"{name} gives {corners.dtype} of shape {corners.shape}; rows and columns are int64 (k, 2)"
        )
        ends = corners[:1].tolist() + corners[-1:].tolist()
        assert ends == [list(start), list(goal)], f"{name} gives a route from and to {ends}, not {start} and {goal}"
        cells = np.concatenate([np.rint(np.linspace(a, b, 200)).astype(int) for a, b in itertools.pairwise(corners)])
        assert np.isfinite(cost[cells[:, 0], cells[:, 1]]).all(), f"{name} leads through cells of infinite cost"
        assert np.array_equal(corners, again), f"{name} gives another route the second time"

    def test_its_fields_cannot_change(self) -> None:
        """Maps of costs are kept by robot and planner, so it can be hashed."""
        record = self.made()
        try:
            hash(record)
        except TypeError as error:
            raise AssertionError(f"a field of {type(record).__name__} can change ({error}); use tuples") from None

    def test_without_a_way_there_is_no_route(self) -> None:
        """Behind a closed wall there are no corners."""
        record, cost = self.made(), np.ones((9, 9), np.float32)
        cost[:, 4] = np.inf
        corners = self._corners(record, cost, (4, 1), (4, 7))
        assert len(corners) == 0, f"{type(record).__name__} gives a route where there is none; return np.empty((0, 2))"

    def _corners(self, record: Any, *where: Any) -> np.ndarray:
        answer, name = record.corners(*where), type(record).__name__
        assert isinstance(answer, tuple) and len(answer) == 2, (  # noqa: PT018
            f"{name} gives {type(answer).__name__}; corners returns the corners and the work of the search"
        )
        assert answer[1] >= 0, f"{name} says that its search is {answer[1]!r} work; it is a number from 0"
        return np.asarray(answer[0])


class MergerChecks(RecordChecks):
    """Checks of a merge rule."""

    of, point = MergeRule, "merger"

    def test_what_one_robot_sees_is_known_to_the_other(self) -> None:
        """Its parts are as they must be. Of two robots one looks; after sharing, both have its map."""
        record, lidar = self.made(), Lidar(rays=90, range_m=6.0)
        try:
            first, again = record.table(), record.table()
        except CoveyError as error:
            raise AssertionError(str(error)) from None
        assert np.array_equal(first, again), f"{type(record).__name__} gives other parts the second time"
        beliefs = Beliefs(["a", "b"], (16.0, 16.0), (-4.0, -4.0), rule=record)
        ranges = _read(lidar).ranges[:1]
        beliefs.update(np.array([0]), np.zeros((1, 3)), ranges, lidar.angles, lidar.mount, lidar.range_m, 0)
        beliefs.share(np.ones((2, 2), bool))
        assert np.array_equal(*beliefs.occupancy), f"{type(record).__name__} loses what only another robot has seen"


class ControllerChecks(Checks):
    """Checks of a controller, a function or a class."""

    point = "controller"

    def test_it_drives_and_keeps_to_what_it_knows(self) -> None:
        """See `check_controller`."""
        check_controller(self.made())


class MetricChecks(Checks):
    """Checks of a metric, a function of a run."""

    point = "metric"

    def test_it_is_plain_and_the_same_twice(self) -> None:
        """A short run has a number, a text, a dict by robot, or None."""
        metric = self.made()
        _, run = _run()
        first, again = metric(run), metric(run)
        name = getattr(metric, "__name__", metric)
        assert first is None or isinstance(first, (bool, int, float, str, dict, np.generic)), (
            f"metric {name} returns {type(first).__name__}; a number, a text, a dict by robot or None is right"
        )
        assert repr(first) == repr(again), f"metric {name} gives {first!r} and then {again!r} for the same run"


class RobotChecks(Checks):
    """Checks of a robot: a model, or a function without arguments that makes one."""

    point = "robot"

    def test_it_drives(self) -> None:
        """It is a model, and a team of three drives around."""
        made = self.made()
        model = made() if callable(made) else made
        assert isinstance(model, RobotModel), f"it gives {type(model).__name__}; a RobotModel is right"
        _run(robots=model)


class ObservationChecks(RecordChecks):
    """Checks of what a policy observes."""

    of, point = Observation, "observation"

    def test_observations_fit_their_space_and_repeat_themselves(self) -> None:
        """Robots that are driven observe arrays of the shape and bounds that `space` says, the same twice."""
        record = self.made()
        first, again = (_learned(observe=record) for _ in range(2))
        assert first == again, f"{type(record).__name__} does not repeat itself under the same seed"


class ActionChecks(RecordChecks):
    """Checks of what a policy chooses."""

    of, point = Action, "action"

    def test_choices_move_the_robots(self) -> None:
        """Any choices of its space move robots, the same way twice."""
        record = self.made()
        first, again = (_learned(action=record, observe="pose") for _ in range(2))
        name = type(record).__name__
        assert first == again, f"{name} does not repeat itself under the same seed"
        assert len({*first}) > 1, f"{name} moves no robot, whatever is chosen"


class AddonChecks(Checks):
    """Checks of an add-on of `covey.play`, a class or an object."""

    point = "addon"

    def test_it_watches_and_changes_nothing(self) -> None:
        """A run with it has the poses of a run without it, and what it gives is the same twice."""
        first, again, alone = (_played(addons) for addons in ([self.made()], [self.made()], []))
        name = getattr(self.made(), "__name__", type(self.made()).__name__)
        assert np.array_equal(first.poses, alone.poses), f"add-on {name} changes the run; it may only watch and draw"
        assert repr(first.data) == repr(again.data), f"add-on {name} gives other data in the same run"


POINTS: tuple[type[Checks], ...] = (
    *(SensorChecks, LocalizerChecks, MapperChecks, MissionChecks, EventChecks, FaultChecks, StartChecks, TargetChecks),
    *(WorldChecks, LinkChecks, ProtocolChecks, PhysicsChecks, PlannerChecks, MergerChecks),
    *(ObservationChecks, ActionChecks, AddonChecks, ControllerChecks, MetricChecks, RobotChecks),
)


def check_extension(target: Any, point: str = "") -> Iterator[tuple[str, str]]:
    """Check something for an extension point; yield the name of each check, and what is wrong: empty if it is good.

    Args:
        target: a class of records, which is made with its defaults, or a function.
        point: the extension point; empty: that of its base class. A function can be one of ``controller``, ``metric``,
            ``link`` and ``robot``, so it needs this.

    Raises:
        InvalidValueError: it fits no extension point, or cannot be made without parameters.
    """
    checks = _checks_of(target, point)
    if checks.of is not None and isinstance(target, type):
        if lacks := sorted(getattr(target, "__abstractmethods__", ())):
            raise InvalidValueError(f"{target.__name__} lacks {' and '.join(lacks)}: write def {lacks[0]}(…)")
        try:
            target()
        except CoveyError as error:
            raise InvalidValueError(
                f"{target.__name__}() cannot be made without parameters: {error}; give each field a default, or "
                f"subclass covey.testing.{checks.__name__} and return one from made()"
            ) from None
    one = type(checks.__name__, (checks,), {"made": lambda self: _made(checks, target)})()
    for name, test in inspect.getmembers(one, inspect.ismethod):
        if name.startswith("test_"):
            yield name.removeprefix("test_").replace("_", " "), _wrong(test)


def _made(checks: type[Checks], target: Any) -> Any:
    if checks.of is None:
        return target
    return target() if isinstance(target, type) else checks.of.of_function(target, getattr(target, "__name__", ""))  # type: ignore[attr-defined]


def _wrong(test: Callable[[], None]) -> str:
    try:
        test()
    except AssertionError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _checks_of(target: Any, point: str) -> type[Checks]:
    known = {checks.point: checks for checks in POINTS}
    if callable(target) and target is metrics.items().get(getattr(target, "__name__", "")):
        point = point or metrics.kind
    if point:
        if point not in known:
            raise UnknownNameError("extension point", point, known)
        base = known[point].of
        if base is not None and isinstance(target, type) and not issubclass(target, base):
            raise InvalidValueError(f"{target.__name__} is no {point}; derive it from {base.__name__}")
        return known[point]
    for checks in POINTS:
        if checks.of is not None and isinstance(target, type) and issubclass(target, checks.of):
            return checks
    if isinstance(target, type) and hasattr(target, "draw"):
        return AddonChecks
    if hasattr(target, "covey_scope") or (isinstance(target, type) and hasattr(target, "step")):
        return ControllerChecks
    if isinstance(target, RobotModel):
        return RobotChecks
    bases = ", ".join(f"{c.of.__name__} ({c.point})" for c in POINTS if c.of is not None)
    if callable(target) and not isinstance(target, type):
        raise InvalidValueError("a function can be a controller, a metric, a link or a robot; say which: --as metric")
    name = getattr(target, "__name__", repr(target))
    raise InvalidValueError(f"{name:.60} is nothing that Covey can use; derive the class from one of {bases}")


def _room() -> World:
    return World.empty(8, 8, resolution_m=0.1)


def _read(record: Any) -> Any:
    names = ["a0", "a1", "a2", "a3"]
    return record.read(scene(), np.arange(4), sensor_keys(7, record.name, names), 5)


def _run(robots: RobotModel | None = None, world: World | None = None, **settings: Any) -> tuple[Simulation, Run]:
    """Return a simulation of three robots that drive around for a second, and what it has recorded."""
    model = robots or RobotModel(radius_m=0.2, sensors=(Lidar(rays=30),))
    start = np.array([[-2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    group = Group("robot", model, start, Program("wander"))
    sim = Simulation(world or _room(), [group], seed=11, stop=Stop(timeout_s=1.0), **settings)
    return sim, sim.run()


def _seen(run: Run) -> tuple[Any, Any]:
    """Return the events of a run, and where the robots were."""
    return run.events.rows(), run.measurements["x_m", "y_m", "heading_rad"].rows()


def _learned(**given: Any) -> list[str]:
    """Return what three robots observe whose policy chooses at random, in five decisions."""
    from covey.learning import env  # needs the libraries of the extra learning

    robot = {"base": "disc", "sensors": ["lidar", "odometry", "neighbours"], "mapping": {}}
    group = {"robot": robot, "count": 3, "start": [[-2, 0, 0], [0, 0, 90], [2, 0, -90]]}
    scenario = {"world": {"empty_m": [8, 8]}, "robots": [group], "mission": "dispersion"}
    world = env(Scenario.model_validate(scenario), goals=True, **given)
    shown, _ = world.reset(seed=5)
    observations = [repr(shown)]
    for k in range(5):
        chosen = {}
        for i, name in enumerate(world.agents):
            world.action_space(name).seed(10 * k + i)
            chosen[name] = world.action_space(name).sample()
        shown, *_ = world.step(chosen)
        for name, value in shown.items():
            space = world.observation_space(name)
            assert space.contains(value), f"{value!r:.200} is not within the space {space}"
        observations.append(repr(shown))
    world.close()
    return observations


def _played(addons: list[Any]) -> Out:
    return play("lloyd", addons=addons, robots=4, stop_s=0.5, speed="max")


def _estimates(record: LocalizerRecord) -> list[Any]:
    """Return the estimates of three robots that drive in a room, in five steps."""
    lidar, truth = Lidar(rays=90, range_m=6.0), scene()
    ranges = _read(lidar).ranges[:3]
    laser = Laser(lidar.angles, lidar.range_m, tuple(lidar.mount.tolist()))
    room = _room()
    plan = np.where(room.grid.cells == 1, 100, 0).astype(np.int8)
    equipment = Equipment(
        laser if "scan" in record.needs else None, Odometry().noise_model, lambda _file: room.grid.with_cells(plan)
    )
    localizer = record.build(["a", "b", "c"], 7, equipment)
    motion = np.tile([0.05, 0.0, 0.02], (3, 1))
    found = []
    for step in range(5):
        pose = truth.pose[:3].copy()
        pose.flags.writeable = False
        scan = Scan(ranges, laser, np.zeros((3, 3))) if "scan" in record.needs else None
        found.append(localizer.update(Sensed(step, pose, [motion], scan, 0.1 * step)))
    return found
