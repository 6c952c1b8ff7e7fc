"""What README and docs say of the demo is what its command prints."""

import re
from pathlib import Path

import pytest

import covey
from covey.results.metrics.headlines import of_interest

ROOT = Path(__file__).parents[1]
_TIME = r"(\d+(?:\.\d+)?) s"
CLAIMS = {
    "README.md": rf"Six Pioneer robots have explored a maze of 80 m x 80 m in {_TIME}",
    "docs/watching.md": rf"`maze`, 6 robots, {_TIME}",
}


@pytest.mark.slow
def test_pages_name_the_time_that_the_demo_prints():
    run = covey.load("maze").run()
    shown = of_interest(run)
    (printed, _), (overlap, meaning) = shown["exploration_time_s"], shown["overlap"]
    for page, claim in CLAIMS.items():
        found = re.findall(claim, (ROOT / page).read_text(encoding="utf-8"))
        assert [float(text) for text in found] == [round(printed, 1)], page
    assert (overlap > 1) <= ("share" not in meaning), "a share is at most 1"


def test_no_metric_that_may_exceed_1_is_called_a_share():
    from covey.results.metrics import headlines

    known = {name: text for group in headlines._BY_MISSION.values() for name, text in group.items()}
    for name in ("overlap", "coverage_overlap"):  # n - 1 if all robots saw all
        assert "share" not in known[name]
