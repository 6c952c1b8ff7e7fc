"""`Bridge`: a simulation as a team of robots in a graph of ROS 2."""

import logging
import math
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from covey.geometry.se2 import Pose, compose, inverse
from covey.ros import messages as m
from covey.ros.commands import RosCommands
from covey.ros.control import Control
from covey.ros.dds import Participant
from covey.ros.description import urdf_of
from covey.ros.host import BridgeHost
from covey.ros.messages import BASE, FOOTPRINT, MAP, ODOM, Stamp
from covey.ros.pace import Pacer
from covey.ros.parameters import Parameters, known_of
from covey.ros.qos import CLOCK, LATCHED, ODOMETRY, SENSOR, STATE, TF
from covey.ros.reckoning import Reckoning
from covey.ros.robot_node import RobotNode
from covey.ros.sensor_topics import Output, output_of
from covey.ros.settings import BridgeSettings
from covey.runtime.hosting import Hosting
from covey.runtime.phases.sensing import BankSample, SensorBank
from covey.runtime.simulation import Simulation

__all__ = ["Bridge"]

LOG = logging.getLogger("covey")
_AGAIN_S = 1.0  # how often lockstep sends a step again to robots without an answer: either may have been lost [s]
_SERVE_S = 0.02  # how often it looks for new readers and requests meanwhile
_SAY_S = 10.0
_TICK_NS = 10_000_000  # of the clock between two steps
_STRING = "std_msgs/msg/String"


class Bridge:
    """A simulation as a team of robots in a graph of ROS 2.

    Give the simulation its `hosting`, and `before_step` to its `run`::

        bridge = Bridge(Participant(), Settings())
        sim = covey.Simulation(world, 3, controller="commanded", hosting=bridge.hosting)
        run = sim.run(before_step=bridge.before_step)

    A step: the robots sense; their readings, odometry and transforms are sent, last of all the clock; in lockstep it
    waits for the answers; the commands that have come are taken; the robots act. So a command acts from the time of the
    newest clock on.

    Args:
        participant: of this process.
        settings: what is told, and how time passes.

    Attributes:
        repeatable: whether the same run gives the same result.
        pacer: pause, speed, and the count of late steps.
        again: the run is to begin anew.
    """

    host: BridgeHost

    def __init__(self, participant: Participant, settings: BridgeSettings = BridgeSettings()):
        self.participant, self.settings = participant, settings
        self.repeatable, self.again = not settings.drives, False
        self.pacer = Pacer(None if isinstance(settings.speed, str) else settings.speed)
        self.node, self.parameters = participant.node("covey"), Parameters(participant)
        self._clock = self.node.writer("/clock", "rosgraph_msgs/msg/Clock", CLOCK)
        self.sim: Simulation | None = None
        self.robots: list[RobotNode] = []

    @property
    def hosting(self) -> Hosting:
        """For the simulation: where its controllers run, which is in its process."""
        return {}, partial(BridgeHost, self)

    # -- before a step -------------------------------------------------------------------------------------------------

    def before_step(self, sim: Simulation) -> None:
        """Do what was asked for, and wait until the step may begin."""
        if sim is not self.sim:
            self._attach(sim)
        self.pacer.wait(sim.clock.step_s, self.control.apply, self._tick)

    def _tick(self, left_s: float) -> None:
        """Tell the time between two steps, and what is sensed there without a transform.

        The way to the next step is known, as its commands have been taken.

        Args:
            left_s: simulated time until the next step [s].
        """
        sim = self.sim
        assert sim is not None
        nanoseconds = round(1e9 * (sim.time - left_s)) // _TICK_NS * _TICK_NS
        substep = int(nanoseconds // round(1e9 * sim.clock.substep_s))
        if nanoseconds <= self._told_ns or substep >= sim.clock.now:
            return
        self._told_ns = nanoseconds
        sim.sense_until(self._between, substep)
        for bank in self._between:
            self._send_samples(bank, [one for one in bank.late if one.substep + bank.delay <= substep])
        self._clock.write(m.clock(divmod(nanoseconds, 1_000_000_000)))

    def _send_samples(self, bank: SensorBank, samples: Iterable[BankSample]) -> None:
        """Send the samples of a bank that have not been sent yet."""
        sim, k = self.sim, self._number[id(bank)]
        assert sim is not None
        for sample in samples:
            if sample.substep > self._sent_until[k]:
                self._sent_until[k] = sample.substep
                taken = m.stamp_of(sample.substep, sim.clock.substep_s)
                for row, send in enumerate(self._outputs[k]):
                    if send is not None:
                        send(taken, sample.readings, row)

    def _attach(self, sim: Simulation) -> None:
        """Get to know a simulation before its first step."""
        first, self.sim, self.again = self.sim is None, sim, False
        for bank in sim.sensing.banks:
            bank.unread = False
        if first:
            self._announce(sim)
        for commands in self.commands.values():
            commands.begin()
        self.pacer.begin()
        banks = sim.sensing.banks
        self._number = {id(bank): k for k, bank in enumerate(banks)}
        self._between = [bank for bank in banks if bank.record.between_steps]
        self._sent_until, self._told_ns = [-1] * len(banks), 0
        self._next_state, self._had_tags = 0.0, set[int]()
        self._reckoning = Reckoning(sim)
        self.control.begin(sim)

    def _announce(self, sim: Simulation) -> None:
        """Make the nodes of the robots, their topics and their frames."""
        settings, participant = self.settings, self.participant
        own_maps = sim.localization.frames is not None
        self._spatial = sim.world_state.ground is not None
        how = settings.prefixed, own_maps, settings.speed == "lockstep", not self._spatial
        self.robots = [RobotNode(participant, name, *how) for name in sim.names]
        static: list[list[m.Fields]] = [[] for _ in self.robots]
        self._outputs: list[list[Output | None]] = []
        spread = not isinstance(settings.speed, str)
        first = [sim.sensing.first_of(np.array([i]), "scan") for i in range(len(sim.names))]
        for bank in sim.sensing.banks:
            made = [output_of(bank.record, bank is first[i], self.robots[i], static[i]) for i in bank.members.tolist()]
            self._outputs.append(made)
            together = math.ceil(bank.record.rate_hz * sim.clock.step_s - 1e-9)
            if any(made) and together > SENSOR.depth and not (spread and bank.record.between_steps):
                LOG.warning(
                    "%s: the %d samples of a step of %g s are sent together, but readers with the profile of sensors "
                    "keep %d: read it with a depth of %d or more, or give -s execution.step_s=%g",
                    *(bank.record.name, together, sim.clock.step_s, SENSOR.depth, together),
                    float(sim.clock.step_s * max(1, SENSOR.depth // 2) / together),
                )
        if not self._spatial:
            for node, frames in zip(self.robots, static, strict=True):
                frames.append(m.transform(node.frame(FOOTPRINT), node.frame(BASE), (0.0, 0.0, 0.0, 0.0)))
        self._frames_of(static)
        self._describe(sim, static)
        types = participant.types
        self._odometry = [
            m.OdometryMessage(types, node.frame(ODOM), node.frame(FOOTPRINT), planar=not self._spatial)
            for node in self.robots
        ]
        self._send_odometry = [node.topic("odom", m.OdometryMessage.TYPE, ODOMETRY) for node in self.robots]
        localized = self.robots if settings.localization else []
        self._estimates = [m.EstimateMessage(types, node.map_frame) for node in localized]
        self._send_pose = [node.topic("pose", m.EstimateMessage.TYPE, STATE) for node in localized]
        self._send_contact = [node.topic("contact", "std_msgs/msg/Bool", STATE) for node in self.robots]
        self._send_state = [
            node.messages("state", "diagnostic_msgs/msg/DiagnosticStatus", STATE) for node in self.robots
        ]
        self._send_battery = [
            node.messages("battery_state", "sensor_msgs/msg/BatteryState", STATE)
            for node in self.robots
            if settings.battery_wh is not None
        ]
        self._truth = [
            m.OdometryMessage(types, MAP, node.frame(FOOTPRINT)) for node in self.robots if settings.true_poses
        ]
        self._send_truth = [
            node.topic("ground_truth", m.OdometryMessage.TYPE, ODOMETRY) for node in self.robots if settings.true_poses
        ]
        mixed = len(self.driven) < len(self.robots)
        self.commands = {i: RosCommands(self.robots[i], settings, mixed) for i in self.driven}
        self._news = participant.waiter(*(reader for one in self.commands.values() for reader in one.seldom))
        self._await_answer = participant.waiter(*(reader for one in self.commands.values() for reader in one.often))
        self._send_tags = [node.messages("tags", "visualization_msgs/msg/MarkerArray", STATE) for node in self.robots]
        self.control = Control(self)

    def _describe(self, sim: Simulation, static: list[list[m.Fields]]) -> None:
        """Send what the robots look like, and offer what is known of them as parameters."""
        about = {"seed": sim.seed, "step_s": float(sim.clock.step_s), "substep_s": float(sim.clock.substep_s)}
        about |= {"speed": str(self.settings.speed), "robots": list(sim.names), "world": sim.world.name}
        self.parameters.offer(self.node, {"use_sim_time": False, **about})
        groups = [group for group in sim.groups for _ in group.start]
        for node, group, frames in zip(self.robots, groups, static, strict=True):
            text = urdf_of(group.robot, node.namespace, node.frame(FOOTPRINT), node.frame(BASE), frames)
            writer = node.node.writer("robot_description", _STRING, LATCHED)
            writer.write(self.participant.types.encode(_STRING, {"data": text}))
            self.parameters.offer(node.node, {"use_sim_time": False, **known_of(group.robot, group.program)})

    def _frames_of(self, static: list[list[m.Fields]]) -> None:
        """Send the transforms that never change, and prepare those that do."""
        pairs = [self._moving(node) for node in self.robots]
        types, latched = self.participant.types, m.Transforms.TYPE
        if self.settings.prefixed:
            self._tf = [m.Transforms(types, [pair for own in pairs for pair in own])]
            self._send_tf = [self.robots[0].sender(self.node.writer("/tf", latched, TF))]
            every = [transform for frames in static for transform in frames]
            self._static = [self.node.writer("/tf_static", latched, LATCHED)]
            self._static[0].write(types.encode(latched, {"transforms": every}))
            return
        self._tf = [m.Transforms(types, own) for own in pairs]
        self._send_tf = [node.topic("tf", latched, TF) for node in self.robots]
        self._static = [node.node.writer("tf_static", latched, LATCHED) for node in self.robots]
        for writer, frames in zip(self._static, static, strict=True):
            writer.write(types.encode(latched, {"transforms": frames}))

    def _moving(self, node: RobotNode) -> list[tuple[str, str]]:
        """Return the frames of a robot that change, as parent and child."""
        pairs = [(node.frame(ODOM), node.frame(FOOTPRINT))]
        if self.settings.localization:
            pairs.insert(0, (node.map_frame, node.frame(ODOM)))
        if self._spatial:
            pairs.append((node.frame(FOOTPRINT), node.frame(BASE)))
        return pairs

    @property
    def driven(self) -> list[int]:
        """The robots that ROS drives, by team index."""
        sim = self.sim
        assert sim is not None
        programs = [group.program for group in sim.groups for _ in group.start]
        return [i for i, program in enumerate(programs) if program is not None and program.name == "commanded"]

    # -- in a step, between sensing and deciding -----------------------------------------------------------------------

    def exchange(self) -> None:
        """Tell ROS what the robots have sensed, and take its commands."""
        sim = self.sim
        if sim is None:  # stepped without `before_step`
            return
        stamp = m.stamp_of(sim.clock.now, sim.clock.substep_s)
        self.participant.poll()
        for node in self.robots:
            node.sent.clear()
        self._send_motion(sim, stamp)
        for bank in sim.sensing.banks:
            self._send_samples(bank, bank.samples)
        self._send_others(sim, stamp)
        self.control.send(stamp)
        self._clock.write(m.clock(stamp))
        self._told_ns = stamp[0] * 1_000_000_000 + stamp[1]
        if self.settings.speed == "lockstep":
            self._wait_for_answers(sim, stamp)
        self._take(sim, stamp)
        for i, commands in self.commands.items():
            if commands.team.used:  # its node exchanges maps itself
                sim.map_exchange.leave(i)

    def _send_motion(self, sim: Simulation, stamp: Stamp) -> None:
        """Send transforms and odometry."""
        odom, *about = self._reckoning.update()
        own = sim.localization.in_own_frames(slice(None), sim.localization.pose)
        self._own, self._map_odom = own, compose(own, inverse(odom))
        odom_rows = m.rows_of(odom)
        rows = [odom_rows]
        if self.settings.localization:
            rows.insert(0, m.rows_of(self._map_odom))
        if self._spatial:
            rows.append(m.rows_of(np.zeros_like(odom), sim.state.altitude_roll_pitch))
        together = np.stack(rows, axis=1)
        if self.settings.prefixed:
            self._send_tf[0](self._tf[0].encode(stamp, together.reshape(-1, 7)))
        else:
            for tf, send, of_robot in zip(self._tf, self._send_tf, together, strict=True):
                send(tf.encode(stamp, of_robot))
        for odometry, send, row, spread, twist, twist_spread in zip(
            self._odometry, self._send_odometry, odom_rows, *about, strict=True
        ):
            send(odometry.encode(stamp, row, twist, spread, twist_spread))
        if self._truth:
            true = m.rows_of(sim.state.pose, sim.state.altitude_roll_pitch if self._spatial else None)
            speeds = sim.state.twist.tolist()
            for truth, send, row, twist in zip(self._truth, self._send_truth, true, speeds, strict=True):
                send(truth.encode(stamp, row, twist))

    def _send_others(self, sim: Simulation, stamp: Stamp) -> None:
        """Send the estimates, contacts and states."""
        if self._send_pose:
            spreads = sim.localization.covariances(range(len(self._own)))
            poses = zip(self._estimates, self._send_pose, m.rows_of(self._own), spreads, strict=True)
            for estimate, send, row, spread in poses:
                send(estimate.encode(stamp, row, spread))
        for i, commands in self.commands.items():
            commands.tell_answers()
            mailbox, entries = sim.communication.mailboxes[i], sim.communication.blackboard.entries
            if mailbox.inbox:
                commands.radio.hear(self.host.handle(i))
            commands.team.hear(mailbox, entries, stamp[0] * 1_000_000_000 + stamp[1])
        near = sim.communication.tags_in_reach or {}
        for i in near.keys() | self._had_tags:
            tags = near.get(i, ())
            places = np.array([(t.distance_m * np.cos(t.bearing), t.distance_m * np.sin(t.bearing), 0.0) for t in tags])
            said, owners = [str(tag.content) for tag in tags], [tag.owner for tag in tags]
            frame = self.robots[i].frame(FOOTPRINT)
            self._send_tags[i](m.markers(stamp, frame, owners, range(len(tags)), places, said))
        self._had_tags = set(near)
        touches = ~np.isnan(sim.state.contact_bearing)
        for send, touch in zip(self._send_contact, touches.tolist(), strict=True):
            send(b"\0\1\0\0\1\0\0\0" if touch else b"\0\1\0\0\0\0\0\0")
        if sim.time < self._next_state - 1e-9:
            return
        self._next_state = sim.time + 1.0
        for i, node in enumerate(self.robots):
            self._send_state[i](self._state_of(sim, i, node))
            if self._send_battery:
                assert self.settings.battery_wh is not None
                self._send_battery[i](m.battery(stamp, float(sim.scoring.energy_j[i]), self.settings.battery_wh))

    def _state_of(self, sim: Simulation, i: int, node: RobotNode) -> m.Fields:
        """Return what a robot does, as a DiagnosticStatus."""
        answer, halted = sim.deciding.answered.get(i), bool(sim.state.halted[i])
        values: dict[str, Any] = {
            "distance_m": f"{sim.state.distance_m[i]:.3f}",
            "energy_j": f"{sim.scoring.energy_j[i]:.3f}",
            "collisions_robot": int(sim.scoring.collisions_robot[i]),
            "collisions_wall": int(sim.scoring.collisions_wall[i]),
        }
        if i in self.commands:
            values["refused_commands"] = self.commands[i].bad
        return m.status(sim.names[i], "halted" if halted else answer.status if answer else "", values, wrong=halted)

    def _take(self, sim: Simulation, stamp: Stamp) -> None:
        """Give the robots the commands that have come."""
        news = self._news(0.0) or bool(self.participant.delayed)
        places = zip(self._own.tolist(), self._map_odom.tolist(), strict=True)
        for i, (at, odom) in enumerate(places):
            if (commands := self.commands.get(i)) is not None:
                letters = sim.communication.mailboxes[i], sim.communication.blackboard
                commands.apply(self.host.handle(i), letters, sim.time, stamp, Pose(*at), Pose(*odom), news)
        self.control.serve()

    # -- lockstep ------------------------------------------------------------------------------------------------------

    def _wait_for_answers(self, sim: Simulation, stamp: Stamp) -> None:
        """Wait until each robot that ROS drives, and that can act, has an answer for this time."""
        gone, begun = sim.deciding.failed | set(sim.deciding.down), time.perf_counter()
        waiting = [i for i in self.commands if i not in gone]
        look, say, again = begun + _SERVE_S, begun + _SAY_S, begun + _AGAIN_S
        while not sim.done:
            for i, commands in self.commands.items():
                commands.take_answers(self.host.handle(i), sim.time, stamp)
            waiting = [i for i in waiting if not self.commands[i].has_answered(stamp)]
            if not waiting:
                return
            now = time.perf_counter()
            if now >= look:
                look = now + _SERVE_S
                self._take(sim, stamp)
                self.control.apply()
                self._send_to_newcomers(stamp)
            if now >= again:
                again = now + _AGAIN_S
                for i in waiting:
                    self.robots[i].send_again()
                self._clock.write(m.clock(stamp))
            if now >= say:
                say = now + 60.0
                names = ", ".join(sim.names[i] for i in waiting[:5]) + (" …" if len(waiting) > 5 else "")
                LOG.warning("lockstep: waiting for answers of %d robots: %s", len(waiting), names)
            self._await_answer(look - now)

    def _send_to_newcomers(self, stamp: Stamp) -> None:
        """Send the messages of this step again to readers that have just come, and the clock after them."""
        if new := self.participant.poll():
            for node in self.robots:
                node.send_again(new)
            self._clock.write(m.clock(stamp))
