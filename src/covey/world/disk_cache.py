"""Results computed for a world, cached in the user's cache folder for its next run."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from covey.kernel import cache_root
from covey.world.io.map_writer import write_atomically
from covey.world.world import FREE, World


def kept_cells(
    what: str, version: str, world: World, arrays: Iterable[np.ndarray], make: Callable[[], np.ndarray]
) -> np.ndarray:
    """Return cells, bool (rows, columns), from the cache, or compute and cache them.

    Args:
        what: name of their folder.
        version: version of the algorithm.
        world: the world on whose cells they depend.
        arrays: other arrays on which they depend.
        make: computes them.
    """
    file = cache_root() / what / f"{_key(version, world, arrays)}.npz"
    known = _load(file, world.grid.shape)
    if known is None:
        known = make()
        _store(file, known)
    return known


def _key(version: str, world: World, arrays: Iterable[np.ndarray]) -> str:
    digest = hashlib.blake2b(version.encode(), digest_size=16)
    digest.update(repr((world.grid.shape, world.grid.origin, world.grid.resolution, FREE)).encode())
    digest.update(world.grid.cells.tobytes())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()


def _load(file: Path, shape: tuple[int, int]) -> np.ndarray | None:
    """Return the stored cells, or None if there are none or the file is damaged."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            cells = np.unpackbits(stored["cells"], count=shape[0] * shape[1])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return cells.reshape(shape).astype(bool)


def _store(file: Path, seen: np.ndarray) -> None:
    try:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, cells=np.packbits(seen))
        write_atomically(file, buffer.getvalue())
    except OSError:  # a full or read-only disk costs time, not the run
        return
