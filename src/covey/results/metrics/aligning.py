"""Alignment of robots that do not know each other's start poses: whether, when, and how well they found them.

Every metric is None unless the scenario has ``share_maps: {start_poses: unknown}``. An alignment is right if it is
within 0.5 m and 2 degrees of the truth. A merge is wrong if it is more than 0.5 m or 5 degrees off: another place, and
not the error of a first sight.
"""

from typing import TYPE_CHECKING, Any

from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run

RIGHT_M, RIGHT_DEG = 0.5, 2.0
WRONG_DEG = 5.0


def _found(run: "Run") -> list[tuple[float, tuple[str, str], str, dict[str, Any]]] | None:
    """Return time, pair, verdict and numbers of each attempt in order; None if the start poses were known."""
    if run.manifest.get("start_poses") != "unknown":
        return None
    return [
        (row["time_s"], (row["robot"], row["other"]), row["data"].get("verdict", ""), row["data"])
        for row in run.events_of("maps_aligned")
    ]


def _in_force(run: "Run") -> list[dict[str, Any]] | None:
    """Return the numbers of each pair's alignment at the end; None if the start poses were known."""
    found, last = _found(run), {}
    for _, pair, verdict, numbers in found or ():
        _follow(last, pair, verdict, numbers)
    return None if found is None else list(last.values())


def _follow(in_force: dict, pair: tuple[str, str], verdict: str, numbers: dict[str, Any]) -> None:
    """Change the alignments in force by an attempt."""
    if verdict in ("accepted", "revised"):
        in_force[pair] = numbers
    elif verdict == "withdrawn":
        in_force.pop(pair, None)


def _is_wrong(numbers: dict[str, Any], degrees: float) -> bool:
    return numbers["error_m"] > RIGHT_M or numbers["error_deg"] > degrees


def _mean(run: "Run", name: str) -> float | None:
    pairs = _in_force(run)
    return sum(p[name] for p in pairs) / len(pairs) if pairs else None


@metrics.register("aligned_share")
def aligned_share(run: "Run") -> float | None:
    """Share of the ordered pairs of robots (i, j) for which i knows the start of j at the end."""
    pairs, n = _in_force(run), len(run.names)
    return None if pairs is None or n < 2 else len(pairs) / (n * (n - 1))


@metrics.register("first_alignment_s")
@time_to_goal
def first_alignment_s(run: "Run") -> float | None:
    """Time at which a robot first knew the start of another one [s]."""
    return next((time for time, _, verdict, _ in _found(run) or () if verdict == "accepted"), None)


@metrics.register("alignment_error_m")
def alignment_error_m(run: "Run") -> float | None:
    """Mean error of i's estimate of the start of j, over pairs aligned at the end [m]."""
    return _mean(run, "error_m")


@metrics.register("alignment_error_deg")
def alignment_error_deg(run: "Run") -> float | None:
    """Mean error of i's estimate of the heading of j at its start, over pairs aligned at the end [deg]."""
    return _mean(run, "error_deg")


@metrics.register("wrong_alignments")
def wrong_alignments(run: "Run") -> int | None:
    """Number of accepted or revised alignments that are more than 0.5 m or 2 degrees off the truth."""
    found = _found(run)

    def is_wrong(verdict: str, numbers: dict[str, Any]) -> bool:
        return verdict in ("accepted", "revised") and _is_wrong(numbers, RIGHT_DEG)

    return None if found is None else sum(is_wrong(verdict, numbers) for _, _, verdict, numbers in found)


@metrics.register("all_aligned_s")
@time_to_goal
def all_aligned_s(run: "Run") -> float | None:
    """Time at which every robot first knew the starts of all others, so that all know one frame [s]."""
    n, in_force = len(run.names), {}
    for time, pair, verdict, numbers in _found(run) or ():
        _follow(in_force, pair, verdict, numbers)
        if len(in_force) == n * (n - 1):
            return time
    return None


@metrics.register("missed_merges")
def missed_merges(run: "Run") -> int | None:
    """Number of ordered pairs of robots (i, j) for which i does not know the start of j at the end."""
    pairs, n = _in_force(run), len(run.names)
    return None if pairs is None else n * (n - 1) - len(pairs)


@metrics.register("wrong_merges")
def wrong_merges(run: "Run") -> int | None:
    """Number of ordered pairs of robots (i, j) for which i's start of j was ever over 0.5 m or 5 degrees off."""
    found = _found(run)
    in_force = [(pair, n) for _, pair, verdict, n in found or () if verdict in ("accepted", "revised")]
    return None if found is None else len({pair for pair, numbers in in_force if _is_wrong(numbers, WRONG_DEG)})


@metrics.register("wrong_merges_at_end")
def wrong_merges_at_end(run: "Run") -> int | None:
    """Number of ordered pairs (i, j) for which i's start of j is over 0.5 m or 5 degrees off at the end."""
    pairs = _in_force(run)
    return None if pairs is None else sum(_is_wrong(numbers, WRONG_DEG) for numbers in pairs)


@metrics.register("slam_bytes_sent")
def slam_bytes_sent(run: "Run") -> int | None:
    """Bytes of the news of team SLAM that robots transmitted; None: none."""
    sizes = [int(row["bytes_sent"]) for (_, kind), row in run.traffic_totals.items() if kind.startswith("slam ")]
    return sum(sizes) if sizes else None
