"""The README of a package: its links lead to the repository, at the version of the package.

An index shows the README alone, where links like docs/files.md lead nowhere. Hatchling calls this when it builds.
"""

import os
import re
from typing import Any

LINK = re.compile(r"(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def absolute(text: str, address: str, version: str) -> str:
    """Return a page whose links to files of the repository are whole addresses.

    Args:
        text: the page.
        address: that of the repository, such as https://github.com/owner/name.
        version: version of the package; its tag is v and this.

    Examples:
        >>> absolute("![A maze](docs/maze.gif) [files](docs/files.md#same)", "https://github.com/a/b", "1.0")
        '![A maze](https://github.com/a/b/raw/v1.0/docs/maze.gif) [files](https://github.com/a/b/blob/v1.0/docs/files.md#same)'
    """

    def whole(link: re.Match[str]) -> str:
        shown, kind = LINK.sub(whole, link[2]), "raw" if link[1] else "blob"
        return f"{link[1]}[{shown}]({address}/{kind}/v{version}/{link[3]})"

    return LINK.sub(whole, text)


def address_of(environment: "os._Environ[str] | dict[str, str]") -> str:
    """Return the address of the repository in which a workflow of GitHub builds; empty elsewhere."""
    server, name = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else ""


def get_metadata_hook() -> Any:
    """Return what Hatchling calls with the metadata of the package."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class Readme(MetadataHookInterface):
        def update(self, metadata: dict[str, Any]) -> None:
            with open(os.path.join(self.root, "README.md"), encoding="utf-8") as file:
                text = file.read()
            if address := address_of(os.environ):
                text = absolute(text, address, metadata["version"])
                metadata["urls"] = {"Source": address}
            else:
                metadata["urls"] = {}
            metadata["readme"] = {"content-type": "text/markdown", "text": text}

    return Readme
