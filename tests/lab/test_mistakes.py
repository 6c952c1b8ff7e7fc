"""What a student who makes a mistake reads, and what a student who writes everywhere can change: nothing of the run."""

import numpy as np
import pytest

import covey
from covey.errors import ControllerError, CoveyError, InvalidValueError, RunFolderError
from covey.sensors.simple import compass

QUICK = {"robots": 2, "stop_s": 0.3, "speed": "max"}


def stand(team):
    return 0.0, 0.0


@pytest.fixture(scope="module")
def out():
    return covey.play(stand, **QUICK)


@pytest.mark.parametrize(
    ("until", "said"),
    [
        (lambda team: team.foo, "until: .*AttributeError: team has no 'foo'"),
        (lambda team: team.position[:, 0] > 3, r"until returned array\(.*return True or False"),
        (lambda team: 3, "until returned 3"),
    ],
)
def test_a_wrong_end_condition(until, said):
    with pytest.raises(ControllerError, match=said):
        covey.play(stand, until=until, **QUICK)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"robot": 6}, "robots is their number"),
        ({"speed": "fast"}, "speed is 'fast'; give 'max', a factor"),
        ({"obstacles": [(2, 2), (3, 2), (3, 3)]}, r"obstacles holds \(2, 2\); give a list of them"),
        ({"walls": [[(2, 2), (3,)]]}, "walls holds"),
        ({"sensors": [compass]}, r"compass is a class; write compass\(\)"),
        ({"sensors": [{"kind": "lidar", "ray": 8}]}, r"sensors.0: unknown key 'ray', did you mean 'rays'"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises(InvalidValueError, match=said):
        covey.play(stand, stop_s=0.1, **{"speed": "max", **settings})


def test_a_setting_that_stands_alone_in_a_file_is_said_to_set_nothing(tmp_path, caplog):
    (tmp_path / "alone.py").write_text("robots = 6\nspeed = 0.3\n\n\ndef law(team):\n    return speed, 0.0\n")
    out = covey.play(tmp_path / "alone.py", stop_s=0.1, speed="max")
    assert len(out.names) == 1
    said = 'File "alone.py", line 1: robots sets nothing here; write: settings = dict(robots=6)'
    assert [record.getMessage() for record in caplog.records] == [said]  # the law reads speed


def test_a_value_that_memory_does_not_hold_yet():
    with pytest.raises(ControllerError, match="memory has no 'count' yet; ask for it with getattr"):
        covey.play(lambda team: (team.memory.count, 0), **QUICK)


class Stands:
    def step(self, team):
        return 0.0, 0.0


async def awaits(team):
    return 0.0, 0.0


def yields(team):
    yield 0.0, 0.0


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Stands, r"Stands is a class.*def Stands\(team\)"),
        (awaits, r"awaits is async.*@covey.controller.*def awaits\(team\)"),
        (yields, "a generator .write return in the place of yield"),
        (lambda team: (0.1, team.after), r"after itself .call it: after\("),
        (lambda team: (0.1, team.bearing_to(team.after("1"))), "whole number, such as 1, not '1'"),
        (lambda team: (0.1, team.neighbours(covey.graphs.delaunay)), "covey.graphs.delaunay itself; give one of"),
        (lambda team: (0.1, team.neighbours(2)), "graph is 2; give one of covey.graphs"),
        (lambda team: (0.1, 0.0 if team.heading > 0 else 1.0), r"np.where\(condition, a, b\)"),
        (lambda team: (team.position.fill(0.0), 0.0), "change a copy"),
        (covey.law(sees=("positon",))(lambda team: (0.0, 0.0)), "word in sees.*'positon', did you mean 'position'"),
    ],
)
def test_a_wrong_law_says_what_to_write(law, said):
    with pytest.raises(CoveyError, match=said):
        covey.play(law, **QUICK)


def test_decorators_without_brackets_say_what_to_write():
    with pytest.raises(InvalidValueError, match=r"covey.graphs.k_nearest itself; give one of"):
        covey.law(graph=covey.graphs.k_nearest)(stand)
    with pytest.raises(InvalidValueError, match=r"above stand has no brackets.*@covey.sensor\('stand'"):
        covey.sensor(stand)


def test_speeds_in_cm_are_told(caplog):
    covey.play(lambda team: (20.0, 0.0), **QUICK)
    assert "speeds of up to 20 m/s, but the robots reach 1 m/s" in caplog.text
    caplog.clear()
    covey.play(lambda team: (2.0, 0.0), **QUICK)
    assert "speeds of up to" not in caplog.text


def test_a_file_that_has_changed_is_loaded_again(tmp_path):
    (tmp_path / "gains.py").write_text("speed = 0.1\n")
    (tmp_path / "changing.py").write_text("from gains import speed\n\n\ndef law(team):\n    return speed, 0.0\n")
    monkey = pytest.MonkeyPatch()
    monkey.syspath_prepend(tmp_path)
    speed = lambda: float(covey.play(str(tmp_path / "changing.py"), **QUICK).commands[0, 0, 0])  # noqa: E731
    assert speed() == 0.1
    (tmp_path / "gains.py").write_text("speed = 0.25\n")
    assert speed() == 0.25
    (tmp_path / "changing.py").write_text("def law(team):\n    return 0.5, 0.0\n")
    assert speed() == 0.5
    monkey.undo()


def test_a_name_is_proposed_once():
    with pytest.raises(ControllerError, match="team has no 'qq'; known: ") as caught:
        covey.play(lambda team: (team.qq, 0), **QUICK)
    names = str(caught.value).partition("known: ")[2].split(", ")
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda out: out.plot("ways.xyz"), r"plot\('ways.xyz'\): give a .png, .svg or .pdf file"),
        (lambda out: out.save("run.doc"), r"save\('run.doc'\): give a .npz, .mat or .csv file, or a folder"),
        (lambda out: out.film("run.avi"), r"film\('run.avi'\): give a .gif or .mp4 file"),
        (lambda out: out.film("run.gif", seconds=float("nan")), "more than 0"),
    ],
)
def test_wrong_files(out, call, said):
    with pytest.raises(InvalidValueError, match=said):
        call(out)


def test_a_folder_that_is_missing_is_told(out, tmp_path):
    for write in (out.plot, out.film, out.save):
        ending = ".gif" if write == out.film else ".png" if write == out.plot else ".npz"
        with pytest.raises(RunFolderError, match=r"cannot write .*No such file or directory"):
            write(tmp_path / "none" / f"run{ending}")


def test_a_wrong_ending_is_told_before_the_run(tmp_path, monkeypatch, capsys):
    from covey.cli import main

    (tmp_path / "law.py").write_text("raise SystemError('it ran')\n")
    monkeypatch.chdir(tmp_path)
    assert main(["play", "law.py", "--speed", "max", "--plot", "ways.xyz"]) == 2
    said = capsys.readouterr().err
    assert "plot('ways.xyz')" in said
    assert "it ran" not in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"poses": np.zeros((3, 2))}, r"poses has the shape \(3, 2\) where \(4, 2, 3\) belongs"),
        ({"poses": None}, "poses"),
        ({"poses": np.full((4, 2, 3), np.nan)}, "poses has a number that is not finite"),
        ({"names": np.array(["one"])}, "poses has the shape"),
        ({"time": np.zeros(0)}, "shape"),
        ({"radius": np.zeros(7)}, "radius has the shape"),
        ({"discs": np.zeros((1, 4))}, "discs lack a robot"),
        ({"workspace": np.zeros(3)}, "workspace has the shape"),
        ({"twists": np.zeros((3, 2, 2))}, "twists has the shape"),
    ],
)
def test_a_file_whose_arrays_do_not_belong_together_is_refused(out, tmp_path, changes, said):
    arrays = dict(np.load(out.save(tmp_path / "run.npz"))) | changes
    np.savez(tmp_path / "bad.npz", **{name: values for name, values in arrays.items() if values is not None})
    with pytest.raises(InvalidValueError, match=f"it holds no run of covey.play.*{said}"):
        covey.Out.load(tmp_path / "bad.npz")


class Leaves:
    """A value that runs code when it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit(7)",))


def test_no_code_of_a_file_is_run(out, tmp_path):
    arrays = dict(np.load(out.save(tmp_path / "run.npz")))
    np.savez(tmp_path / "bad.npz", **arrays | {"names": np.array([Leaves(), Leaves()], object)})
    with pytest.raises(InvalidValueError, match="it holds no run"):
        covey.Out.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("name", ["run.npz", "run.mat", "run.csv"])
def test_arrays_cannot_be_written(out, tmp_path, name):
    again = covey.Out.load(out.save(tmp_path / name))
    for one in (out, again):
        for array in (one.time, one.poses, one.commands, one.workspace):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("canvas.circle((1, 1))", "canvas has no 'circle'; known: arrows, data"),
        ("canvas.pionts((1, 1))", "did you mean 'points'"),
        ("canvas.polygons(5)", "polygons: 5 is no line"),
        ("canvas.points([1, 2], size=-3)", "give 0 to 100 points"),
        ("canvas.points([1, 2], size='big')", "'big' is no number"),
        ("canvas.polygons([[1, 2], [2, 3], [3, 1]], fill=5)", "fill is 5.0; give an opacity"),
        ("canvas.text([], 'x')", "text: 0 places; give one"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_wrong_drawings(tmp_path, monkeypatch, draw, said):
    (tmp_path / "mine.py").write_text(f"class Mine:\n    def draw(self, canvas):\n        {draw}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ControllerError, match=r"mine\.py:3 in draw") as caught:
        covey.play(stand, addons=["mine.py:Mine"], **QUICK)
    assert said in str(caught.value)


def test_an_addon_that_is_none_is_named():
    class Stps:
        def stp(self, team):
            return 1

    with pytest.raises(InvalidValueError, match="'Stps' is no add-on"):
        covey.play(stand, addons=[Stps], **QUICK)


def test_what_a_team_lacks_says_how_to_get_it():
    @covey.law(sees=("centroid",))
    def declared(team):
        return team.centroid[0], 0.0

    for law in (declared, lambda team: (team.centroid[0], 0.0)):
        with pytest.raises(
            ControllerError, match=r"there is an add-on of this name: give the run addons=\['centroid'\]"
        ):
            covey.play(law, **QUICK)
    with pytest.raises(ControllerError, match=r"there is a sensor of this name: give the run sensors=\['beacon'\]"):
        covey.play(lambda team: (team.beacon.values[:, 0], 0.0), **QUICK)
    with pytest.raises(ControllerError, match="team has no 'compas', did you mean 'compass'"):
        covey.play(lambda team: (team.compas.values, 0.0), sensors=["compass"], **QUICK)


def test_a_setting_without_its_name():
    with pytest.raises(
        InvalidValueError, match=r"compass\(5\): say which setting this is, such as compass\(sigma_deg=5\)"
    ):
        compass(5)

    @covey.sensor("test_mistakes_plain")
    def plain(robot, random):
        return 1.0

    with pytest.raises(InvalidValueError, match=r"plain\(5\): it has no settings of its own; write plain\(\)"):
        plain(5)


def test_two_sensors_of_one_name():
    with pytest.raises(
        InvalidValueError, match=r"two sensors of group 'robot' are called 'compass'; .*name='compass_2'"
    ):
        covey.play(stand, sensors=[compass(), compass()], **QUICK)
    two = covey.play(stand, sensors=[compass(), compass(name="compass_2")], **QUICK)
    assert set(two.readings) == {"compass", "compass_2"}


def test_a_file_that_plays_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import covey\n\n\ndef law(team):\n    return 0.2, 0.0\n\n\ncovey.play(law, robots=3, speed='max')\n"
    )
    assert covey.play("mine.py", **QUICK).commands[0, 0].tolist() == [0.2, 0.0, 0.0]
    assert covey.play(stand, **QUICK).names == ("robot0", "robot1")  # it is no longer being loaded
    with pytest.raises(InvalidValueError, match=r"no controller 'mine', but a file of this name; write mine.py"):
        covey.play("mine", **QUICK)


def test_a_notebook_shows_a_run(out):
    assert out._repr_png_() == out.plot().to_bytes("png")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 0.1, np.aran(3)", "no attribute 'aran', did you mean 'arctan'"),
        ("return 0.1, team.heading.summ()", "no attribute 'summ', did you mean 'sum'"),
        ("return 0.1, math.pi", "name 'math' is not defined; write above: import math"),
        ("return sped, 0.1", "name 'sped' is not defined, did you mean 'speed'"),
        ("return 0.1, omega", "name 'omega' is not defined; write above: omega = …"),
        ("x, y = team.position", "too many values to unpack .*x, y = array.T"),
        ("return team.heading * team.position, 0.1", r"could not be broadcast .*a\[:, None\] \* b"),
        ("count += 1", "'count' where it is not .*team.memory"),
        ("return law(team)", "recursion depth exceeded; a function calls itself without an end"),
        ("return 0.1, team.bearing_to(team.after)", "after itself, without"),
    ],
)
def test_a_wrong_name_or_shape_in_the_code_is_told_with_its_line_and_what_to_write(body, said, tmp_path):
    head = "import numpy as np\ncount, speed = 0, 0.2\n\n\ndef law(team):\n"
    (tmp_path / "law.py").write_text(f"{head}    {body}\n    return 0.0, 0.0\n")
    with pytest.raises(ControllerError, match=rf"law\.py:6 in law: .*{said}"):
        covey.play(tmp_path / "law.py", robots=3, stop_s=0.1, speed="max")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("robts=3", "unknown setting 'robts', did you mean 'robots'"),
        ("starts=[(50, 50, 0)]", "robot0 cannot start at"),
        ("addons=['voronoy']", "did you mean 'voronoi'"),
        ("draw={'wake_style': 'dots'}", "draw.wake_style: must be '-', '--', '-.' or ':'"),
    ],
)
def test_a_wrong_setting_of_a_file_is_told_with_its_line(setting, said, tmp_path):
    (tmp_path / "law.py").write_text(
        f"settings = dict(\n    stop_s=0.1,\n    {setting},\n)\n\n\ndef law(team):\n    return 0, 0\n"
    )
    with pytest.raises(CoveyError, match=rf"law\.py:3: .*{said}"):
        covey.play(tmp_path / "law.py", speed="max")


def test_a_wrong_setting_of_the_call_is_not_blamed_on_the_file(tmp_path):
    (tmp_path / "law.py").write_text("settings = dict(robots=2)\n\n\ndef law(team):\n    return 0, 0\n")
    with pytest.raises(CoveyError, match=r"^max_speed_m_s: must be"):
        covey.play(tmp_path / "law.py", speed="max", max_speed_m_s=-1)
