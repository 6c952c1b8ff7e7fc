"""`Recording`: where a run is written, and the facts for its manifest."""

from pathlib import Path

from pydantic import Field

from covey.errors import InvalidValueError
from covey.records import Record


class Details(Record):
    """What a run records besides its tables: ``Simulation(record=Details(scans_every_s=1))``.

    Examples:
        >>> Details(maps_every_s=5).plans
        True
    """

    plans: bool = Field(
        default=True,
        description="Whether the path of each robot to its goal is recorded, whenever it changes; those of controllers "
        "in processes of their own never are.",
    )
    scans_every_s: float | None = Field(
        default=None,
        gt=0,
        description="The newest scan of each lidar is recorded at this interval [s]; null: never.",
    )
    readings: bool = Field(
        default=False, description="Whether all readings of all sensors that robots read are recorded."
    )
    maps_every_s: float | None = Field(
        default=None,
        gt=0,
        description="The robots' maps, and the merged map, are recorded at this interval [s]; null: only at the end.",
    )


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
    written: bool = Field(
        default=True, description="Whether the run is written; else it has no result and can only be discarded."
    )


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
