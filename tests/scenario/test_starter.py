"""What `covey new` writes is a run in which the robots get somewhere."""

import covey
from covey.scenario.starter import write_starter


def test_the_first_robots_turn_away_before_they_touch_anything(tmp_path):
    written, _ = write_starter("search", tmp_path)
    run = covey.load_scenario(written).build(tmp_path / "run").run()
    assert run.metrics["collisions"] == run.metrics["collisions_wall"] == 0
    assert run.poses[-1, :, 1].max() - run.poses[:, :, 1].min() > 4.0, "they leave their lanes along x"
