"""Links of the pages lead somewhere, and pages that code names are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = ("", "src", "src/covey")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("changes/README.md"), *ROOT.glob("docs/**/*.md")]


def without_code(page):
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", without_code(page), re.MULTILINE)
    words = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in words}


def broken(page):
    """Return the links of a page to files and headings that are not there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        if not link.startswith("http") and (not target.exists() or (anchor and anchor not in anchors(target))):
            yield f"{page.relative_to(ROOT)}: {link}"


def test_links_of_pages_lead_to_files_and_headings():
    assert [link for page in PAGES for link in broken(page)] == []


def test_a_broken_link_is_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# One, two\n[a](page.md#one-two) [b](#three) [c](other.md) [d](https://example.org/x)\n")
    assert list(broken(page)) == ["page.md: #three", "page.md: other.md"]


def test_pages_that_code_names_are_there():
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"docs/[\w/-]+\.md", text)}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_files_of_programs_that_pages_name_are_there():
    named = {name for page in PAGES for name in re.findall(r"`((?:\w+/)+\w+\.py)`", without_code(page))}
    ours = {name for name in named if any((ROOT / home / name.partition("/")[0]).is_dir() for home in HOMES)}
    assert len(ours) > 40
    assert [name for name in sorted(ours) if not any((ROOT / home / name).is_file() for home in HOMES)] == []
