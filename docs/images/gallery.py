"""The picture of the gallery. To renew it, with Chromium and Playwright: python docs/images/gallery.py"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from covey.viewer import Server
from covey.viewer.gallery import Gallery

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def picture() -> Image.Image:
    """Return the gallery as a newcomer sees it, in 256 colours."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Gallery(Path(folder)) as gallery,
        Server(gallery) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 980, "height": 760}, color_scheme="light")
        page.goto(server.url)
        while not page.evaluate("[...document.images].length && [...document.images].every((i) => i.naturalWidth)"):
            page.wait_for_timeout(100)
        png = page.screenshot()
        browser.close()
    return Image.open(io.BytesIO(png)).convert("RGB").quantize(256)


if __name__ == "__main__":
    picture().save(Path(__file__).parent / "gallery.png", optimize=True)
