"""The pictures of the lessons, from their solutions. To renew them: python docs/images/lessons.py"""

from pathlib import Path

from covey.lab.lessons.course import lessons
from covey.results.figures import ground, layout
from covey.results.figures.style import robot_color

FOLDER = Path(__file__).parents[2] / "src" / "covey" / "lab" / "lessons" / "pictures"

FOLDER.mkdir(exist_ok=True)
for lesson in lessons():
    found = {}
    exec(compile(lesson.code(solved=True), lesson.name, "exec"), found)
    run = found["run"] if "run" in found else found["out"].run
    truth = run.maps.truth
    figure, axes = layout.map_picture(ground.bounds(truth))
    ground.show_cells(axes, truth, ground.truth_pixels(truth))
    for i in range(len(run.names)):
        color = robot_color(i, len(run.names))
        x, y = run.poses[:, i, :2].T
        axes.plot(x, y, color=color, lw=0.9)
        axes.plot(x[0], y[0], "o", color=color, ms=3)
        axes.plot(x[-1], y[-1], "s", color=color, ms=3.5)
    layout.scale_bar(axes)
    figure.set_dpi(150)
    (FOLDER / f"{lesson.name[:2]}.png").write_bytes(figure.to_bytes("png"))
