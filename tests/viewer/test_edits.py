"""Who changed what, and what each viewer can take back and do again; a simulation without a page does the changes."""

import pytest

import covey
from covey.controllers import controllers
from covey.errors import InvalidValueError
from covey.viewer.edits import Edits


class Team:
    """Two viewers, 1 and 2, of a simulation that stands."""

    def __init__(self, **options):
        world = covey.World.empty(16, 16, resolution_m=0.1)
        self.events, self.told, self.edits = [], [], Edits()
        options = {"controller": "still"} | options
        self.sim = covey.Simulation(world, robots=2, seed=1, observers=[self.observe], **options)
        self.edits.begin(self.sim)

    def observe(self, snapshot):
        told = self.edits.add_events(self.sim, snapshot.events)
        self.events += [(event.kind, event.other or event.robot) for event in snapshot.events]
        self.told += [(event.kind, told.get(id(event), {})) for event in snapshot.events]

    def wall(self, by, x, name=""):
        self.edits.do(self.sim, by, {"wall": {"from": [x, 5.0], "to": [x, 5.5]}, **({"name": name} if name else {})})

    def step(self):
        self.told.clear()
        self.sim.step()

    def walls(self):
        kinds = {"wall_added": 1, "wall_removed": -1}
        count = {}
        for kind, name in self.events:
            count[name] = count.get(name, 0) + kinds.get(kind, 0)
        return sorted(name for name, there in count.items() if there)


def test_each_viewer_takes_back_its_own_changes_and_does_them_again():
    team = Team()
    team.wall(1, 1.0)
    team.wall(2, 2.0)
    team.wall(1, 3.0)
    team.step()
    assert team.walls() == ["wall 1", "wall 2", "wall 3"]
    assert [(kind, facts["by"], facts["edit"]) for kind, facts in team.told if kind == "input"] == [
        ("input", 1, 1),
        ("input", 2, 2),
        ("input", 1, 3),
    ]
    team.edits.undo(team.sim, 2)
    team.step()
    assert team.walls() == ["wall 1", "wall 3"]
    assert team.told[-1][1] == {"refused": False, "by": 2, "edit": 4, "final": False, "undoes": 2}
    for _ in range(2):
        team.edits.undo(team.sim, 1)
    with pytest.raises(InvalidValueError, match="nothing that can be taken back"):
        team.edits.undo(team.sim, 1)
    team.step()
    assert team.walls() == []
    for _ in range(2):
        team.edits.redo(team.sim, 1)
    with pytest.raises(InvalidValueError, match="taken nothing back"):
        team.edits.redo(team.sim, 1)
    team.step()
    assert team.walls() == ["wall 1", "wall 3"]
    assert [facts.get("redoes") for kind, facts in team.told if kind == "input"] == [1, 3]
    team.edits.undo(team.sim, 1)
    team.step()
    assert team.walls() == ["wall 1"]


def test_undo_three_times_while_paused_takes_back_three_walls():
    team = Team()
    for x in (1.0, 2.0, 3.0, 4.0):
        team.wall(1, x)
    team.step()
    for _ in range(3):
        team.edits.undo(team.sim, 1)
    team.step()
    assert team.walls() == ["wall 1"]
    assert "refused" not in [kind for kind, _ in team.events]


def test_what_waits_for_the_next_step_is_taken_back_before_it_happens():
    team = Team()
    team.wall(1, 1.0)
    team.wall(2, 2.0)
    assert [(one["by"], one["kind"]) for one in team.edits.state(1)["waiting"]] == [(1, "do"), (2, "do")]
    team.edits.undo(team.sim, 1)
    assert [one["by"] for one in team.edits.state(1)["waiting"]] == [2]
    assert team.edits.state(1)["redo"]["wall"]["from"] == [1.0, 5.0]
    team.step()
    assert team.walls() == ["wall 1"]
    assert team.edits.state(2)["undo"]["name"] == "wall 1"
    team.edits.redo(team.sim, 1)
    team.step()
    assert team.walls() == ["wall 1", "wall 2"]


def test_a_new_change_forgets_what_its_viewer_could_do_again_but_not_that_of_others():
    team = Team()
    for by in (1, 2):
        team.wall(by, by)
    team.step()
    for by in (1, 2):
        team.edits.undo(team.sim, by)
    team.step()
    team.wall(1, 3.0)
    team.edits.drive(team.sim, 2, {"drive": "robot0", "twist": [0.1, 0.0]})
    assert team.edits.state(1)["redo"] is None
    assert team.edits.state(2)["redo"]["name"] == "wall 2"


def test_a_refusal_is_its_viewers_and_what_is_gone_leaves_the_stack():
    team = Team()
    team.wall(1, 1.0)
    team.step()
    team.edits.do(team.sim, 2, {"remove": "wall 1"})
    team.step()
    team.edits.undo(team.sim, 1)
    team.step()
    refused = [facts for kind, facts in team.told if kind == "refused"]
    assert [(one["by"], one["refused"]) for one in refused] == [(1, True)]
    assert team.edits.state(1)["undo"] is None
    team.edits.undo(team.sim, 2)
    team.step()
    assert team.walls() == ["wall 1"]


def test_a_wall_that_a_robot_keeps_from_coming_back_can_be_tried_again():
    team = Team()
    team.wall(1, 3.0)
    team.step()
    team.edits.do(team.sim, 1, {"remove": "wall 1"})
    team.step()
    before = team.sim.state.pose[0].tolist()
    team.edits.do(team.sim, 2, {"place": "robot0", "pose": [3.0, 5.2, 0.0]})
    team.step()
    team.edits.undo(team.sim, 1)
    team.step()
    assert team.walls() == []
    team.edits.undo(team.sim, 2)
    team.step()
    assert team.sim.state.pose[0, :2].tolist() == pytest.approx(before[:2], abs=1e-3)
    team.edits.undo(team.sim, 1)
    team.step()
    assert team.walls() == ["wall 1"]


@pytest.mark.parametrize(
    ("deed", "kinds"),
    [
        ({"jam": {"centre_m": [3, 3], "radius_m": 1}}, ["jam", "jam_over", "jam"]),
        ({"kind": "radio_dies", "robot": "robot1"}, ["fault", "recovered", "fault"]),
        ({"kind": "radio_dies", "robot": "all"}, ["fault", "fault", "recovered", "recovered", "fault", "fault"]),
        ({"place": "robot0", "pose": [1.0, 1.0, 90.0]}, ["placed", "placed", "placed"]),
        ({"obstacle": {"path_m": [[1, 5], [2, 5]], "radius_m": 0.1, "speed_m_s": 0.1}}, None),
    ],
)
def test_it_is_done_taken_back_and_done_again(deed, kinds):
    team = Team()
    team.edits.do(team.sim, 1, deed)
    team.step()
    team.edits.undo(team.sim, 1)
    team.step()
    team.edits.redo(team.sim, 1)
    team.step()
    happened = [kind for kind, _ in team.events if kind != "input"]
    assert happened == (kinds or ["obstacle_added", "obstacle_removed", "obstacle_added"])
    assert team.edits.state(1)["undo"] is not None


def test_an_order_is_refused_where_no_controller_takes_one(monkeypatch):
    order = {"order": {"objective_m": [1.0, 1.0]}}
    team = Team()
    with pytest.raises(InvalidValueError, match="no controller of this team takes orders"):
        team.edits.do(team.sim, 1, order)
    monkeypatch.setattr(controllers.get("still"), "takes_orders", True, raising=False)
    team.edits.do(team.sim, 1, order)
    team.step()
    assert ("order", "") in team.events


def test_a_robot_that_was_sent_is_let_go_by_undo():
    team = Team()
    team.edits.do(team.sim, 1, {"drive": "robot0", "to": [4.0, 4.0]})
    team.step()
    team.edits.undo(team.sim, 1)
    team.step()
    assert [kind for kind, _ in team.events] == ["driven", "input", "drive_over", "input"]


def test_an_input_of_a_program_is_nobodys_and_a_drive_is_final():
    team = Team()
    team.sim.do({"drive": "robot0", "twist": [0.1, 0.0]})
    team.edits.drive(team.sim, 1, {"drive": "robot1", "twist": [0.1, 0.0]})
    team.step()
    told = [facts for kind, facts in team.told if kind == "input"]
    assert told == [{"refused": False}, {"refused": False, "by": 1, "edit": 1, "final": True}]
