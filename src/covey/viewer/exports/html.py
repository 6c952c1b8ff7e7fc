"""A page that plays a recorded run offline: one HTML file, which loads nothing."""

import base64
import zlib
from collections.abc import Iterable
from pathlib import Path

from covey.results.run import Run
from covey.viewer.recorded import messages_of
from covey.viewer.server import page, policy_of

KIND = "application/octet-stream;covey=recording"


def write(run: Run, path: Path) -> None:
    """Write the page of a run."""
    path.write_bytes(html_of(messages_of(run)))


def html_of(messages: Iterable[bytes]) -> bytes:
    """Return a page that holds messages: the description of a run, its recording, and its layers."""
    packer = zlib.compressobj(9)
    parts = []
    for message in messages:
        parts += [packer.compress(len(message).to_bytes(4, "little")), packer.compress(message)]
    data = base64.b64encode(b"".join((*parts, packer.flush())))
    html = page()
    policy = policy_of(html).replace("connect-src 'self'; ", "").partition("; frame-ancestors")[0]
    head = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">'.encode()
    block = b'<script type="%b" id="recording">%b</script>\n<script>' % (KIND.encode(), data)
    return html.replace(b"<head>", head, 1).replace(b"<script>", block, 1)
