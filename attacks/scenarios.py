"""Scenarios that ship, changed at random, as records and as text: read, written and read again, and set up."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from attacks.bounded import main
from attacks.strange import strange

Path_ = tuple[Any, ...]
BUILT, STEPS = 0.1, 2
"""This share of the good ones is also built and run, for so many steps."""


def case(number: int) -> str:
    """Return ``good`` or ``refused``, after the whole way of a scenario through `covey check` (and `run`)."""
    from covey.errors import CoveyError
    from covey.runtime.simulation import Simulation
    from covey.scenario.build import build, set_up
    from covey.scenario.load import parse_scenario

    random = Random(number)
    text = changed_text(random)
    try:
        scenario = parse_scenario(text, file="fuzzed.yaml", folder=_library(), trusted_only=True)
    except CoveyError as error:
        said(error)
        return "refused"
    again = parse_scenario(scenario.to_yaml(), folder=_library())
    assert again == scenario, f"it reads back as another one: {scenario.to_yaml()}"
    runs = random.random() < BUILT and sum(group.count for group in scenario.robots) <= 50
    try:
        ready = build(scenario) if runs else set_up(scenario)
    except CoveyError as error:
        said(error)
        return "refused"
    if isinstance(ready, Simulation):
        for _ in range(STEPS):
            ready.step()
        ready.close()
        return "ran"
    return "good"


def warm() -> None:
    """Compile what most scenarios need."""
    from covey.scenario.build import build
    from covey.scenario.load import parse_scenario

    for text in _sources()[: len(_sources()) // 2 : 4]:
        simulation = build(parse_scenario(text, folder=_library()))
        for _ in range(STEPS):
            simulation.step()
        simulation.close()


def said(error: Exception) -> None:
    """Check that an error can be printed: a few lines, without characters that move the cursor."""
    text = str(error)
    assert text, "an error says nothing"
    assert text.count("\n") < 60, f"an error has {text.count(chr(10))} lines"
    assert all(c.isprintable() or c == "\n" for c in text), f"an error holds control characters: {text!r}"


def changed_text(random: Random) -> bytes:
    """Return the text of a scenario that ships after a few changes."""
    import yaml

    data = _copied(_data(random.randrange(len(_sources()))))
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        changed_data(data, random)
    text = yaml.dump(data, sort_keys=False, allow_unicode=True, default_flow_style=random.choice((None, True, False)))
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(random.choice((0,) * 14 + (1, 3))):
        at = random.randrange(len(content))
        content[at : at + random.randrange(4)] = random.choice(_FRAGMENTS)
    return bytes(content)


_FRAGMENTS = (b"", b"[", b"}", b": ", b"\n", b"\t", b"- ", b"&a ", b"*a", b"!!python/name:os ", b"|", b"\xff",
              b"\x1b[2J",
              b"0x", b"e9", b"#", b"'", b'"', b"\x00", b"<<: ", b"? ", b"\xe2\x80\xae", b"---\n")  # fmt: skip


def changed_data(data: Any, random: Random) -> None:
    """Change one value of plain data, in place."""
    places = list(_places(data))
    if not places:
        return
    container, key = random.choice(places)
    how = random.random()
    if how < 0.8:
        numbers = [(c, k) for c, k in places if type(c[k]) in (int, float)]
        if numbers and random.random() < 0.6:
            container, key = random.choice(numbers)
        container[key] = strange(random, container[key])
    elif how < 0.85:
        del container[key]
    elif how < 0.95:
        other, at = random.choice(places)
        container[key] = _copied(other[at])
    elif isinstance(container, list):
        container.extend(_copied(container[key]) for _ in range(random.choice((1, 1, 3, 30))))
    else:
        container[random.choice((str(strange(random, "word")), "name", "seed", key))] = _copied(container[key])


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield container and key of every value."""
    for key in list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from _places(data[key])


def _copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _copied(item) for key, item in data.items()}
    return [_copied(item) for item in data] if isinstance(data, list) else data


@cache
def _library() -> Path:
    from covey.scenario.shipped import library

    return library()["hello"].parent


@cache
def _data(number: int) -> Any:
    import yaml

    return yaml.safe_load(_sources()[number])


@cache
def _sources() -> list[str]:
    """Return the scenarios that ship, as short and as full texts, and a few for what none of them has."""
    from covey.scenario.dump import to_yaml
    from covey.scenario.load import parse_scenario

    texts = [path.read_text(encoding="utf-8") for _, path in sorted(_shipped().items())] + list(_MORE)
    full = []
    for text in texts:
        try:
            full.append(to_yaml(parse_scenario(text, folder=_library()), full=True))
        except ImportError:
            continue  # an extra is not installed
    return texts + full


def _shipped() -> dict[str, Path]:
    from covey.scenario.shipped import library

    return library()


_TEAM = "robots: [{robot: disc, count: 3, start: %s, controller: wander}]\nstop: {timeout_s: 5}\n"
_WORLDS = tuple(
    f"world: {world}\n" + _TEAM % start
    for world, start in (
        ("{empty_m: [8, 6], resolution_m: 0.1}", "{line: {from: [-2, 0], step: [1, 0], heading_deg: 90}}"),
        ("{generate: maze, size_m: [12, 12], opening: 0.1}", "{spread: {gap_m: 0.2}}"),
        ("{generate: rooms, size_m: [18, 12], extra_doors: 0.2}", "{apart: {gap_m: 0.5}}"),
        ("{generate: rubble, size_m: [12, 12], density: 0.1}", "{together: {around: random}}"),
        ("{generate: building, size_m: [40, 40]}", "{hallway_ends: {gap_m: 0.2}}"),
        ("{generate: cave, size_m: [40, 40]}", "{room: largest, order: x_then_y}"),
        ("{terrain: zigzag}", "[[-36, -36, 0], [-36, -30, 0], [-36, -33, 0]]"),
        ("{terrain: cross, size_m: 40}", "{together: {around: [0, 0]}}"),
        ("{generate: office, size_m: [20, 12], furniture: true}", "{together: {}}"),
        ("{workspace_m: [[0, 0], [9, 0], [4, 8]], obstacles_m: [[[3, 1], [4, 1], [4, 2]]], resolution_m: 0.1}",
         "{together: {}}"),
        ("{generate: boulders, size_m: [30, 30]}", "[[0, 0, 0], [3, 0, 0], [0, 3, 0]]"),
        ("{generate: flat, size_m: [20, 20], walls: {empty_m: [10, 10]}}", "{together: {}}"),
    )
)  # fmt: skip
_MORE = (
    *_WORLDS,
    "world: {empty_m: [8, 6]}\nrobots: [{robot: maes, count: 2, controller: tnf}]\n"
    "radio: [{name: near, range_m: 5}, {name: far, range_m: 50, loss: 0.1}]\n"
    "mission: {patrolling: {}}\nshare_maps: {every_s: 1}\n"
    "execution: {step_s: 0.2, substep_s: 0.02}\nstop: {explored: 0.9, timeout_s: 30}\nseed: 5\n",
)


if __name__ == "__main__":
    sys.exit(main("attacks.scenarios", 1000))
