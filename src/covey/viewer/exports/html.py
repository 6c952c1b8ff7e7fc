"""A page that plays a recorded run offline: one HTML file, which loads nothing."""

import base64
import zlib
from collections.abc import Iterable
from pathlib import Path

from covey.results.run import Run
from covey.viewer.recorded import messages_of
from covey.viewer.server import page, policy_of

_BOOT = b"""(async () => {
  const letters = atob(document.getElementById("script").textContent), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const script = document.createElement("script");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  script.textContent = await new Response(stream).text();
  document.body.append(script);
})();"""


def write(run: Run, path: Path) -> None:
    """Write the page of a run."""
    path.write_bytes(html_of(messages_of(run)))


def html_of(messages: Iterable[bytes]) -> bytes:
    """Return a page that holds messages: the description of a run, its recording, and its layers.

    Its script and the messages are deflated. Its policy allows no connection, and only this script.
    """
    packer = zlib.compressobj(9)
    parts = []
    for message in messages:
        parts += [packer.compress(len(message).to_bytes(4, "little")), packer.compress(message)]
    recording = b"".join((*parts, packer.flush()))
    html = page()
    head, rest = html.split(b"<script>", 1)
    script, foot = rest.rsplit(b"</script>", 1)
    policy = policy_of(html + b"<script>" + _BOOT + b"</script>")
    for allowed in ("connect-src 'self'; ", "frame-src 'self'; "):
        policy = policy.replace(allowed, "")
    policy = policy.partition("; frame-ancestors")[0]  # which a page cannot say of itself
    meta = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">'.encode()
    blocks = (_block(b"script", zlib.compress(script, 9)), _block(b"recording", recording))
    return b"".join((head.replace(b"<head>", meta, 1), *blocks, b"<script>", _BOOT, b"</script>", foot))


def _block(name: bytes, data: bytes) -> bytes:
    """Return an element that holds data, which a browser does not run."""
    return b'<script type="application/octet-stream" id="%b">%b</script>\n' % (name, base64.b64encode(data))
