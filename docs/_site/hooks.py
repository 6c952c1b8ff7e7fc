"""What MkDocs runs when it builds the site: adds the pages of `pages`, the README, and the files that pages link to."""

import posixpath
import re
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import pages
from mkdocs.structure.files import File, Files

DOCS = pages.ROOT / "docs"
FRONT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages that lie above ``docs``, and their paths in the site."""
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#\s])")
ITEM = re.compile(r"^\d+\. .*\n(?:(?:   .*)?\n)+", re.MULTILINE)
"""An item of a numbered list with what is indented below it."""
LANGUAGES = {".py": "python", ".yaml": "yaml", ".sh": "bash"}

written = cache(pages.written)


def on_config(config: Any) -> None:
    """Put all pages of a folder into the menu where it names the folder."""
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | {*written()}
    config.nav = [_expanded(entry, sorted(there)) for entry in config.nav]


def _expanded(entry: Any, there: list[str]) -> Any:
    if isinstance(entry, list):
        return [_expanded(each, there) for each in entry]
    if isinstance(entry, dict):
        return {title: _expanded(value, there) for title, value in entry.items()}
    if not entry.endswith("/"):
        return entry
    pages_of = [
        path.removesuffix(".md") for path in there if f"{posixpath.dirname(path)}/" == entry and path.endswith(".md")
    ]
    return [f"{path}.md" for path in sorted(pages_of)]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write what Python-Markdown reads otherwise than GitHub: units behind brackets, and parts of numbered lists."""
    markdown = re.sub(r"\] (?=\[\w+\])", r"] \\", markdown)  # no reference
    return ITEM.sub(lambda item: re.sub("^   ", "    ", item[0], flags=re.MULTILINE) + "\n", markdown)


def on_files(files: Files, config: Any) -> Files:
    """Add what is written now, and a page for each file of the repository that a page links to."""
    texts = {file.src_uri: file.content_string for file in files.documentation_pages()}
    texts |= {uri: (pages.ROOT / name).read_text(encoding="utf-8") for name, uri in FRONT.items()}
    sources: dict[str, str] = {}
    for uri, text in texts.items():
        moved = LINK.sub(lambda link, uri=uri: _moved(link[1], uri, sources), text)
        if moved != text or uri in FRONT.values():
            if there := files.get_file_from_path(uri):
                files.remove(there)
            files.append(File.generated(config, uri, content=moved))
    for uri, text in (written() | sources).items():
        files.append(File.generated(config, uri, content=text))
    return files


def _moved(link: str, uri: str, sources: dict[str, str]) -> str:
    """Return a link of a page as the site has it; a program, or a file not in ``docs``, gets a page in ``sources``."""
    home = next((name for name, to in FRONT.items() if to == uri), f"docs/{uri}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(home), link))
    if (folder := f"{target.removeprefix('docs/')}/index.md") in written():
        return posixpath.relpath(folder, posixpath.dirname(uri) or ".")
    if ":" in link or not (pages.ROOT / target).is_file():
        return link
    inside = (
        target.removeprefix("docs/") if target.startswith("docs/") and not target.endswith(".py") else FRONT.get(target)
    )
    if inside is None:
        inside = f"source/{target}.md"
        text = (pages.ROOT / target).read_text(encoding="utf-8")
        language = LANGUAGES.get(PurePosixPath(target).suffix, "text")
        sources[inside] = f"# {target}\n\n````{language}\n{text}````\n"
    return posixpath.relpath(inside, posixpath.dirname(uri) or ".")
