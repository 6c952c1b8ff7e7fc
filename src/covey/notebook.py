"""Whether code runs in a notebook, in Google Colab, or in another shell of IPython."""

import sys
from typing import Any


def shell() -> Any:
    """Return the shell of IPython that runs the code; None outside of one."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get is None else get()


def in_notebook() -> bool:
    """Return whether the code runs in a notebook; that its package has been imported is not enough."""
    return "ipykernel" in sys.modules and shell() is not None


def in_colab() -> bool:
    """Return whether the notebook is Google Colab's, where a browser reaches no WebSocket of the kernel's machine."""
    return "google.colab" in sys.modules and in_notebook()
