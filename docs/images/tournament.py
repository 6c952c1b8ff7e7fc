"""The picture of a tournament in docs/tournaments.md. To renew it, with Chromium and Playwright:

python docs/images/tournament.py
"""

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from covey.cli import main

HERE = Path(__file__).absolute().parent
LAWS = HERE.parents[1] / "examples" / "tournament"

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)  # as the page says: the commands in the picture name runs/
        main(["tournament", str(LAWS / "pursuers"), str(LAWS / "evaders")])
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 1500}, color_scheme="light")
        page.goto((Path(folder) / "runs" / "tournament_pursuit" / "standings.html").as_uri())
        page.wait_for_load_state()
        png = page.screenshot()
        browser.close()
        os.chdir(HERE)
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256).save(HERE / "tournament.png", optimize=True)
