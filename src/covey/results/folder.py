"""The run folder: its files, its lock, and atomic writing."""

import contextlib
import difflib
import json
import os
from pathlib import Path
from typing import Any

from covey.errors import OF_THE_DISK, DiskError, RunFolderError
from covey.results.checked import ManifestShape, read_json
from covey.results.lock import LOCK, FolderLock

FORMAT = 2
LATEST = "latest"
"""In place of the name of a run folder: the newest run there. Where the system has links, it is one to that run."""
TABLES = ("measurements.parquet", "team.parquet", "events.parquet", "host.parquet")
RADIO_TABLES = ("radio.parquet", "links.parquet", "traffic.parquet", "messages.parquet")
PROCESS_TABLES = ("process_host.parquet", "process_traffic.parquet")
DETAILS = ("plans.npz", "scans.npz", "map_changes.npz")
READINGS = "readings.npz"
OF_THE_LAB = (READINGS, "marks.npz", "addons.npz")
_AT_THE_END = ("maps.npz", "ground.npz", "metrics.json", "manifest.json")
FILES = (*TABLES, *RADIO_TABLES, *PROCESS_TABLES, *DETAILS, *OF_THE_LAB, *_AT_THE_END)
POSES, ESTIMATES = ("x_m", "y_m", "heading_rad"), ("estimate_x_m", "estimate_y_m", "estimate_heading_rad")
POSE_COLUMNS = (
    *POSES,
    *ESTIMATES,
    *("vx_m_s", "vy_m_s", "omega_rad_s"),
    *("command_vx_m_s", "command_vy_m_s", "command_omega_rad_s"),
)
ATTITUDE_COLUMNS = ("altitude_m", "roll_rad", "pitch_rad")
"""Columns of ``measurements.parquet``: of poses and, on a landscape, of attitudes."""
CHECKPOINT = "checkpoint"
"""The file of a run under way that makes whole tables of unfinished ones, see `covey.results.checkpoint`."""
FIGURES, GROUNDS, STEPS = "figures", "grounds", "steps"
_NONE_NEAR = "; covey run NAME writes one, and runs/NAME/latest is the newest of them"
_MADE = {
    FIGURES: {".png", ".svg", ".pdf", ".gif", ".mp4", ".part"},
    GROUNDS: {".png", ".pgm", ".npz", ".npy", ".asc", ".tif", ".part"},
    STEPS: {".gz", ".partial"},
}


def part(path: Path) -> Path:
    """Return the temporary name of a file while it is written."""
    return path.with_name(path.name + ".part")


def new_part(path: Path) -> Path:
    """Return `part`, at which there is nothing: not even a link, which another's folder may have to a file elsewhere.

    Raises:
        OSError: it cannot be removed.
    """
    unfinished = part(path)
    unfinished.unlink(missing_ok=True)
    return unfinished


def write_whole(path: Path, data: bytes, unfinished: Path | None = None, *, lasts: bool = True) -> None:
    """Write a file atomically: it holds either its previous content or all of ``data``.

    Args:
        path: the file.
        data: its new content.
        unfinished: its temporary name; None: that of `part`.
        lasts: whether it is to survive a power cut; a file of a temporary folder need not, and is written sooner.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    unfinished = unfinished or part(path)
    try:
        unfinished.unlink(missing_ok=True)  # it may be a link to a file elsewhere
        with unfinished.open("xb") as file:
            file.write(data)
            if lasts:
                file.flush()
                os.fsync(file.fileno())  # otherwise a power cut may leave an empty file
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def within(run: Path, name: str) -> Path:
    """Return a folder in the folder of a run, or of a study, to be written.

    Raises:
        RunFolderError: it is a link: whoever made the run folder would choose where this process writes.
    """
    folder = run / name
    if folder.is_symlink():
        raise RunFolderError(
            f"{str(folder)!r} is a link, to {str(folder.readlink())!r}; remove it, or name another folder with --out"
        )
    return folder


def write_json(path: Path, content: dict[str, Any], *, lasts: bool = True) -> None:
    """Write ``content`` atomically as JSON (NaN and infinity are not allowed); ``lasts``: see `write_whole`."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(path, text.encode(), lasts=lasts)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder.

    Raises:
        RunFolderError: the folder does not exist, or it holds no run, a damaged run, or a run of a newer format.
    """
    path = folder / "manifest.json"
    if not path.is_file():
        name = repr(str(folder))
        said = f"{name} is not a run folder: it has no manifest.json"
        said = said if folder.is_dir() else f"no run folder {name}: there is no such folder"
        raise RunFolderError(said + (near_run(folder) or _NONE_NEAR))
    return read_json(path, ManifestShape, FORMAT)


def run_folder(path: Path) -> Path:
    """Return the path of a run folder; ``latest`` in a folder of runs stands for the newest one.

    Examples:
        >>> run_folder(Path("runs/maze/20300101-120000")).as_posix()
        'runs/maze/20300101-120000'
    """
    runs = _runs_in(path.parent) if path.name == LATEST and (path.is_symlink() or not path.exists()) else []
    return runs[0] if runs else path


def link_latest(run: Path) -> None:
    """Let ``latest`` beside a run folder be a link to it.

    What is there and no link stays. Where the system has no links nothing happens: `run_folder` needs none.
    """
    link, unfinished = run.with_name(LATEST), run.with_name(f".{LATEST}-{run.name}")
    with contextlib.suppress(OSError, NotImplementedError):
        if link.is_symlink() or not link.exists():
            os.symlink(run.name, unfinished, target_is_directory=True)
            os.replace(unfinished, link)


def unlink_latest(run: Path) -> None:
    """Let ``latest`` beside a run folder, if it is a link to that, be one to the folder before, or remove it."""
    link = run.with_name(LATEST)
    with contextlib.suppress(OSError):
        if link.is_symlink() and os.readlink(link) == run.name:
            before = [each for each in run.parent.iterdir() if each.is_dir() and each.name not in (LATEST, run.name)]
            link.unlink()
            if before:
                link_latest(max(before))


def near_run(path: Path) -> str:
    """Return the tail of an error message for a path that is no run: the run that was perhaps meant, or nothing.

    It is the newest run in that folder, the run that holds it, or the newest in a folder of a near name (also of
    ``runs``, for the name of a scenario), or beside it.
    """
    named = _alike("runs" / path.with_suffix("")) if path.name and path.parent == Path() else []
    holder = [] if path.parent == Path() else [run_folder(path.parent)]
    places = [path, path / "runs", *_alike(path), *named, *holder]
    found = ([place] if (place / "manifest.json").is_file() else _runs_in(place) for place in places)
    for runs in (*found, _runs_in(path.parent)):
        if runs:
            among = f" (the newest of {len(runs)} runs there)" if len(runs) > 1 else ""
            return f", did you mean {str(runs[0])!r}?{among}"
    return ""


def _alike(path: Path) -> list[Path]:
    with contextlib.suppress(OSError, ValueError):
        names = [each.name for each in path.parent.iterdir() if each.is_dir()]
        return [path.with_name(name) for name in difflib.get_close_matches(path.name, names)]
    return []


def _runs_in(folder: Path) -> list[Path]:
    """Return the run folders in a folder, the newest first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError, ValueError):
        manifests = [path for path in folder.glob("*/manifest.json") if path.parent.name != LATEST]
        found = [(manifest.stat().st_mtime, manifest.parent) for manifest in manifests]
    return [run for _, run in sorted(found, reverse=True)]


def claim(folder: Path, overwrite: bool) -> FolderLock:
    """Prepare ``folder`` for a new run: create it, or remove the run in it; return the lock on it.

    An incomplete run is always removed, a finished one only if ``overwrite`` is set. Only files that Covey writes are
    removed, and none while another process writes there.

    Raises:
        RunFolderError: the folder is being written, holds a finished run or other files, or cannot be written.
        DiskError: the disk is full or broken.
    """
    try:
        held_by(folder, overwrite)
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
        try:
            manifest = held_by(folder, overwrite)  # again, because another process may have come first
            if manifest is not None:
                _clear(folder, manifest)
        except BaseException:
            lock.release()
            raise
    except OSError as error:
        raise unwritable(f"the run folder {str(folder)!r}", error) from error
    return lock


def held_by(folder: Path, overwrite: bool) -> dict[str, Any] | None:
    """Return the manifest of the run in ``folder`` that a new one may replace; None if the folder is empty.

    Raises:
        RunFolderError: it holds a finished run (and ``overwrite`` is not set) or other files, or is a file.
        OSError: the folder cannot be read.
    """
    if folder.name == LATEST:
        raise RunFolderError(f"{str(folder)!r}: {LATEST!r} stands for the newest run there; choose another folder")
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise RunFolderError(f"{str(folder)!r} is a file; choose a folder")
    if all(path.name == LOCK for path in folder.iterdir()):
        return None
    if not (folder / "manifest.json").is_file():
        raise RunFolderError(f"{str(folder)!r} is not a run folder, but holds other files; choose another folder")
    manifest = read_manifest(folder)
    if manifest["status"] == "finished" and not overwrite:
        raise RunFolderError(f"{str(folder)!r} already holds a finished run; choose another folder, or add --force")
    return manifest


def unwritable(what: str, error: OSError) -> RunFolderError:
    """Return the error that explains why a requested file or folder cannot be written."""
    kind = DiskError if error.errno in OF_THE_DISK else RunFolderError
    return kind(f"cannot write {what}: {error.strerror or error}")


def _clear(folder: Path, manifest: dict[str, Any]) -> None:
    write_json(folder / "manifest.json", manifest | {"status": "incomplete", "reason": "cleared for a new run"})
    for name in (*FILES, CHECKPOINT):
        part(folder / name).unlink(missing_ok=True)
        if name != "manifest.json":
            (folder / name).unlink(missing_ok=True)
    for name, suffixes in _MADE.items():
        if (folder / name).is_symlink():
            (folder / name).unlink()  # what it points to is not of this run
        elif (folder / name).is_dir():
            for path in (folder / name).iterdir():
                if path.suffix in suffixes:
                    path.unlink()
