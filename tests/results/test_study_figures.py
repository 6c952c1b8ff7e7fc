import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from PIL import Image

from covey.errors import InvalidValueError, RunFolderError, UnknownNameError
from covey.experiments.design.axes import MOST_CURVES
from covey.results.figures import (
    KINDS,
    box_plots,
    explored_bands,
    fleet_metrics,
    found_curves,
    heat_map,
    robot_metrics,
    save_pictures,
    survival_curves,
    targets_left,
)
from covey.results.figures.style import PAGE_IN
from covey.results.labels import label

SIZE, TERRAIN = "robots.scout.count", "world.terrain"
TIMEOUT = 500.0


def table(runs=5, times=lambda terrain, n, k: (400 if terrain == "zigzag" else 200) / n + k):
    """Runs of 1, 2 and 4 robots on two terrains; a time of more than the timeout is not reached."""
    rows = []
    for terrain in ("loop", "zigzag"):
        for n in (1, 2, 4):
            for k in range(runs):
                time = times(terrain, n, k)
                reached = time <= TIMEOUT
                rows.append(
                    {
                        SIZE: n,
                        TERRAIN: terrain,
                        "seed": k,
                        "status": "reached" if reached else "timeout",
                        "timeout_s": TIMEOUT,
                        "simulated_time_s": min(time, TIMEOUT),
                        "exploration_time_s": time if reached else None,
                        "exploration_cost_m": n * min(time, TIMEOUT),
                        "exploration_efficiency_m2_per_m": 9.0 / n if reached else None,
                        "map_quality": 0.9 - k / 100 if reached else None,
                        "robot_cpu_percent": 40.0 + n,
                        "robot_ram_percent": 35.0,
                        "kbytes_received_per_s": 10.0 * n,
                        "kbytes_sent_per_s": 9.0 * n,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def some_fail(terrain, n, k):
    """On zigzag one robot never gets there, two do in three of five runs."""
    return 200.0 / n + k if terrain == "loop" or n == 4 or (n == 2 and k < 3) else 999.0


def points(axes):
    """Places, sizes of the symbols of an axes."""
    found = [c for c in axes.collections if isinstance(c, PathCollection)]
    return [(c.get_offsets().tolist(), c.get_sizes().tolist()) for c in found]


def texts(picture):
    return " ".join([*(t.get_text() for a in picture.axes for t in a.texts), picture.note])


def test_fleet_metrics_draw_means_of_successful_runs_and_nothing_where_all_fail():
    picture = fleet_metrics(table(times=some_fail), SIZE, TERRAIN)
    assert len(picture.axes) == 4
    (loop, loop_sizes), (zigzag, zigzag_sizes) = points(picture.axes[0])
    assert loop == [[1.0, 202.0], [2.0, 102.0], [4.0, 52.0]]
    assert zigzag == [[2.0, 101.0], [4.0, 52.0]]
    assert zigzag_sizes[0] / loop_sizes[0] == pytest.approx(3 / 5)  # the area: three of five runs
    assert zigzag_sizes[1] == loop_sizes[1]
    cost = points(picture.axes[1])[1][0]
    assert cost == [[2.0, 202.0], [4.0, 208.0]]  # of the runs that reached the goal only, as in 001


def test_bars_are_the_range_and_with_six_runs_an_interval():
    few = fleet_metrics(table(), SIZE, TERRAIN)
    bars = [line.get_ydata() for line in few.axes[0].lines if len(line.get_ydata()) == 2]
    assert [200.0, 204.0] in [list(b) for b in bars]
    assert "range of these runs" in texts(few)
    many = fleet_metrics(table(runs=8), SIZE, TERRAIN)
    ends = [list(line.get_ydata()) for line in many.axes[0].lines if len(line.get_ydata()) == 2]
    assert all(high - low < 7 for low, high in ends)
    assert "95 % t interval of the mean, corrected" in texts(many)


def test_every_figure_says_units_n_and_what_its_bars_are():
    runs = table(times=some_fail)
    pictures = {
        "fleet": (fleet_metrics(runs, SIZE, TERRAIN), "n = 5", "range"),
        "robot": (robot_metrics(runs, SIZE, TERRAIN), "n = 5", "range"),
        "box": (box_plots(runs, "exploration_time_s", SIZE, TERRAIN), "n = 5", "range"),
        "heat": (heat_map(runs, "exploration_time_s", SIZE, TERRAIN), "n = 5", "Median"),
        "survival": (survival_curves(runs, "exploration_time_s", TERRAIN), "95 %", "interval"),
    }
    for picture, *words in pictures.values():
        assert all(word in texts(picture) for word in words)
    names = {a.get_ylabel() for picture, *_ in pictures.values() for a in picture.axes}
    assert {"exploration time [s]", "exploration cost [m]", "exploration efficiency [m²/m]", "map quality"} <= names
    assert {"CPU of a robot [%]", "RAM of a robot [%]", "received by a robot [kB/s]", "sent by a robot [kB/s]"} <= names
    in_legend = {t.get_text() for t in pictures["survival"][0].legends[0].get_texts()}
    assert in_legend == {"loop: 15 of 15 reached", "zigzag: 8 of 15 reached"}


def test_robot_metrics_count_runs_that_failed_too_and_say_what_was_not_measured():
    picture = robot_metrics(table(times=some_fail).drop("robot_ram_percent"), SIZE, TERRAIN)
    assert points(picture.axes[0])[1][0] == [[1.0, 41.0], [2.0, 42.0], [4.0, 44.0]]
    assert [t.get_text() for t in picture.axes[1].texts] == ["no value"]


def test_lines_break_where_a_size_failed():
    picture = fleet_metrics(table(times=lambda t, n, k: 999.0 if n == 2 else 10.0), SIZE)
    line = next(line for line in picture.axes[0].lines if len(line.get_xdata()) == 3)
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]


def test_survival_curves_step_down_to_those_that_timed_out():
    picture = survival_curves(table(times=some_fail), "exploration_time_s", TERRAIN)
    loop, zigzag = (line for line in picture.axes[0].lines if line.get_drawstyle() == "steps-post")
    assert loop.get_ydata()[-1] == 0.0
    assert zigzag.get_ydata()[-1] == pytest.approx(100 * 7 / 15)
    crosses = [line for line in picture.axes[0].lines if line.get_marker() == "+" and len(line.get_xdata())]
    assert [(list(c.get_xdata()), c.get_ydata()[0]) for c in crosses] == [([TIMEOUT], pytest.approx(100 * 7 / 15))]
    with pytest.raises(InvalidValueError, match="not a time to a goal"):
        survival_curves(table(), "map_quality")


def test_below_six_runs_a_box_plot_shows_runs_and_from_six_on_boxes():
    few = box_plots(table(times=some_fail), "exploration_time_s", SIZE, TERRAIN).axes[0]
    dots = {
        symbol: [line for line in few.lines if line.get_marker() == symbol] for symbol in ("o", "s")
    }  # of each place its own: they are told apart without colours
    assert {s: sum(len(line.get_xdata()) for line in lines) for s, lines in dots.items()} == {"o": 15, "s": 8}
    assert not [p for p in few.patches if isinstance(p, Rectangle)]
    assert sorted(t.get_text() for t in few.texts) == ["2", "5"]  # runs beyond the timeout
    many = box_plots(table(runs=8), "exploration_time_s", SIZE, TERRAIN).axes[0]
    boxes = [(p.get_y(), p.get_y() + p.get_height()) for p in many.patches if isinstance(p, Rectangle)]
    assert boxes[0] == (201.5, 205.5)  # quartiles of 200 ... 207
    assert len(boxes) == 6


def test_the_entries_of_a_legend_look_as_what_they_name():
    curves = survival_curves(table(times=some_fail), "exploration_time_s", TERRAIN)
    lines = [line for line in curves.axes[0].lines if line.get_drawstyle() == "steps-post"]
    looks = [(line.get_color(), line.get_linestyle()) for line in lines]
    assert [(one.get_color(), one.get_linestyle()) for one in curves.legends[0].legend_handles] == looks
    assert [text.get_text().split(":")[0] for text in curves.legends[0].get_texts()] == ["loop", "zigzag"]
    assert len(set(looks)) == 2
    picture = box_plots(table(runs=8), "exploration_time_s", SIZE, TERRAIN)
    boxes = {p.get_y(): to_hex(p.get_edgecolor()) for p in picture.axes[0].patches if isinstance(p, Rectangle)}
    named = zip(picture.legends[0].get_texts(), picture.legends[0].legend_handles, strict=True)
    colors = {text.get_text(): to_hex(one.get_color()) for text, one in named}
    assert boxes[51.5] == colors["loop"], "four robots take 50 s and more there"
    assert boxes[401.5] == colors["zigzag"], "one robot takes 400 s and more there"


def test_heat_map_writes_medians_and_hatches_what_mostly_failed():
    axes = heat_map(table(times=some_fail), "exploration_time_s", SIZE, TERRAIN).axes[0]
    assert {t.get_text() for t in axes.texts} == {"202", "102", "52", "102\n3/5", "0/5"}
    assert [p.get_hatch() for p in axes.patches].count("////") == 1


def test_bands_are_quartiles_from_six_runs_on():
    times = np.linspace(0, 10, 11)
    shares = np.linspace(0, 1, 11) * np.array([[1.0], [0.9], [0.8], [0.7], [0.6], [0.5], [0.4], [0.3]])
    few, many = explored_bands({"few": (times, shares[:5])}), explored_bands({"many": (times, shares)})
    for picture, (low, middle, high), word in (
        (few, (60.0, 80.0, 100.0), "range"),
        (many, (45.0, 65.0, 85.0), "quartiles"),
    ):
        axes = picture.axes[0]
        assert band_at(picture, 10.0) == (pytest.approx(low), pytest.approx(high))
        assert axes.lines[0].get_ydata()[-1] == pytest.approx(middle)
        assert word in texts(picture)
    assert many.legends[0].get_texts()[0].get_text() == "many (n = 8)"
    with pytest.raises(InvalidValueError, match="0 to 1"):
        explored_bands({"percent": (times, 100 * shares)})
    with pytest.raises(InvalidValueError, match="one row per run"):
        explored_bands({"flat": (times, shares[0])})


@pytest.mark.slow
def test_pictures_are_written_as_png_svg_and_pdf_the_same_each_time(tmp_path):
    pictures = {"fleet": fleet_metrics(table(), SIZE, TERRAIN), "none": None}
    files = save_pictures(pictures, tmp_path / "a")
    assert [f.name for f in files] == [f"fleet.{kind}" for kind in KINDS]
    assert {f.name for f in (tmp_path / "a").iterdir()} == {"fleet.png", "fleet.svg", "fleet.pdf"}
    again = save_pictures({"fleet": fleet_metrics(table(), SIZE, TERRAIN)}, tmp_path / "b")
    assert [f.read_bytes() for f in files] == [f.read_bytes() for f in again]
    png, svg, pdf = (f.read_bytes() for f in files)
    assert Image.open(io.BytesIO(png)).size[0] == int(300 * PAGE_IN)
    assert ET.fromstring(svg).tag.endswith("svg")
    assert re.match(rb"%PDF-1\.\d", pdf)
    assert b"CreationDate" not in pdf
    with pytest.raises(InvalidValueError, match="png, svg, pdf"):
        save_pictures(pictures, tmp_path, kinds=("jpg",))
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot write"):
        save_pictures(pictures, tmp_path / "file")


def test_names_carry_units():
    assert label("robots.scout.robot.max_speed_m_s") == "max speed [m/s]"
    assert label("coverage_t90_s") == "coverage t90 [s]"
    assert label("explored_share") == "explored share"


def test_wrong_columns_and_empty_tables_are_refused():
    with pytest.raises(UnknownNameError, match=r"did you mean 'world\.terrain'"):
        fleet_metrics(table(), SIZE, "world.terain")
    with pytest.raises(InvalidValueError, match="no rows"):
        fleet_metrics(table().clear(), SIZE)


def test_words_are_places_on_an_axis_too():
    axes = fleet_metrics(table(), TERRAIN).axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["loop", "zigzag"]
    assert points(axes)[0][0][0][0] == 0.0
    assert not [line for line in axes.lines if len(set(line.get_xdata())) > 1]  # nothing lies between two words


def test_a_metric_that_equals_another_has_no_panel():
    sent = table().with_columns(kbytes_sent_per_s=pl.col("kbytes_received_per_s"))
    picture = robot_metrics(sent, SIZE, TERRAIN)
    assert [axes.get_ylabel() for axes in picture.axes][-1] == "received by a robot [kB/s]"
    assert len(picture.axes) == 3
    assert "The same in every run: received by a robot [kB/s], sent by a robot [kB/s]." in " ".join(
        texts(picture).split()
    )


@pytest.mark.parametrize(
    ("draw", "names", "turned"),
    [
        (box_plots, ("./mine.py:searcher", "rescue_leader", "rescue_team"), 0),
        (heat_map, ("rescue_leader", "mine", "rescue_team"), 0),
        (box_plots, ("x" * 30, "y" * 30), 90),
        (heat_map, ("x" * 30, "y" * 30), 90),
    ],
)
def test_names_along_an_axis_are_turned_only_if_they_do_not_fit(draw, names, turned):
    rows = [
        {"strategy": name, "world": world, "status": "reached", "score": 1.0 + seed}
        for name in names for world in "ab" for seed in range(5)
    ]  # fmt: skip
    picture = draw(pl.DataFrame(rows), "score", "strategy", "world")
    picture.to_bytes("png")
    found = picture.axes[0].get_xticklabels()
    assert {label.get_rotation() for label in found} == {turned}
    boxes = [label.get_window_extent() for label in found]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_counts_have_whole_numbers_at_their_axis():
    rows = [{"strategy": name, "status": "reached", "found": n} for name in "ab" for n in (3, 3, 4)]
    axes = box_plots(pl.DataFrame(rows), "found", "strategy").axes[0]
    assert all(float(tick).is_integer() for tick in axes.get_yticks())
    assert {3.0, 4.0} <= set(axes.get_yticks())


@pytest.mark.parametrize("kind", ["box", "heat", "fleet"])
def test_long_names_along_an_axis_neither_overlap_nor_are_cut(kind):
    names = ["nearest_frontier", "hungarian_assignment", "heuristic_conscientious_reactive", "cost_utility", r"$\frac$"]
    rows = [
        {"strategy": name, "world": world, "status": "reached", "timeout_s": 9.0, "exploration_time_s": 1.0 + seed}
        for name in names
        for world in ("loop", "a_world_with_a_long_name_of_its_own")
        for seed in range(7)
    ]
    table = pl.DataFrame(rows)
    if kind == "fleet":
        picture = fleet_metrics(table, "strategy", "world", ["exploration_time_s"])
    else:
        picture = (box_plots if kind == "box" else heat_map)(table, "exploration_time_s", "strategy", "world")
    picture.to_bytes("png")
    width, height = picture.bbox.width, picture.bbox.height
    axes = picture.axes[0]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert len(boxes) == len(names)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    for box in (*boxes, *(text.get_window_extent() for text in axes.get_yticklabels())):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height


def steps(picture):
    """The curves of a picture of shares over time: times and shares [%]."""
    lines = [line for line in picture.axes[0].lines if line.get_drawstyle() == "steps-post"]
    return [(list(line.get_xdata()), line.get_ydata()) for line in lines]


def test_targets_that_were_not_found_are_censored():
    found = {"a": ([10.0, 20.0, 40.0, 30.0], [True, True, True, False], [0, 0, 1, 1]), "b": ([600.0], [False], [0])}
    picture = targets_left(found)
    (times, share), (_, other) = steps(picture)
    assert times == [0, 10, 20, 30, 40]
    np.testing.assert_allclose(share, [100, 75, 50, 50, 0])  # 3/4, 3/4 2/3, unchanged, then the last one is found
    np.testing.assert_allclose(other, [100, 100])
    in_legend = [t.get_text() for t in picture.legends[0].get_texts()]
    assert in_legend == ["a: 3 of 4 found", "b: 0 of 1 found"]
    assert picture.legends[0].get_title().get_text() == "targets"
    named = targets_left(found, "small_fire", "controller").legends[0].get_title().get_text()
    assert named == "targets of the kind small fire, by controller"
    crosses = [line for line in picture.axes[0].lines if line.get_marker() == "+" and len(line.get_xdata())]
    assert [(list(c.get_xdata()), list(c.get_ydata())) for c in crosses] == [([30.0], [50.0]), ([600.0], [100.0])]


def test_curves_of_finds_are_means_with_their_interval():
    times = np.array([0.0, 1.0])
    few = found_curves({"few": (times, [[0.0, 0.2], [0.0, 1.0]])})
    assert few.axes[0].lines[0].get_ydata().tolist() == pytest.approx([0.0, 60.0])
    assert band_at(few, 1.0) == pytest.approx((20.0, 100.0))  # the range
    shares = np.zeros((100, 2))
    shares[:50, 1] = 1.0
    many = found_curves({"many": (times, shares)})
    low, high = band_at(many, 1.0)
    spread = 1.96 * 100 * np.sqrt(0.25 / 100)  # of the mean of 100 draws with variance 1/4
    assert (low, high) == (pytest.approx(50 - spread, abs=1.5), pytest.approx(50 + spread, abs=1.5))
    assert many.axes[0].get_ylabel() == "targets found [%]"


def band_at(picture, time):
    """Return the ends of the first band of a picture at a time."""
    band = picture.axes[0].collections[0].get_paths()[0].vertices
    ends = band[np.isclose(band[:, 0], time), 1]
    return ends.min(), ends.max()


def test_figures_are_fit_to_print():
    """Journals refuse fonts of type 3 and captions inside a figure, and print without colours."""
    curves = survival_curves(table(times=some_fail), by=TERRAIN)
    for picture in (curves, fleet_metrics(table(), SIZE, TERRAIN)):
        pdf = picture.to_bytes("pdf")
        assert b"/Type3" not in pdf
        assert b"/CIDFontType2" in pdf
        assert not picture.texts
        assert "runs" in picture.note
    dashes = {str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in curves.legends[0].get_lines()}
    assert len(dashes) == len(curves.legends[0].get_lines()) > 1


def test_as_many_curves_as_a_figure_has_differ_without_colours():
    rows = table(runs=8).with_columns(group=pl.int_range(pl.len()) % MOST_CURVES)
    curves = survival_curves(rows, "exploration_time_s", ["group"])
    drawn = [line for line in curves.axes[0].lines if len(line.get_xdata()) > 2]
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == MOST_CURVES
