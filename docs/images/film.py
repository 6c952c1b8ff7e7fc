"""The film of the README: six robots explore the maze, in their page. To renew it, with Chromium and Playwright:

python docs/images/film.py
"""

from pathlib import Path

from layers import page_of, screenshot, show
from PIL import Image
from playwright.sync_api import sync_playwright

EVERY_S, UNTIL_S, COLOURS = 3.0, 168.0, 128

if __name__ == "__main__":
    with sync_playwright() as playwright, page_of(playwright, "maze", 960, 600) as (page, go_to):
        show(page, "truth explored numbers trails paths")
        page.evaluate("covey.fit()")
        images = []
        for k in range(int(UNTIL_S / EVERY_S) + 1):
            go_to(k * EVERY_S)
            page.wait_for_timeout(300)
            images.append(screenshot(page))
    palette = images[-1].quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)  # also what is small
    first, *rest = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images)
    ms = [120] * len(rest) + [2500]
    first.save(
        Path(__file__).parent / "maze.gif", save_all=True, append_images=rest, duration=ms, loop=0, optimize=True
    )
