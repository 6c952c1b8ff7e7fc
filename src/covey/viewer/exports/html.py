"""A page that plays a recorded run offline: one HTML file, which loads nothing."""

import base64
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from covey.plain import pack, unpack
from covey.results.run import Run
from covey.viewer.recorded import messages_of
from covey.viewer.server import page, policy_of

_LEVEL = 8
"""Level of compression; 9 takes 1.6 times as long for 1 % less."""

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
    packer = zlib.compressobj(_LEVEL)
    parts = []
    for k, message in enumerate(messages):
        message = in_planes(message) if k else message  # the first one is text
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


def in_planes(message: bytes) -> bytes:
    """Return a message as the file holds it: poses so that they deflate to little more than half.

    In place of ``poses`` it has ``planes`` uint8 (4, 3n, m): the float32 numbers as integers, the difference of each
    from the row before (modulo 2^32), column by column, first the lowest bytes of all of them. Nothing is rounded.
    """
    header, arrays = unpack(message)
    if "poses" not in arrays:
        return message
    bits = arrays["poses"].view(np.int32).reshape(len(arrays["poses"]), -1)
    change = np.ascontiguousarray(np.diff(bits, axis=0, prepend=np.int32(0)).T)
    return pack(header, {"planes": np.moveaxis(change.astype("<i4").view(np.uint8).reshape(*change.shape, 4), 2, 0)})


def _block(name: bytes, data: bytes) -> bytes:
    """Return an element that holds data, which a browser does not run."""
    return b'<script type="application/octet-stream" id="%b">%b</script>\n' % (name, base64.b64encode(data))
