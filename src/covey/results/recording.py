"""`Recording`: where a run is written, and the facts for its manifest."""

from pathlib import Path

from pydantic import Field

from covey.errors import InvalidValueError
from covey.records import Record


class Recording(Record):
    """Where a run is written, and what its manifest says of it: ``Simulation(recording=Recording(...))``.

    Examples:
        >>> Recording(folder="runs/first", overwrite=True).folder
        'runs/first'
    """

    folder: Path | str | None = Field(default=None, description="Folder of the run, created; None: a temporary one.")
    overwrite: bool = Field(default=False, description="Whether a finished run in the folder is replaced.")
    name: str = Field(default="", description="What the run is called in pictures and tables.")
    scenario_yaml: str = Field(default="", description="The whole scenario as text.")
    inputs: tuple[Path, ...] = Field(default=(), description="Files that the run reads: maps, code.")


def as_recording(value: Recording | Path | str | None) -> Recording:
    """Return the record for an argument ``recording``: a record, a folder, or None for a temporary folder.

    Raises:
        InvalidValueError: ``value`` is none of these.
    """
    if value is None or isinstance(value, (str, Path)):
        return Recording(folder=value)
    if not isinstance(value, Recording):
        raise InvalidValueError(f"recording is {value!r:.60}; give a folder, or covey.Recording(folder=…, …)")
    return value
