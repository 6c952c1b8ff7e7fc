"""Policies that ship with Covey; ``examples/learning`` trains them."""

from pathlib import Path


def policy_file(name: str) -> str:
    """Return the file of a policy; of one that ships with Covey, such as ``avoider``, given its name alone.

    A file of one's own has another name, at least with a folder: ``./avoider``.
    """
    shipped = {path.stem: str(path) for path in Path(__file__).parent.glob("*.onnx")}
    return shipped.get(name, name)
