"""What the lists of names say."""

import re

import pytest

from covey.controllers import controllers
from covey.errors import UnknownNameError
from covey.scenario.shelf import KINDS, _registry, describe, names, paper_of, singular


def test_each_paper_in_the_list_of_controllers_is_authors_and_a_year():
    papers = {name: paper_of(controllers.get(name)) for name in controllers.names()}
    odd = [
        paper for paper in papers.values() if paper and not re.fullmatch(r"[^\W\d][^()\d.]*( et al\.)? \d{4}", paper)
    ]
    assert not odd
    assert papers["partitioned_patrol"] == "van Peet et al. 2025"
    assert papers["follow_leaders"] == "Ji et al. 2008"  # pages 1972-1975
    assert papers["partitioned_coverage"] == "Choset 2000"
    assert papers["orca"] == "van den Berg et al. 2011"
    assert papers["terrain_team"] == "De Rango and Nahavandi 2007"


def test_no_paper_has_the_year_of_a_page_and_each_author_is_one():
    for kind in KINDS[1:]:
        for name in names(kind):
            item = _registry(kind).get(name)
            if paper := paper_of(item):
                text, year = " ".join((item.__doc__ or "").split()), paper[-4:]
                assert not re.search(rf"[:-]{year}|{year}-", text), name
                authors = paper[:-5].removesuffix(" et al.").split(" and ")
                assert all(author in text and any(c.isupper() for c in author) for author in authors), name


def test_a_reference_that_does_not_begin_with_authors_gives_no_paper():
    def strategy(robot):
        """Drive.

        References:
            A program (2025), its rule. P. Somebody: Something else. 2006.
        """

    assert paper_of(strategy) == ""


def test_a_controller_that_is_annotated_for_type_checkers_alone_is_described_too():
    def typed(robot: "Nowhere", *, speed: float = 1.5):  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
        """Drive."""

    controllers.register("typed")(typed)
    try:
        assert "speed: float = 1.5" in describe("typed")
    finally:
        del controllers._items["typed"]


@pytest.mark.parametrize(
    ("robot", "controller", "in_full"), [("disc", "./mine.py:mine", True), ("./mine.py:body", "wander", False)]
)
def test_a_scenario_is_described_without_its_code_and_in_full_if_that_is_enough(tmp_path, robot, controller, in_full):
    """The outline of a controller is known without running its file; what a robot is, is not."""
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n\n\ndef mine(robot):\n    pass\n"
    )
    path = tmp_path / "mine.yaml"
    path.write_text(f"world: {{empty_m: [6, 6]}}\nrobots: [{{robot: {robot}, controller: {controller}}}]\n")
    text = describe(str(path))
    assert "controller: " + controller in text
    assert ("resolution_m" in text.partition("# Every setting")[2]) == in_full
    assert not (tmp_path / "ran").exists()


def test_names_like_what_is_asked_for_are_told_once_each():
    with pytest.raises(UnknownNameError) as error:
        describe("qqqqqq")
    assert len(error.value.known) == len(set(error.value.known))
    assert str(error.value).count("acknowledged") == 1


@pytest.mark.parametrize("kind", KINDS[1:])
def test_whatever_a_file_can_name_is_described(kind):
    for name in names(kind):
        text = describe(name)
        assert f"# {singular(kind)} {name}\n" in text
        assert "Undefined" not in text
