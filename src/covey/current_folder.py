"""Protection from files that libraries would read from the current folder, which may belong to somebody else."""

import importlib
import os
import sys
from contextlib import chdir, suppress
from typing import Any

_SETTINGS = {".numba_config.yaml": "numba", "matplotlibrc": "matplotlib", "ezdxf.ini": "ezdxf"}
"""Files that a library reads from the current folder: at import, and numba at each compilation."""


def ignore_settings() -> None:
    """Import libraries with settings files in the current folder from another folder; without such files do nothing.

    Settings in the environment and in the user's own folders still apply.
    """
    for file, library in _SETTINGS.items():
        if library not in sys.modules and os.path.lexists(file):
            with chdir(os.sep), suppress(ImportError):  # not every library is installed
                importlib.import_module(library)
            if library == "numba":
                config: Any = importlib.import_module("numba.core.config")
                config._config_fname = os.devnull
