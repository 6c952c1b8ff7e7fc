"""The site of the pages, as `make docs` builds it: without a warning, complete, and without any other server."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

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
    for entry in entries:
        picture, made, drawn = re.search(r"\(images/(\S+)\)<br>.*<br>\*(.*), drawn by (.*)\*", entry).groups()
        assert (DOCS / "images" / picture).is_file(), picture
        assert re.match(r"\[.*\]\(.*\)|`covey ", made), entry
        if script := re.search(r"\(images/(\w+\.py)\)", drawn):
            text = (DOCS / "images" / script[1]).read_text(encoding="utf-8")
            stem = Path(picture).stem.removeprefix("layers-")
            assert stem in text or re.sub(r"\d$", "{i}", stem) in text, entry
        else:
            assert drawn.startswith("`covey run "), entry


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site that has just been built; a warning fails it."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return folder


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
                    yield name, key, value


@pytest.mark.slow
def test_every_public_name_is_in_the_reference(site):
    pages, missing = {}, []
    for module, name, value in public():
        page = f"api/{(module := module.removesuffix('.shelf'))}"
        if page not in pages:
            text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
            pages[page] = {*re.findall(r'id="([^"]+)"', text)}, text
        ids, text = pages[page]
        home = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if not ids & {home, f"{module}.{name.strip('_')}"} and f">{name}<" not in text:
            missing.append(f"{module}.{name}")
    assert missing == []
    assert len(pages) > 25


@pytest.mark.slow
def test_the_site_loads_nothing_from_another_server(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//[^"]*', text), page
        assert not re.findall(r'<link rel="(?:stylesheet|preconnect|icon)"[^>]* href="(?:https?:)?//[^"]*', text), page
    for style in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


@pytest.mark.slow
def test_every_link_of_the_site_leads_to_a_file_of_it(site):
    """Also those that MkDocs does not check: pictures in HTML, files that are no pages."""
    wrong = []
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links are absolute
            continue
        for link in re.findall(r' (?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                wrong.append(f"{page.relative_to(site)}: {link}")
    assert wrong == []
