"""The short answers and the first study work as they stand."""

import re
from pathlib import Path

import covey
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import plan
from covey.results.metrics import compute, metrics

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_python_of_the_answers_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = {}
    try:
        for code in blocks("howto.md", "python"):
            exec(code, found)
        assert capsys.readouterr().out.startswith("("), "the shape of the readings"
        run = found["run"]
        assert compute(run)["mean_turn_rad_s"] > 0, "it drives along a square"
    finally:
        metrics.forget("mean_turn_rad_s")


def test_the_study_of_a_page_is_a_design(tmp_path):
    (text,) = blocks("first_study.md", "yaml")
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    assert len(plan(load_design(path))) == 12
    assert load_design(path).design == "crowding"


def test_the_runs_of_the_smoke_study_are_as_many_as_the_page_says():
    (count,) = re.findall(r"covey run smoke --jobs 2 +# (\d+) runs", (DOCS / "first_study.md").read_text("utf-8"))
    assert len(plan(covey.load_design("smoke"))) == int(count)
