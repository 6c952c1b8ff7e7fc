"""The run folder: its files, how it is claimed, and writing without ever leaving a half file under a final name."""

import json
import os
from pathlib import Path
from typing import Any

from covey.errors import RunFolderError

FORMAT = 1
TABLES = ("measurements.parquet", "team.parquet", "events.parquet", "host.parquet")
RADIO_TABLES = ("radio.parquet", "links.parquet", "traffic.parquet", "messages.parquet")
PROCESS_TABLES = ("process_host.parquet", "process_traffic.parquet")
FILES = (*TABLES, *RADIO_TABLES, *PROCESS_TABLES, "maps.npz", "ground.npz", "metrics.json", "manifest.json")
FIGURES = "figures"
_PICTURES = {".png", ".svg", ".pdf", ".gif", ".mp4", ".part"}


def part(path: Path) -> Path:
    """Return the name under which a file is written until it is whole."""
    return path.with_name(path.name + ".part")


def write_whole(path: Path, data: bytes, unfinished: Path | None = None) -> None:
    """Write a file so that its name holds either what was there before or all of ``data``.

    Args:
        path: of the file.
        data: what it is to hold.
        unfinished: the name that it has until it is whole; None: that of `part`.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    unfinished = unfinished or part(path)
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` as JSON (NaN and infinity are not allowed), as a whole."""
    write_whole(path, (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder.

    Raises:
        RunFolderError: there is no such folder, it holds no run, or a run of a newer format.
    """
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise RunFolderError(f"no run folder {str(folder)!r}: there is no such folder")
    if not path.is_file():
        raise RunFolderError(f"{str(folder)!r} is not a run folder: it has no manifest.json")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format"]
        if not isinstance(manifest["robots"], list) or not isinstance(manifest["status"], str):
            raise TypeError
    except (ValueError, KeyError, TypeError) as error:
        raise RunFolderError(f"{str(folder)!r} is not a run folder: its manifest.json is not one of Covey") from error
    if version != FORMAT:
        raise RunFolderError(f"{str(folder)!r} has format {version!r}; this version of Covey reads format {FORMAT}")
    return manifest


def claim(folder: Path, overwrite: bool) -> None:
    """Make ``folder`` ready for a new run: create it, or clear the run that it holds.

    An incomplete run is cleared without asking; a finished one only when ``overwrite`` is set. Only files that
    Covey writes are removed.

    Raises:
        RunFolderError: it holds a finished run, other files, or cannot be written.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            manifest = read_manifest(folder)
            if manifest["status"] == "finished" and not overwrite:
                raise RunFolderError(
                    f"{str(folder)!r} already holds a finished run; choose another folder, or ask to overwrite it"
                )
            _clear(folder, manifest)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"cannot write the run folder {str(folder)!r}: {error.strerror or error}") from error


def _clear(folder: Path, manifest: dict[str, Any]) -> None:
    write_json(folder / "manifest.json", manifest | {"status": "incomplete", "reason": "cleared for a new run"})
    for name in FILES:
        part(folder / name).unlink(missing_ok=True)
        if name != "manifest.json":
            (folder / name).unlink(missing_ok=True)
    if (folder / FIGURES).is_dir():
        for picture in (folder / FIGURES).iterdir():
            if picture.suffix in _PICTURES:
                picture.unlink()
