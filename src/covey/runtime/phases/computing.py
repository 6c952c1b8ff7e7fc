"""Computing: how long the computer of each robot is busy, what it misses meanwhile, and when its commands act."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.clock import Clock
from covey.errors import ControllerError
from covey.onboard.group import Group
from covey.onboard.motions import STILL, Twist
from covey.results.computers import ComputerSample
from covey.robots.computer import Computer
from covey.runtime.execution import Execution

POLL_S = 5.0
"""Period at which the use of processors and memory is sampled [s], as in Yan et al. 2017."""
_EPS = 1e-9


@dataclass
class Machine:
    """The state of one robot's computer.

    Attributes:
        robot: team index.
        computer: its record.
        matches: whether its robot localizes by matching scans.
        period_s: control period of its robot [s].
        idle: whether it was free at the beginning of this step.
        free_s: simulated time at which it finishes all its work [s].
        command: the twist in force; ``since_s``: since when [s].
        coming: the twist that comes into force at ``comes`` (a control step).
        touched: whether the robot touched something since its controller last acted.
        ram_mib: memory of its software [MiB]; ``reported``: whether a monitor measured it.
    """

    robot: int
    computer: Computer
    matches: bool
    period_s: float
    idle: bool = True
    free_s: float = 0.0
    command: Twist = STILL
    since_s: float = 0.0
    coming: Twist | None = None
    comes: int = 0
    touched: bool = False
    ram_mib: float = 0.0
    reported: bool = False
    rate: float = 0.0  # processors in use until `free_s`
    used_s: float = 0.0  # processor time since the last sample; work up to `free_s` is included
    scans: int = 0
    dropped: int = 0
    decisions: int = 0
    delay_s: float = 0.0
    longest_s: float = 0.0

    @property
    def is_full(self) -> bool:
        """Whether its software takes more memory than it has."""
        return self.ram_mib > self.computer.ram_mib

    def add(self, now_s: float, seconds: float, duration_s: float) -> None:
        """Add work, to start now or after its present work.

        Args:
            now_s: simulated time [s].
            seconds: processor time [s].
            duration_s: duration if there is no other work [s].
        """
        begin = max(self.free_s, now_s)
        self.free_s = begin + duration_s
        self.used_s += seconds
        busy = self.free_s - now_s
        self.rate = (self.rate * (begin - now_s) + seconds) / busy if busy > 0.0 else 0.0


class Computing:
    """The computers of a team; robots without a computer are not included.

    In each step: `begin`; `takes_scans` and `map` for the robots that could map; `acted` for each controller;
    `command` for each robot; `sample` at the end.

    Args:
        groups: the team.
        clock: clock of the simulation.
        execution: says whether work takes the time in its ``costs``, or the processor time that it really takes.

    Attributes:
        machines: computers by team index.
        measures: whether measured time is used.
        told: whether processes report the time of the robots' software, so that it is not measured here.
    """

    def __init__(self, groups: Sequence[Group], clock: Clock, execution: Execution):
        self.clock, self.costs = clock, execution.costs
        self.machines: dict[int, Machine] = {}
        robot = 0
        for group in groups:
            localization, period_s = group.localization, clock.step_s * group.control_every
            matches = localization.matches or "scan" in localization.needs
            for _ in group.start:
                if group.robot.computer is not None:
                    self.machines[robot] = Machine(robot, group.robot.computer, matches, period_s)
                robot += 1
        self.measures = execution.compute == "measured" and bool(self.machines)
        self.told = False
        self._poll_steps = max(1, round(POLL_S / clock.step_s))
        self._sampled = 0
        self._since_s = 0.0  # how long ago the charged work began

    # -- called by the phases of a step -------------------------------------------------------------------------------

    def begin(self, belief_of: dict[int, Any]) -> None:
        """Begin a step; every `POLL_S` sample the memory, including that of the beliefs (by team index)."""
        if not self.machines:
            return
        now, polls = self.clock.time_s, self.clock.step % self._poll_steps == 0
        for machine in self.machines.values():
            machine.idle = machine.free_s <= now + _EPS
            self._release(machine)
            if polls and not machine.reported:
                belief = belief_of.get(machine.robot)
                cells = 0 if belief is None else int(np.count_nonzero(belief.occupancy() >= 0))
                machine.ram_mib = self.costs.base_mib + self.costs.cell_bytes * cells / 2**20

    def takes_scans(self, robots: np.ndarray, wanted: np.ndarray, since_s: float = 0.0) -> np.ndarray:
        """Return which robots take a scan; a scan is dropped while the computer is busy.

        Args:
            robots: team indices, int (m,).
            wanted: which of them could use a scan, bool (m,).
            since_s: age of the scan [s]; 0 for the newest one.
        """
        if not self.machines:
            return wanted
        taken = wanted.copy()
        for k, robot in enumerate(robots.tolist()):
            machine = self.machines.get(robot)
            if machine is None or not wanted[k]:
                continue
            free = machine.free_s <= self.clock.time_s - since_s + _EPS if since_s else machine.idle
            taken[k] = free
            machine.scans += free
            machine.dropped += not free
        return taken

    def map(self, robots: np.ndarray, update: Callable[[slice], Any], since_s: float = 0.0) -> None:
        """Let robots map, and charge the work.

        Args:
            robots: team indices, int (m,).
            update: processes the scans of the robots that a slice selects.
            since_s: age of these scans [s].
        """
        self._since_s = since_s
        if not self.measures or self.told:
            update(slice(None))
        for k, robot in enumerate(robots.tolist()):
            if self.measures:
                if not self.told:
                    begun = time.thread_time()
                    update(slice(k, k + 1))
                    self.charge(robot, time.thread_time() - begun)
            elif robot in self.machines:
                matches = float(self.machines[robot].matches)
                self.charge_work(robot, {"scan_match": matches, "map_update": 1.0})
        self._since_s = 0.0
        for machine in self.machines.values() if since_s else ():
            machine.idle = machine.free_s <= self.clock.time_s + _EPS

    def may_act(self, robot: int) -> bool:
        """Return whether the computer of a robot is free for its controller.

        Raises:
            ControllerError: the controller was killed because the computer ran out of memory.
        """
        machine = self.machines[robot]
        if machine.is_full and machine.computer.when_ram_full == "kill":
            raise ControllerError(
                f"out of memory: it takes {machine.ram_mib:.0f} MiB of {machine.computer.ram_mib:.0f} MiB; "
                "give the robot more ram_mib, or when_ram_full: slow"
            )
        return machine.idle

    def acted(self, robot: int, twist: Twist, work: Mapping[str, float], cpu_s: float) -> None:
        """Charge the work of a robot's controller for its answer; its command acts when that work is done.

        Args:
            robot: team index.
            twist: its command.
            work: work of its software, in units by kind.
            cpu_s: processor time that it really took [s].
        """
        machine = self.machines[robot]
        machine.coming = twist
        if self.measures:
            self.charge(robot, cpu_s)
        else:
            self.charge_work(robot, work)
        machine.touched = False
        delay = max(machine.free_s - self.clock.time_s, 0.0)
        machine.comes = self.clock.step + math.floor(delay / self.clock.step_s + 0.5 + _EPS)
        machine.decisions += 1
        machine.delay_s += delay
        machine.longest_s = max(machine.longest_s, delay)

    def touched(self, robot: int, collided: bool) -> bool:
        """Return whether a robot touched something since its controller last acted; ``collided``: in the last step."""
        machine = self.machines[robot]
        machine.touched |= collided
        return machine.touched

    def command(self, robot: int) -> Twist:
        """Return the twist in force: the newest that has arrived, while it holds."""
        machine, now = self.machines[robot], self.clock.time_s
        self._release(machine)
        held = now - machine.since_s <= machine.period_s + machine.computer.hold_s - _EPS
        return machine.command if held else STILL

    def _release(self, machine: Machine) -> None:
        if machine.coming is not None and self.clock.step >= machine.comes:
            machine.command, machine.coming, machine.since_s = machine.coming, None, self.clock.time_s

    # -- charges ------------------------------------------------------------------------------------------------------

    def charge(self, robot: int, seconds: float) -> None:
        """Charge real processor time [s] to a robot: its computer takes this time divided by its speed.

        For `measures`; a process that runs a robot's software reports its time here. Covey's own software uses one
        processor, so the number of processors does not matter.
        """
        machine = self.machines.get(robot)
        if machine is not None:
            seconds /= machine.computer.speed
            machine.add(self.clock.time_s - self._since_s, seconds, seconds * self._swaps(machine))

    def charge_work(self, robot: int, amounts: Mapping[str, float]) -> None:
        """Charge work to a robot at its declared costs: units by kind, as `Work.merge_updates` returns them."""
        machine = self.machines.get(robot)
        if machine is None:
            return
        seconds = duration = 0.0
        for kind, amount in amounts.items():
            cost = getattr(self.costs, kind)
            seconds += amount * cost.seconds / machine.computer.speed
            duration += amount * cost.duration_s(machine.computer)
        machine.add(self.clock.time_s - self._since_s, seconds, duration * self._swaps(machine))

    def report_ram(self, robot: int, mib: float) -> None:
        """Report the memory [MiB] that a robot's software really takes; it then replaces the declared memory."""
        machine = self.machines.get(robot)
        if machine is not None:
            machine.ram_mib, machine.reported = mib, True

    def _swaps(self, machine: Machine) -> float:
        return self.costs.swap_factor if machine.is_full else 1.0

    # -- samples ------------------------------------------------------------------------------------------------------

    def sample(self, last: bool = False) -> list[ComputerSample]:
        """Return the activity of each computer since the last sample, every `POLL_S` and at the end; else nothing.

        Call it after the clock has advanced.
        """
        if not self.machines:
            return []
        steps = self.clock.step - self._sampled
        if not steps or (not last and self.clock.step % self._poll_steps):
            return []
        self._sampled, now, span = self.clock.step, self.clock.time_s, steps * self.clock.step_s
        return [self._sample(machine, now, span) for machine in self.machines.values()]

    def _sample(self, machine: Machine, now: float, span: float) -> ComputerSample:
        ahead = machine.rate * max(machine.free_s - now, 0.0)
        sample = ComputerSample(
            machine.robot,
            now,
            cpu_percent=100.0 * (machine.used_s - ahead) / (machine.computer.cpus * span),
            ram_percent=100.0 * machine.ram_mib / machine.computer.ram_mib,
            scans=machine.scans,
            scans_dropped=machine.dropped,
            decisions=machine.decisions,
            delay_s=machine.delay_s / machine.decisions if machine.decisions else math.nan,
            longest_delay_s=machine.longest_s if machine.decisions else math.nan,
        )
        machine.used_s = ahead
        machine.scans = machine.dropped = machine.decisions = 0
        machine.delay_s = machine.longest_s = 0.0
        return sample
