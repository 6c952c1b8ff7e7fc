"""`covey ros play`: a bag in the place of a robot."""

import sys
from pathlib import Path

from covey.cli.exit_codes import INTERRUPTED, REACHED
from covey.ros.dds import Participant
from covey.ros.play import Clock, play


def play_command(
    path: Path,
    graph: tuple[int | None, str | None, str | None],
    namespace: str,
    topics: list[str],
    speed: float,
    time_from: Clock,
) -> int:
    """Play a bag into a graph of ROS 2 until it ends, or until Ctrl-C; ``graph`` as in `ros_run_command`."""
    with Participant(*graph) as participant:
        print(participant, file=sys.stderr, flush=True)
        try:
            played = play(path, participant, namespace=namespace, topics=topics, speed=speed, time_from=time_from)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
    for topic, why in played.left_out.items():
        print(f"left out  {topic}: {why}")
    for topic, count in sorted(played.sent.items()):
        print(f"{count:>8}  {topic}")
    return REACHED
