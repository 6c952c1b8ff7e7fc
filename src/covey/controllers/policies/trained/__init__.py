"""Policies that ship with Covey; ``examples/learning`` trains them."""

from pathlib import Path


def policy_file(name: str) -> str:
    """Return the file of a policy; of one that ships with Covey, such as ``avoider``, given its name."""
    shipped = {path.stem: str(path) for path in Path(__file__).parent.glob("*.onnx")}
    return shipped.get(name, name)
