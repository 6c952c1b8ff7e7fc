"""Requests to a simulation itself: pause, step, speed, maps, reset."""

import threading

import numpy as np
from tests.ros.test_bridge import sender
from tests.ros.world import Looks, until

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.run import run_in_ros
from covey.ros.settings import BridgeSettings
from covey.scenario.load import load_scenario


def test_the_simulation_is_controlled_by_services_and_by_texts(domain, peer):
    """Whatever a service does, a text on /covey/control does, too."""
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        group = Group("scout", disc(), [(0.0, 0.0, 0.0)], "commanded")
        sim = covey.Simulation(covey.World.empty(8.0, 6.0), [group], hosting=bridge.hosting)
        bridge.before_step(sim)  # makes the topics
        looks = Looks(bridge)
        run = threading.Thread(target=sim.run, kwargs={"before_step": bridge.before_step, "until_s": 1e6})
        run.start()
        try:
            for word in ("pause", "play", "step", "save_map", "reset"):
                peer.client(name=word, service=f"/covey/{word}", kind="Trigger")
            peer.client(name="real_time", service="/covey/real_time", kind="SetBool")
            for word in ("pause", "play", "step", "save_map", "reset", "real_time"):
                until(lambda word=word: peer.ready(name=word))
            sender(peer, "rt/covey/control", "String")
            until(lambda: sim.clock.step)

            def by_service(word, **values):
                peer.call(name=word, number=1, values=values)
                (reply,) = until(lambda: peer.replies(name=word))
                assert reply["success"], reply
                return reply["message"]

            def by_text(text):
                peer.write(topic="rt/covey/control", values={"data": text})

            for pause, play, one_step in (
                (lambda: by_service("pause"), lambda: by_service("play"), lambda: by_service("step")),
                (lambda: by_text("pause"), lambda: by_text("play"), lambda: by_text("step 1")),
            ):
                pause()
                until(lambda: not bridge.pacer.playing and bridge.pacer.steps == 0)
                stood = looks.held()
                one_step()
                until(lambda stood=stood: sim.clock.step == stood + 1)
                play()
                until(lambda stood=stood: sim.clock.step > stood + 5)
            assert by_service("step") == "step; then it is paused"  # it says what becomes of the time that runs
            looks.held()
            by_service("play")
            for real_time, fast in (
                (lambda: by_service("real_time", data=True), lambda: by_service("real_time", data=False)),
                (lambda: by_text("speed 1"), lambda: by_text("speed max")),
            ):
                real_time()
                until(lambda: bridge.pacer.factor == 1.0)
                fast()
                until(lambda: bridge.pacer.factor is None)
            by_text("speed 10")
            until(lambda: bridge.pacer.factor == 10.0)
            by_text("pause")
            until(lambda: not bridge.pacer.playing)
            looks.held()
            by_text("save_map")
            (path,) = until(lambda: list(sim.recorder.folder.glob("map_*.yaml")))
            assert by_service("save_map") == str(path)
            cells, known = covey.World.from_file(path).grid.cells[1:-1, 1:-1], sim.scoring.union().cells  # in a border
            assert np.array_equal(cells == 1, known >= 50)
            assert np.array_equal(cells == 0, known == 0)
            assert (known == 0).any()
            by_text("what is this")  # said, and left out
            by_service("reset")
            run.join(timeout=30)
            assert bridge.again  # another run would begin, see `run_in_ros`
        finally:
            sim.end()
            bridge.pacer.play()
            run.join(timeout=30)
        assert not run.is_alive()


def test_an_answer_of_the_future_is_one_for_this_step_alone(domain, peer):
    """It may be of the run before a reset, or of a program that stamps with the time of its machine."""
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("lockstep", stamped=True))
        group = Group("scout", disc().model_copy(update={"sensors": ()}), [(0.0, 0.0, 0.0)], "commanded")
        sim = covey.Simulation(covey.World.empty(4.0, 3.0), [group], hosting=bridge.hosting)
        bridge.before_step(sim)  # makes the topics
        looks = Looks(bridge)
        run = threading.Thread(target=sim.run, kwargs={"before_step": bridge.before_step, "until_s": 1e6})
        run.start()
        try:
            sender(peer, "rt/scout0/cmd_vel", "TwistStamped")
            for answered in (1, 2):
                peer.write(topic="rt/scout0/cmd_vel", values={"header": {"stamp": {"sec": 1_700_000_000}}})
                until(lambda answered=answered: sim.clock.step >= answered)
                assert looks.held() == answered
        finally:
            sim.end()
            run.join(timeout=30)


def test_a_reset_ends_the_run_and_begins_another(domain, tmp_path):
    scenario = load_scenario("hello", {"stop.timeout_s": 1})
    with Participant(domain) as ros:
        bridge, steps = Bridge(ros, BridgeSettings("max")), []

        def before(sim):
            steps.append(sim.clock.step)
            if len(steps) == 5:
                bridge.control.do("reset")

        run = run_in_ros(scenario, tmp_path / "run", bridge, before_step=before)
    assert steps == [0, 1, 2, 3, 4, *range(10)]
    assert (covey.Run(tmp_path / "run").status, run.status) == ("stopped", "timeout")
    assert run.folder == tmp_path / "run-2"
    assert not run.manifest["repeatable"]
