"""Lines typed into `covey run --commands -`: whatever is typed, the run goes on."""

import io
import sys
from functools import cache
from random import Random
from typing import Any

import yaml
from attacks.bounded import main
from attacks.scenarios import changed_data, said
from attacks.strange import strange

EACH, STEPS = 10, 2
"""So many lines are typed into each run, and so many steps follow each."""

_WORLDS = (
    "{empty_m: [4, 4]}",
    "{empty_m: [8, 5], resolution_m: 0.1}",
    "{generate: rooms, size_m: [12, 6]}",
    "{generate: flat, size_m: [12, 12], walls: {empty_m: [8, 8]}}",
)
_LINES = (
    "{wall: {from: [-1, 1], to: [1, 1]}, name: w}",
    "{wall: {polygon_m: [[1, 1], [1.5, 1], [1.5, 9], [1, 1.5]]}}",
    "{wall: {polygon_m: [[-1, -1], [-1.5, -1], [-1, -1.5]], material: wood}}",
    "{obstacle: {path_m: [[1, 1], [-1, 1]], speed_m_s: 0.5, radius_m: 0.2}, name: o}",
    "{obstacle: {path_m: [[1, -1], [1, 1]], repeat: loop, size_m: [0.5, 0.2]}}",
    "{remove: w}",
    "{remove: {polygon_m: [[-2, -2], [0, -2], [0, 0]]}}",
    "{door: any, to: toggle}",
    "{order: {objective_m: [1, 1], formation: rank}}",
    "{crater: {centre_m: [1, 1], depth_m: 0.5, radius_m: 1}}",
    "{trench: {from: [-1, -1], to: [1, 1], width_m: 0.5, depth_m: 0.5}}",
    "{altitude: {box_m: [0, 0, 1, 1], to_m: 1}}",
    "{shift: {polygon_m: [[0, 0], [1, 0], [0, 1]], by_m: -1}}",
    "{robot: robot0, kind: dies}",
    "{robot: any, kind: sensor, sensor: lidar, range_factor: 0.5, for_s: 10}",
)


def case(number: int) -> str:
    """Return ``on`` after some lines, each followed by steps of the run."""
    from covey.cli.commands import StreamCommands

    random = Random(number)
    simulation = _simulation(random.randrange(len(_WORLDS)))
    for _ in range(EACH):
        line, errors = _line(random), io.StringIO()
        commands = StreamCommands(io.StringIO(line + "\n"), errors)
        commands.reader.join()
        before = simulation.clock.step
        for _ in range(STEPS):
            commands(simulation)
            simulation.step()
        assert simulation.clock.step == before + STEPS, f"the run stands still after {line!r}"
        if errors.getvalue():
            said(ValueError(errors.getvalue().rstrip("\n")))
    simulation.close()
    return "on"


def warm() -> None:
    """Compile what runs need."""
    for number in range(len(_WORLDS)):
        case(-1 - number)


def _simulation(which: int) -> Any:
    from covey.scenario.build import build

    return build(_scenario(which))


@cache
def _scenario(which: int) -> Any:
    from covey.scenario.load import parse_scenario

    group = "{robot: pioneer3dx, count: 2, start: {spread: {}}, controller: wander}"
    return parse_scenario(f"world: {_WORLDS[which]}\nrobots: [{group}]\nphysics: planar\n")


def _line(random: Random) -> str:
    data = yaml.safe_load(random.choice(_LINES))
    if random.random() < 0.9:
        for _ in range(random.choice((1, 1, 2))):
            changed_data(data, random)
    if random.random() < 0.1:
        data[str(strange(random, "word"))] = strange(random, 1.0)
    line = yaml.safe_dump(data, default_flow_style=True, width=10**6, sort_keys=False).strip().replace("\n", " ")
    if random.random() < 0.1:
        at = random.randrange(len(line))
        line = line[:at] + random.choice(("[", "}", "*a", "\x1b", ":", "'")) + line[at + 1 :]
    return line


if __name__ == "__main__":
    sys.exit(main("attacks.event_lines", 300))
