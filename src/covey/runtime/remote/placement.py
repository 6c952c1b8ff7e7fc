"""Placement of processes: fill the nodes of a cluster one after another with robots, and start their processes.

References:
    Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
    Robotics 6(3), 2017: algorithms 1 and 2, with processes in the place of virtual machines.
"""

from collections.abc import Sequence
from importlib.util import find_spec

from covey.errors import InvalidValueError
from covey.runtime.remote.launch import deploy


def placed(names: Sequence[str], robots_per_node: int) -> list[list[str]]:
    """Return the robots of each node: each node is filled before the next one.

    Examples:
        >>> placed(["a", "b", "c"], 2)
        [['a', 'b'], ['c']]
    """
    return [list(names[i : i + robots_per_node]) for i in range(0, len(names), robots_per_node)]


def start_on_cluster(
    scheduler: str, names: Sequence[str], robots_per_node: int, address: tuple[str, int], authkey: bytes
) -> None:
    """Start processes on the workers of a Dask cluster.

    Args:
        scheduler: address of the Dask scheduler.
        names: names of the processes.
        robots_per_node: largest number of processes on each worker.
        address: address on which the simulator listens.
        authkey: the key that they must present.

    Raises:
        InvalidValueError: there is no such scheduler, it has too few workers, or Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise InvalidValueError(f"processes on {scheduler} need Dask: pip install 'covey[cluster]'")
    from distributed import Client

    try:
        client = Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"no Dask scheduler at {scheduler!r}: {error}") from error
    with client:
        nodes = placed(names, robots_per_node)
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        if len(workers) < len(nodes):
            raise InvalidValueError(
                f"{len(names)} processes at {robots_per_node} on each node need {len(nodes)} workers; {scheduler} has "
                f"{len(workers)}: start more, or raise robots_per_node"
            )
        tasks = [
            client.submit(deploy, address, authkey, robots, workers=[worker], pure=False)
            for worker, robots in zip(workers, nodes, strict=False)
        ]
        client.gather(tasks)
