"""Arguments of a wrong type are refused in words that say what is allowed."""

import os
import subprocess
import sys
import threading

import pytest

import covey
from covey.errors import InvalidValueError, PlacementError

WORLD = covey.World.empty(6, 6)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((WORLD, 2.5), {}, "robots is 2.5; give a whole number, or a list of covey.Group"),
        (("maze", 2), {}, "world is 'maze'; give a covey.World"),
        ((WORLD, 2), {"seed": "x"}, "seed is 'x'; give a whole number"),
        ((WORLD, 2), {"seed": 1.5}, "seed is 1.5; give a whole number"),
        ((WORLD, 2), {"radio": "20"}, "radio is '20'; give a range"),
        ((WORLD, 2), {"radio": [20]}, r"radio is \[20\]; give a range"),
        ((WORLD, 2), {"radio": -5}, "Radio.range_m: must be greater than or equal to 0; given: -5"),
        ((WORLD, 2), {"share_maps": "yes"}, "share_maps is 'yes'; give a period above 0"),
        ((WORLD, 2), {"stop": 5}, r"stop is 5; give a covey.Stop, such as covey.Stop\(timeout_s=60\)"),
        ((WORLD, 2), {"stop": {"timeout_s": 5}}, "stop is {'timeout_s': 5}; give a covey.Stop"),
        ((WORLD, 2), {"tags": 3.0}, r"tags is 3.0; give a covey.Tags, such as covey.Tags\(range_m=2\)"),
        ((WORLD, 2), {"controller": "./mine.py:go"}, "in Python give the function or class itself"),
        ((WORLD, 2), {"share_maps": 0}, "share_maps is 0; give a period above 0"),
        ((WORLD, 2), {"timeout_s": 9}, r"write stop=covey.Stop\(timeout_s=9\)"),
    ],
)
def test_a_simulation_says_what_it_takes(arguments, options, match):
    with pytest.raises(InvalidValueError, match=match):
        covey.Simulation(*arguments, **options)


def test_a_simulation_is_shown_with_its_world_robots_and_time():
    sim = covey.Simulation(WORLD, 2)
    sim.step()
    assert repr(sim) == "<Simulation empty: 2 robots, 0.1 s, not ended>"


def test_a_group_has_a_model():
    with pytest.raises(InvalidValueError, match=r"robot is 'pioneer3dx'; give a covey\.RobotModel, such as"):
        covey.Group("scout", "pioneer3dx", [(0, 0, 0)])  # pyright: ignore


def test_a_world_has_a_size_in_numbers():
    with pytest.raises(InvalidValueError, match="width_m is '6'; it must be a positive number of metres"):
        covey.World.empty("6", 6)  # pyright: ignore


def test_a_mistyped_name_of_the_package_is_corrected():
    with pytest.raises(AttributeError, match="no attribute 'Simulaton', did you mean 'Simulation'"):
        covey.Simulaton  # noqa: B018


@pytest.mark.parametrize("until_s", [float("nan"), "x", -1, True])
def test_run_says_what_until_s_takes(until_s):
    with pytest.raises(InvalidValueError, match=f"until_s is {until_s!r}; give a simulated time of 0 or more"):
        covey.Simulation(WORLD).run(until_s=until_s)


def test_a_run_that_has_ended_has_no_further_step():
    sim = covey.Simulation(WORLD, stop=covey.Stop(explored=None, timeout_s=0.2))
    for _ in range(2):
        sim.step()
    assert sim.done
    with pytest.raises(InvalidValueError, match=r"the run has ended at 0.2 s \(timeout\), so there is no further step"):
        sim.step()
    assert len(sim.close().times) == 2


def test_one_thread_steps_a_simulation():
    begun, go_on, refused = threading.Event(), threading.Event(), []

    def observe(snapshot):
        if snapshot.step == 1:
            with pytest.raises(InvalidValueError, match="a step of this simulation is under way"):
                sim.step()  # from within a step
            begun.set()
            go_on.wait()

    def another():
        begun.wait()
        try:
            sim.step()
        except InvalidValueError as error:
            refused.append(str(error))
        go_on.set()

    sim = covey.Simulation(WORLD, observers=[observe])
    thread = threading.Thread(target=another)
    thread.start()
    sim.step()
    thread.join()
    sim.step()
    assert refused == ["a step of this simulation is under way; let one thread step it, and nothing that a step calls"]
    assert len(sim.close().times) == 2


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_child_takes_nothing_from_its_parent(tmp_path):
    """Neither the lock of a run folder, nor a temporary folder, nor the right to write; and Polars tells that it cannot."""
    code = (
        "import os, sys, covey\n"
        "kept = covey.Simulation(covey.World.empty(6, 6)); kept.step(); kept = kept.close()\n"
        "kept.measurements\n"
        "sim = covey.Simulation(covey.World.empty(6, 6), recording='run')\n"
        "sim.step()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    for act in (sim.step, lambda: covey.Run(kept.folder).measurements):\n"
        "        try: act()\n"
        "        except covey.errors.CoveyError as error: print(error)\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(os.path.exists('run/.lock'), os.path.exists(kept.folder))\n"
        "sim.step()\n"
        "print(sim.close().measurements.height)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert "this process was forked from the one that made the simulation" in done.stdout, done.stderr
    assert "forked from one that has used polars" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["True True", "2"]


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        ([(0, 0, 0), (0.2, 0, 0)], r"r1 cannot start at \(0.2, 0\): it overlaps r0 at \(0, 0\) by 0.1 m; the nearest free"),
        ([(2.9, 0, 0)], r"r0 cannot start at \(2.9, 0\): a wall is 0.1 m away, but the radius of the body is 0.15 m"),
        ([(9, 0, 0)], r"r0 cannot start at \(9, 0\): this is outside the world; the nearest free place is \(2.8"),
    ],
)  # fmt: skip
def test_a_group_whose_robots_cannot_stand_at_their_starts_is_refused(starts, said):
    """Two discs of 15 cm, 20 cm apart; one 10 cm from the wall at 3 m; one outside."""
    with pytest.raises(PlacementError, match=said):
        covey.Simulation(WORLD, [covey.Group("r", covey.robots.disc(), starts, "still")])
    sim = covey.Simulation(WORLD, [covey.Group("r", covey.robots.disc(), [(2.85, 0, 0), (2.55, 0, 0)], "still")])
    assert sim.names == ["r0", "r1"], "right at the wall, and touching: so they can stand"
    sim.close()


def test_a_group_whose_names_were_read_can_get_a_controller():
    group = covey.Group("a", covey.robots.disc(), [(0.0, 0.0, 0.0)])
    assert group.names == ["a0"]
    sim = covey.Simulation(covey.World.empty(4, 4), [group], lambda robot: robot.drive(0.1))
    assert sim.names == ["a0"]
    sim.close()
