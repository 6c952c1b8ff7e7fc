"""The pictures of a search: the scenario rescue, and V(t) of a study of it, such as rescue_2021. To renew them:

python docs/images/search.py
python docs/images/search.py runs/STUDY
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

import covey
from covey.experiments.design.axes import parameters
from covey.experiments.report.finds import finds as finds_of
from covey.experiments.report.finds import shares
from covey.experiments.run import Results
from covey.results.figures import found_curves, overview
from covey.results.figures.animation import animation_images
from covey.results.figures.search import finds

HERE = Path(__file__).parent


def study(folder: Path) -> None:
    """Write V(t) of a study by its parameters, all floors together."""
    table = Results(folder).table
    varies = [name for name in parameters(table) if table[name].n_unique() > 1 and name != "world.named"]
    path = HERE / "search_found.png"
    path.write_bytes(found_curves(shares(finds_of(table, folder, varies))).to_bytes("png"))
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


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
    for name in sys.argv[1:]:
        study(Path(name))
    if not sys.argv[1:]:
        main()
