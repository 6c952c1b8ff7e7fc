"""Libraries that take long to load, and public names of packages; each is loaded when it is first used.

::

    from covey.lazy import ndimage

``ndimage.label(…)`` then loads `scipy.ndimage`. What uses none of them starts without their 0.1 to 0.4 s each. A module
that cannot do anything without a library imports it as usual.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import shapely
    from PIL import Image, ImageDraw, PngImagePlugin, TiffImagePlugin, TiffTags
    from scipy import ndimage, optimize, sparse, spatial, special, stats
    from scipy.sparse import linalg as sparse_linalg
else:

    class _Lazy:
        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            if self._name == "polars" and "_refused" not in vars(self) and hasattr(os, "register_at_fork"):
                self._refused = ""
                os.register_at_fork(after_in_child=self._refuse)  # the child lacks its threads
            if vars(self).get("_refused"):
                from covey.errors import CoveyError

                raise CoveyError(self._refused)
            value = getattr(import_module(self._name), attribute)
            if self._name == "polars" and hasattr(signal, "siginterrupt"):
                signal.siginterrupt(signal.SIGINT, True)  # Polars lets calls that wait go on at Ctrl-C, perhaps forever
            setattr(self, attribute, value)  # is found there from now on
            return value

        def _refuse(self) -> None:
            """Refuse everything from now on."""
            name = self._name
            vars(self).clear()
            self._name = name
            self._refused = (
                f"this process was forked from one that has used {name} (run.measurements, for example), and a call of "
                "it would wait for ever here; start processes with multiprocessing.get_context('spawn')"
            )

    nx, pl, shapely = map(_Lazy, ("networkx", "polars", "shapely"))
    pa, pc, pq = map(_Lazy, ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))
    Image, ImageDraw, PngImagePlugin, TiffImagePlugin, TiffTags = (
        _Lazy(f"PIL.{name}") for name in ("Image", "ImageDraw", "PngImagePlugin", "TiffImagePlugin", "TiffTags")
    )
    ndimage, optimize, sparse, sparse_linalg, spatial, special, stats = (
        _Lazy(f"scipy.{name}")
        for name in ("ndimage", "optimize", "sparse", "sparse.linalg", "spatial", "special", "stats")
    )


@contextmanager
def loading() -> Iterator[None]:
    """Let modules be loaded without looking for garbage: they stay, and the search would take an eighth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def names_of(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose public names are loaded when they are first used.

    Args:
        package: its ``__name__``.
        homes: the module of each name; of a name that is itself a module, that module after a colon.

    Examples:
        >>> load = names_of("covey", {"Pose": "covey.geometry.se2", "robots": ":covey.robots"})
        >>> load("Pose").__name__, load("robots").__name__
        ('Pose', 'covey.robots')
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            from covey.errors import did_you_mean

            near = "" if name.startswith("_") else did_you_mean(name, homes).partition(";")[0]
            raise AttributeError(f"module {package!r} has no attribute {name!r}{near}")
        with loading():
            value = import_module(home[1:]) if home.startswith(":") else getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
