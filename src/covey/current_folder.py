"""What libraries would read from the current folder, which may be a stranger's."""

import importlib
import os
import sys
from contextlib import chdir
from typing import Any

_SETTINGS = {".numba_config.yaml": "numba", "matplotlibrc": "matplotlib"}
"""Files that a library reads from the current folder: while it is imported, and numba whenever it compiles."""


def ignore_settings() -> None:
    """Import the libraries that settings lie here for from elsewhere; without such files nothing is imported.

    Settings in the environment and in the user's own folders hold as ever.
    """
    for file, library in _SETTINGS.items():
        if library not in sys.modules and os.path.lexists(file):
            with chdir(os.sep):
                importlib.import_module(library)
            if library == "numba":
                config: Any = importlib.import_module("numba.core.config")
                config._config_fname = os.devnull
