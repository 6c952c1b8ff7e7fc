"""Recorded logs of any format that is read here."""

from pathlib import Path

from covey.errors import InvalidValueError
from covey.mapping.slam.bags import read_bag
from covey.mapping.slam.carmen import read_carmen
from covey.mapping.slam.log import Log, load_log

_CARMEN, _BAGS = (".log", ".clf", ".log.gz", ".clf.gz"), (".bag", ".mcap", ".db3")


def read_log(path: str | Path) -> Log:
    """Read a log; its name says which format it has.

    Args:
        path: ``.npz``, see `load_log`; ``.log`` or ``.clf``, also ``.gz``, of CARMEN; ``.bag``, ``.mcap``, ``.db3`` or
            a folder with ``metadata.yaml`` of ROS.

    Raises:
        InvalidValueError: the file is of no such format, or is not what its name says.
        CoveyError: what reads bags is not installed.
    """
    path = Path(path)
    name = path.name.lower()
    if name.endswith(".npz"):
        return load_log(path)
    if name.endswith(_CARMEN):
        return read_carmen(path)
    if name.endswith(_BAGS) or (path / "metadata.yaml").is_file():
        return read_bag(path)
    raise InvalidValueError(
        f"{str(path)!r} is no log by its name: one ends with .npz, {', '.join((*_CARMEN, *_BAGS))}, or is the folder "
        "of a bag with its metadata.yaml; a pose graph ends with .g2o or .g2o.gz"
    )
