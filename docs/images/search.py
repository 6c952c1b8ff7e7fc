"""The pictures of a search: the scenario rescue. To renew them: python docs/images/search.py"""

import tempfile
from pathlib import Path

from PIL import Image

import covey
from covey.results.figures import overview
from covey.results.figures.animation import animation_images
from covey.results.figures.search import finds

HERE = Path(__file__).parent


def main() -> None:
    """Write the overview, the finds over time, and an image of the film."""
    with tempfile.TemporaryDirectory() as folder:
        run = covey.load_scenario("rescue").build(Path(folder) / "run").run()
        for name, picture in (("search_overview", overview(run)), ("search_finds", finds(run))):
            path = Path(folder) / "picture.png"
            path.write_bytes(picture.to_bytes("png"))
            image = Image.open(path).convert("RGB")
            image.thumbnail((1400, 1400))
            image.quantize(128).save(HERE / f"{name}.png", optimize=True)
        images = list(animation_images(run))
        images[len(images) // 2].save(HERE / "search_film.png", optimize=True)


if __name__ == "__main__":
    main()
