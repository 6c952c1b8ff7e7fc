"""Size of an installation: Covey with what it needs, and what each extra adds. Needs an environment with all extras.

``python benchmarks/install_sizes.py`` prints a table. Bytecode, which pip adds, is not counted: a seventh more.
"""

from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(name: str, extras: frozenset[str], known: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return ``known`` with a package, the extras that are asked of it, and all that these need."""
    name = canonicalize_name(name)
    if name in known and extras <= known[name]:
        return known
    known[name] = known.get(name, frozenset()) | extras
    for text in metadata.requires(name) or ():
        one = Requirement(text)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            closure(one.name, frozenset(one.extras), known)
    return known


def megabytes(name: str) -> float:
    """Return what the files of an installed package take [MB]."""
    files = [path.locate() for path in metadata.files(name) or () if path.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


def main() -> None:
    """Print the table."""
    base = closure("covey", frozenset(), {})
    print(
        f"| extra | adds | of which |\n|---|---|---|\n| none | {sum(map(megabytes, base)):.0f} MB | {largest(base)} |"
    )
    for extra in sorted(metadata.metadata("covey").get_all("Provides-Extra") or ()):
        added = closure("covey", frozenset([extra]), {}).keys() - base.keys()
        print(f"| {extra} | {sum(map(megabytes, added)):.0f} MB | {largest(added)} |")


def largest(names: Iterable[str]) -> str:
    """Return the three largest of some packages, with their sizes."""
    sizes = sorted(((megabytes(name), name) for name in names), reverse=True)
    return ", ".join(f"{name} {size:.0f}" for size, name in sizes[:3] if size >= 1)


if __name__ == "__main__":
    main()
