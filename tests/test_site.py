"""The site of the pages, as `make docs` builds it: without a warning, complete, and without any other server."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from PIL import Image

import covey
from covey.results.figures import overview

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def listed(nav):
    """Yield what the menu lists: pages, and folders that end with a slash."""
    if isinstance(nav, str):
        yield nav
    for entry in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from listed(entry)


def test_every_page_is_in_the_menu_once():
    menu = list(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert len(menu) == len({*menu})
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*.md") if path.parent.name != "decisions"]
    missing = [f"{page}" for page in pages if not {page.as_posix(), f"{page.parent.as_posix()}/"} & {*menu}]
    assert missing == [], "add them to nav in mkdocs.yml"
    assert "decisions/index.md" in menu, "it lists the others"


def test_the_gallery_says_of_each_picture_what_made_it_and_what_draws_it():
    entries = [line for line in (DOCS / "gallery.md").read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    assert len(entries) > 20
    assert (DOCS / "images" / "maze.gif").stat().st_size < 3e6, "the README begins with it"
    for entry in entries:
        ((picture, made, drawn),) = re.findall(r"\(images/(\S+)\)<br>.*<br>\*(.*), drawn by (.*)\*", entry)
        assert (DOCS / "images" / picture).is_file(), picture
        assert re.match(r"\[.*\]\(.*\)|`covey ", made), entry
        if script := re.search(r"\(images/(\w+\.py)\)", drawn):
            text = (DOCS / "images" / script[1]).read_text(encoding="utf-8")
            stem = Path(picture).stem.removeprefix("layers-")
            assert stem in text or re.sub(r"\d$", "{i}", stem) in text, entry
        else:
            assert drawn.startswith("`covey run "), entry


def unlike(made, picture):
    """Return whether a picture differs from that of the repository in more than what versions of libraries change."""
    ours = Image.open(ROOT / picture).convert("RGB")
    made = Image.open(made).convert("RGB")
    if made.size != ours.size:
        return True
    off = np.abs(np.asarray(made, float) - np.asarray(ours, float)).max(axis=2)
    return (off > 64).mean() > 0.001  # pixels that are clearly of another colour


@pytest.mark.site
@pytest.mark.parametrize("script", ["digging", "floor_plan", "ground", "lessons", "search", "worlds"])
def test_pictures_are_those_that_their_script_draws(script, tmp_path):
    """The other scripts take pictures of pages, in a browser."""
    place = tmp_path / "docs/images"
    place.mkdir(parents=True)
    shutil.copy(DOCS / f"images/{script}.py", place)
    (tmp_path / "src/covey/lab/lessons").mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run([sys.executable, place / f"{script}.py"], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    drawn = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.png") if "examples" not in path.parts]
    assert drawn
    assert [f"{name}" for name in drawn if unlike(tmp_path / name, name)] == [], "renew them with the script"


@pytest.mark.site
def test_the_picture_of_the_maze_is_that_of_its_run(tmp_path):
    overview(covey.load("maze").run()).save(tmp_path / "maze.png")
    assert not unlike(tmp_path / "maze.png", "docs/images/maze.png")


def public():
    """Yield each module that lists what is public, and those of the names that are Covey's own."""
    for file in sorted((ROOT / "src/covey").rglob("*.py")):
        if "\n__all__ = " in file.read_text(encoding="utf-8"):
            name = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
            module = importlib.import_module(name)
            for key in module.__all__:
                value = getattr(module, key, None)
                own = value is None or getattr(value, "__module__", "covey").startswith("covey")
                if name not in ("covey.lazy", "covey.ros.libraries") and (own or isinstance(value, ModuleType)):
                    yield name.removesuffix(".shelf"), key, value


def without_reference(site):
    """Yield the public names that have no heading on the page of their module."""
    for module, name, value in public():
        ids = re.findall(r'id="([^"]+)"', (site / f"reference/api/{module}.html").read_text(encoding="utf-8"))
        home = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if not {home, f"{module}.{name.strip('_')}"} & {*ids}:
            yield f"{module}.{name}"


def loaded_from_elsewhere(site):
    """Yield what pages and their styles would load from another server."""
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        loads = [
            r'<(?:script|img|iframe)[^>]* src="((?:https?:)?//[^"]*)',
            r"""(?:url\(|@import )["']?((?:https?:)?//\S*)""",
        ]
        loads.append(r'<link rel="(?:stylesheet|preconnect|icon)"[^>]* href="((?:https?:)?//[^"]*)')
        yield from (f"{file.name}: {found}" for each in loads for found in re.findall(each, text))


def broken(site):
    """Yield the links of pages to files that are not there, also those that MkDocs does not check."""
    for page in site.rglob("*.html"):
        links = re.findall(r' (?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text(encoding="utf-8"))
        if page.name != "404.html":  # its links are absolute
            yield from (f"{page.name}: {link}" for link in links if not (page.parent / link).exists())


@pytest.mark.site
def test_the_site_is_built_without_a_warning_and_complete(tmp_path):
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert list(without_reference(tmp_path)) == []
    assert list(loaded_from_elsewhere(tmp_path)) == []
    assert list(broken(tmp_path)) == []


def test_what_is_wrong_with_a_site_is_seen(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<script src="https://other.org/a.js"></script><a href="page.html#b">b</a><img alt="" src="no.png">'
    )
    assert list(loaded_from_elsewhere(tmp_path)) == ["page.html: https://other.org/a.js"]
    assert list(broken(tmp_path)) == ["page.html: no.png"]
