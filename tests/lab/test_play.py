import numpy as np
import polars as pl
import pytest

import covey
from covey.lab import picture

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def play(law, robots=3, **settings):
    return covey.play(law, **({"robots": robots, "workspace": SQUARE, "stop_s": 1.0, "speed": "max"} | settings))


def test_cyclic_pursuit_settles_on_the_circle_of_theory():
    def law(team):
        return 0.2, 0.8 * team.bearing_to(team.after(1))

    out = play(law, 6, stop_s=60, seed=0)
    centre = out.poses[-1, :, :2].mean(axis=0)
    # Marshall, Broucke, Francis 2004: r = s / (k pi d / n) with d = 1
    assert np.hypot(*(out.poses[-1, :, :2] - centre).T) == pytest.approx(0.2 * 6 / (0.8 * np.pi), abs=0.01)


def test_arrays_of_a_run():
    out = play(lambda team: (0.5, 0.0), starts=[(1, 1, 0), (1, 3, np.pi / 2), (1, 5, 0)], sampling_s=0.2)
    assert out.time == pytest.approx(np.arange(6) * 0.2)
    assert out.poses.shape == (6, 3, 3)
    assert out.commands.shape == (5, 3, 3)
    assert out.poses[0].tolist() == [[1, 1, 0], [1, 3, np.pi / 2], [1, 5, 0]]
    assert out.poses[-1] == pytest.approx(np.array([[1.5, 1, 0], [1, 3.5, np.pi / 2], [1.5, 5, 0]]))
    assert (out.commands == [0.5, 0, 0]).all()
    assert out.workspace.tolist() == [list(map(float, p)) for p in SQUARE]


def test_the_team_in_its_own_words():
    seen = {}

    def law(team):
        seen["after"], seen["before"] = team.after(1).tolist(), team.before(1).tolist()
        seen["bearing"], seen["distance"] = team.bearing_to((1, 5)), team.distance_to(team.after(1))
        seen["offset"] = team.offset_to(0)
        seen["named"] = team.distance_to("robot2")
        seen["dt"], seen["workspace"] = team.dt, team.workspace.tolist()
        return 0.0, 0.0

    # robot 0 looks east, robot 1 north, robot 2 west
    play(law, starts=[(1, 1, 0), (4, 5, np.pi / 2), (1, 8, np.pi)], stop_s=0.1)
    assert seen["after"] == [1, 2, 0]
    assert seen["before"] == [2, 0, 1]
    assert seen["bearing"] == pytest.approx([np.pi / 2, np.pi / 2, np.pi / 2])
    assert seen["distance"] == pytest.approx([5, np.sqrt(18), 7])
    assert seen["offset"] == pytest.approx(np.array([[0, 0], [-4, 3], [0, 7]]), abs=1e-12)
    assert seen["named"] == pytest.approx([7, np.sqrt(18), 0])
    assert (seen["dt"], seen["workspace"]) == (0.1, [list(map(float, p)) for p in SQUARE])


def test_bearings_are_above_minus_pi_and_up_to_pi():
    seen = []

    def law(team):
        seen.append(team.bearing_to((1.0, 1.0)))
        return 0, 0

    play(law, starts=[(3, 1, 0), (5, 1, 0.5), (7, 1, -0.5)], stop_s=0.1)
    assert seen[0] == pytest.approx([np.pi, np.pi - 0.5, -np.pi + 0.5])


@pytest.mark.parametrize(
    ("answer", "twist"),
    [
        (lambda n: (0.3, 0.1), (0.3, 0, 0.1)),
        (lambda n: (np.full(n, 0.3), 0.1), (0.3, 0, 0.1)),
        (lambda n: [0.3, np.full(n, 0.1)], (0.3, 0, 0.1)),
        (lambda n: np.tile([0.3, 0.1], (n, 1)), (0.3, 0, 0.1)),
        (lambda n: [(0.3, 0.1)] * n, (0.3, 0, 0.1)),
        (lambda n: np.tile([0.3, 0, 0.1], (n, 1)), (0.3, 0, 0.1)),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_answers(answer, twist, n):
    out = play(lambda team: answer(n), n)
    assert (out.commands == twist).all()


def test_holonomic_robots_are_commanded_in_the_world_frame():
    model = covey.robots.disc(kinematics="holonomic")
    out = play(lambda team: (0.3, -0.4), 2, robot=model, starts=[(2, 5, 0.0), (5, 5, 2.0)])
    assert out.poses[-1] == pytest.approx(np.array([[2.3, 4.6, 0], [5.3, 4.6, 2.0]]), abs=1e-9)


def test_leaving_an_open_workspace_is_told_by_its_polygon():
    triangle = [(0, 0), (10, 0), (0, 10)]
    out = play(lambda team: (1.0, 0.0), 1, workspace=triangle, border="open", starts=[(4.05, 5, 0)], stop_s=3)
    (event,) = out.events.to_dicts()
    # it leaves across x + y = 10, after 0.95 m: between 0.9 and 1.0 s
    assert (event["kind"], event["time_s"]) == ("left_world", pytest.approx(1.0))
    assert out.poses[-1, 0] == pytest.approx([7.05, 5, 0])


def test_the_same_seed_gives_the_same_run():
    def law(team):
        return 0.3, team.random.normal(size=team.count)

    first, again, other = (play(law, seed=seed) for seed in (1, 1, 2))
    assert (first.poses == again.poses).all()
    assert not (first.poses[0] == other.poses[0]).any()


def test_memory_lasts_for_one_run():
    counts = []

    def law(team):
        team.memory.calls = getattr(team.memory, "calls", 0) + 1
        counts.append(team.memory.calls)
        return 0, 0

    play(law, stop_s=0.3)
    play(law, stop_s=0.3)
    assert counts == [1, 2, 3, 1, 2, 3]


def test_two_kinds_of_robots_under_one_law():
    def law(team):
        assert team.names == ("robota0", "robota1", "robotb0")
        return 0.5, np.array([0.0, 0.0, 0.3])  # the holonomic robot goes along x and y of the world

    robots = [
        {"count": 2, "starts": [(1, 1, 0), (1, 3, np.pi / 2)]},
        {"kinematics": "holonomic", "starts": [(5, 5, 2)]},
    ]
    out = play(law, robots)
    assert out.poses[-1] == pytest.approx(np.array([[1.5, 1, 0], [1, 3.5, np.pi / 2], [5.5, 5.3, 2]]), abs=1e-9)


def test_a_law_of_two_kinds_of_robots_may_write_notes():
    def law(team):
        if team.time == 0.0:
            team.note(2, "here")
            team.note("robota1", "there")
        return 0.0, 0.0

    robots = [{"count": 2, "starts": [(1, 1, 0), (1, 3, 0)]}, {"kinematics": "holonomic", "starts": [(5, 5, 2)]}]
    out = play(law, robots, stop_s=0.3)
    notes = out.events.filter(out.events["kind"] == "note")
    assert sorted(zip(notes["robot"], notes["text"], strict=True)) == [("robota1", "there"), ("robotb0", "here")]


def test_wheels_saturate_and_keep_the_direction():
    settings = {"max_speed_m_s": 0.5, "wheel_separation_m": 0.4, "starts": [(5, 5, 0)]}
    out = play(lambda team: (1.0, 2.0), 1, **settings)
    # the faster wheel would go at 1 + 2 * 0.2 = 1.4 m/s; both commands are scaled by 0.5 / 1.4
    assert out.twists[-1, 0] == pytest.approx([1.0 * 0.5 / 1.4, 0, 2.0 * 0.5 / 1.4])


def test_the_body_is_ahead_of_the_axle():
    # the axle is 2 m from the wall, the front of the body 2 - 0.1 - 0.2 m
    settings = {"centre_to_barycentre_m": 0.1, "diameter_m": 0.4, "starts": [(8, 5, 0)], "stop_s": 5}
    out = play(lambda team: (1.0, 0.0), 1, **settings)
    assert out.poses[-1, 0, 0] == pytest.approx(9.7, abs=1e-3)
    assert out.events["kind"].to_list() == ["collision"]
    assert out.events["time_s"][0] == pytest.approx(1.7, abs=0.11)


def test_a_command_takes_effect_after_its_delay():
    out = play(lambda team: (1.0, 0.0), 1, command_delay_s=0.3, starts=[(1, 5, 0)])
    assert out.poses[-1, 0, 0] == pytest.approx(1 + 0.7)
    assert (out.commands[:, 0, 0] == 1).all()


def test_a_sampling_time_of_one_second():
    out = play(lambda team: (0.5, 0.0), 1, sampling_s=1.0, stop_s=3, starts=[(1, 5, 0)])
    assert out.time.tolist() == [0, 1, 2, 3]
    assert out.poses[:, 0, 0] == pytest.approx([1, 1.5, 2, 2.5])


def test_obstacles_are_polygons_and_segments_in_a_workspace_that_is_not_convex():
    l_shape = [(0, 0), (8, 0), (8, 4), (4, 4), (4, 8), (0, 8)]
    world = {"workspace": l_shape, "obstacles": [[(5, 1), (6, 1), (6, 2), (5, 2)]], "walls": [[(1, 5), (3, 5)]]}
    out = play(lambda team: (1.0, 0.0), starts=[(1, 1.5, 0), (2, 3, np.pi / 2), (2, 7, 0)], stop_s=6, **world)
    # body radius 0.15 m: the obstacle at x = 5, the wall at y = 5 - 0.05, the border at x = 4
    assert out.poses[-1, 0, 0] == pytest.approx(4.85, abs=1e-3)
    assert out.poses[-1, 1, 1] == pytest.approx(4.8, abs=1e-3)
    assert out.poses[-1, 2, 0] == pytest.approx(3.85, abs=1e-3)


def test_the_run_ends_with_the_message_of_its_end_condition():
    def until(team):
        return f"past 2 m at {team.time:g} s" if team.position[0, 0] >= 2 - 1e-9 else False

    out = play(lambda team: (1.0, 0.0), 1, until=until, starts=[(1, 5, 0)], stop_s=9)
    assert (out.status, out.message, out.time[-1]) == ("reached", "past 2 m at 1 s", pytest.approx(1.0))
    assert "ended at 1 s: past 2 m at 1 s" in out.remarks()


def test_collisions_are_told(caplog):
    out = play(lambda team: (1.0, 0.0), 2, starts=[(1, 5, 0), (9, 8, 0)], stop_s=3)
    (event,) = out.events.to_dicts()
    assert (event["kind"], event["robot"], event["other"]) == ("collision", "robot1", "wall")
    assert any("1 contact, first robot1 with wall" in message for message in caplog.messages)


def test_all_readings_of_every_step():
    settings = {"sensors": [{"kind": "proximity", "sectors": 4, "range_m": 1.0}], "starts": [(8, 5, 0), (1, 1, 0)]}
    out = play(lambda team: (1.0, 0.0), 2, **settings)
    ring = out.readings["proximity"]
    assert ring.robots == ("robot0", "robot1")
    assert ring.times == pytest.approx(np.arange(10) * 0.1)
    ahead = np.array([2 - 0.1 * k for k in range(10)])  # from the centre of robot 0 to the wall
    assert ring.ranges[:, 0, 0] == pytest.approx(np.where(ahead < 1, ahead, np.inf))
    assert (ring.presence[:, 0, 0] == (ahead < 1)).all()


@pytest.mark.parametrize("name", ["run.npz", "run.mat", "folder"])
def test_a_run_is_saved_and_opened(tmp_path, name):
    settings = {"sensors": [{"kind": "proximity", "sectors": 4, "range_m": 1.0}], "starts": [(8, 5, 0), (1, 1, 0)]}
    out = play(lambda team: (1.0, 0.1), 2, **settings, stop_s=2.5)
    again = covey.Out.load(out.save(tmp_path / name))
    for array in ("time", "poses", "commands", "twists", "workspace", "radius"):
        assert (getattr(again, array) == getattr(out, array)).all(), array
    assert [discs.tolist() for discs in again.discs] == [[[0.0, 0.0, 0.15]]] * 2
    assert again.names == out.names
    assert again.status == out.status == "timeout"
    assert again.events.equals(out.events)
    assert again.frame.equals(out.frame)
    assert len(out.events) > 0
    assert again.readings["proximity"].presence.dtype == bool
    for array in ("ranges", "presence", "angles"):
        assert (getattr(again.readings["proximity"], array) == getattr(out.readings["proximity"], array)).all()
    assert again.plot().to_bytes("png")[:4] == b"\x89PNG"


def test_a_body_is_drawn_where_it_is_not_around_its_axle(monkeypatch):
    circles = []
    circle = picture.Circle
    monkeypatch.setattr(
        picture, "Circle", lambda at, radius, **how: circles.append((*at, radius)) or circle(at, radius, **how)
    )
    out = play(lambda team: (0.0, 0.0), 1, starts=[(4, 5, np.pi / 2)], diameter_m=0.6, centre_to_barycentre_m=0.2)
    out.plot()
    assert np.allclose(circles, (4.0, 5.2, 0.3))


def test_a_table_of_poses_and_commands(tmp_path, caplog):
    out = play(lambda team: (0.3, 0.1), 2, sensors=["compass", "proximity", {"kind": "imu", "rate_hz": 5}])
    again = covey.Out.load(out.save(tmp_path / "run.csv"))
    assert "a .csv file has no columns for the presence, ranges, angles of proximity; save" in caplog.text
    table = pl.read_csv(tmp_path / "run.csv")
    found = out.readings["compass"]
    newest = [[v for t, v in zip(found.times, found.values, strict=True) if t <= now + 1e-6][-1] for now in out.time]
    assert table["reading_compass"].to_list() == pytest.approx(np.ravel(newest))
    assert table["reading_imu_turn_rate"].drop_nulls().to_list()[-1] == pytest.approx(0.1, abs=0.02)  # with noise
    assert not any("proximity" in name for name in table.columns)
    assert (again.poses == out.poses).all()
    assert (again.commands == out.commands).all()
    assert (again.time == out.time).all()
    assert out.frame.columns[:5] == ["time_s", "robot", "x_m", "y_m", "heading_rad"]


def test_scipy_reads_the_matlab_file(tmp_path):
    from scipy import io

    out = play(lambda team: (0.3, 0.1), 2)
    found = io.loadmat(str(out.save(tmp_path / "run.mat")))
    assert (found["poses"] == out.poses).all()
    assert [str(text[0]) for text in found["names"].ravel()] == ["robot0", "robot1"]


@pytest.mark.slow
def test_a_film(tmp_path):
    from PIL import Image

    out = play(lambda team: (0.3, 0.1), 2)
    with Image.open(out.film(tmp_path / "film.gif", seconds=0.5)) as film:
        assert film.n_frames == 6
        size = film.size
    with Image.open(out.film(tmp_path / "film.gif", seconds=0.5, caption="Two robots in a circle.")) as film:
        assert (film.n_frames, film.width) == (6, size[0])
        assert film.height > size[1]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"robot_count": 3}, "unknown setting 'robot_count'"),
        ({"max_sped_m_s": 3}, "did you mean 'max_speed_m_s'"),
        ({"robots": 0}, "robots is 0; a team has at least one"),
        ({"robots": "six"}, "robots is 'six'; give their number"),
        ({"starts": [(1, 1, 0)]}, r"starts has the shape \(1, 3\); 3 robots need \(3, 3\)"),
        ({"starts": [(1, 1, 90), (2, 2, 0), (3, 3, 0)]}, r"the heading of robot0 is 90; .* write np.radians\(90\)"),
        ({"starts": [(1, 1, 0), (1, 1, 0), (3, 3, 0)]}, "overlaps robot0"),
        ({"workspace": [0, 10, 10, 0]}, r"give its vertices \[m\], such as"),
        ({"workspace": [(0, 0), (10, 0), (0, 10), (10, 10)]}, "not a simple polygon"),
        ({"border": "wall"}, "border: must be 'walls' or 'open'"),
        ({"stop_s": -1}, "stop_s: must be greater than 0"),
        ({"sampling_s": 0}, "sampling_s: must be greater than 0"),
        ({"speed": "fast"}, "speed"),
        ({"until": 3}, "until is 3; give a function of the team"),
        ({"sensors": [{"kind": "proximty"}]}, "proximity"),
        ({"draw": {"wake_stile": "--"}}, "did you mean 'wake_style'"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises(covey.CoveyError, match=said):
        play(lambda team: (0, 0), **settings)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("0.2, 0.1", "{file}:2 in law: the law returned nothing; end it with: return speed, turn"),
        ("return 0.2", "{file}:2 in law: the law returned 0.2 alone; write: return speed, turn"),
        ("return 0.2, np.nan", "{file}:2 in law: turn of robot0 is nan at 0 s"),
        ("return np.zeros((2, 3))", "{file}:2 in law: the law returned an array of shape (2, 3) for 3 robots"),
        ("return np.zeros(5), 0", "{file}:2 in law: speed has the shape (5,); give a number or an array of 3"),
        ("return 'fast', 0", "{file}:2 in law: the law returned 'fast' where numbers belong"),
        ("return 0, team.bearing_too(1)", "{file}:2 in law: AttributeError: team has no 'bearing_too', did you mean"),
        ("return 0, team.bearing_to(7)", "{file}:2 in law: there is no robot 7"),
        ("return 0, team.bearing_to('r9')", "{file}:2 in law: UnknownNameError: unknown robot 'r9'"),
        ("team.count = 3", "{file}:2 in law: AttributeError: team.count cannot be set; keep your own values in"),
        ("team.pose[0] = 1", "{file}:2 in law: ValueError: assignment destination is read-only; what a law is given"),
        ("p = team.position; p -= 1", "{file}:2 in law: ValueError: output array is read-only; what a law is given"),
        ("team.heading.sort()", "{file}:2 in law: ValueError: sort array is read-only; what a law is given cannot be"),
        ("np.abs(team.pose, out=team.pose)", "{file}:2 in law: ValueError: output array is read-only; what a law is"),
    ],
)
def test_a_student_reads_what_to_write_instead(tmp_path, body, said):
    file = tmp_path / "law.py"
    file.write_text(f"def law(team):\n    {body}\nimport numpy as np\n")
    with pytest.raises(covey.ControllerError) as caught:
        play(str(file))
    assert str(caught.value).startswith(said.format(file=file))
    assert "\n" not in str(caught.value)


def test_a_law_with_other_arguments(tmp_path):
    file = tmp_path / "law.py"
    file.write_text("\n\ndef law(team, gain):\n    return 0, 0\n\n\ndef none():\n    return 0, 0\n")
    wanted = (
        f"{file}:3: law(team, gain) cannot be called with the team alone; write: def law(team), and give gain a def"
    )
    with pytest.raises(covey.InvalidValueError) as caught:
        play(str(file))
    assert str(caught.value).startswith(wanted)
    with pytest.raises(covey.InvalidValueError, match=r"none\(\) cannot be called with the team alone"):
        play(f"{file}:none")


def test_the_settings_of_the_call_win_over_those_of_a_file_and_that_is_said(tmp_path, caplog):
    file = tmp_path / "law.py"
    file.write_text("settings = dict(robots=2, sampling_s=0.5)\n\n\ndef law(team):\n    return 0, 0\n")
    out = play(str(file), robots=5)
    assert out.poses.shape == (3, 5, 3)
    assert "law.py sets robots=2; the call overrules it: robots=5" in caplog.messages


def test_a_hand_in_cannot_move_its_start_to_the_goal(tmp_path):
    file = tmp_path / "law.py"
    file.write_text("settings = dict(starts=[(6.5, 5, 0)])\n\n\ndef law(team):\n    return 0, 0\n")
    assert play(str(file), robots=1, starts=[(1, 5, 0)]).poses[-1, 0].tolist() == [1, 5, 0]


def test_a_file_that_ends_the_program_at_its_import_is_refused_with_its_line(tmp_path):
    file = tmp_path / "law.py"
    file.write_text("import sys\n\n\ndef law(team):\n    return 0, 0\n\n\nsys.exit(0)\n")
    with pytest.raises(covey.InvalidValueError, match=r"SystemExit: law.py:8: 0: it ends the program while it is load"):
        play(str(file))


def test_the_sensor_neighbours_is_read_under_its_own_name_beside_the_graph():
    seen = []

    def of_team(team):
        seen.append((team.neighbours.bearings[0, 0], team.neighbours(covey.graphs.proximity(9))[0, 1]))
        return 0, 0

    @covey.law(sees=("neighbours",), graph=covey.graphs.proximity(9))
    def of_each(me):
        seen.append((me.reading("neighbours").bearings[0], me.neighbours.bearing[0]))
        return 0, 0

    given = {"robots": 2, "starts": [(3, 5, 0), (3, 7, 0)], "sensors": [{"kind": "neighbours", "range_m": 8}]}
    play(of_team, **given)
    assert seen[-1] == pytest.approx((np.pi / 2, True))
    play(of_each, **given)
    assert seen[-2] == pytest.approx((np.pi / 2, np.pi / 2))

    def without(team):
        return 0, team.neighbours.bearings[:, 0]

    with pytest.raises(covey.ControllerError, match=r"for a sensor give the run sensors=\['neighbours'\]"):
        play(without, robots=2)


def test_which_function_of_a_file_is_the_law(tmp_path):
    file = tmp_path / "laws.py"
    file.write_text("def a(team):\n    return 0.1, 0\n\n\ndef b(team):\n    return 0.2, 0\n")
    assert play(f"{file}:b").commands[0, 0, 0] == 0.2
    with pytest.raises(covey.InvalidValueError, match=r"no function called law; it has a, b; name one: laws.py:a"):
        play(str(file))
    with pytest.raises(covey.UnknownNameError, match=r"unknown law in laws.py 'c'"):
        play(f"{file}:c")
    with pytest.raises(covey.InvalidValueError, match=r"no file 'lows.py' .* did you mean"):
        play(str(tmp_path / "lows.py"))
