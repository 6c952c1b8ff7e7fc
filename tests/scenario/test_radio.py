"""The radio in scenario files: short and long, several, of one's own; written back as it was read."""

import pytest

from covey.errors import ScenarioError
from covey.scenario.load import load_scenario, parse_scenario

START = "world: {empty_m: [10, 10]}\nrobots: [{count: 2}]\n"


def radio(text, **options):
    return parse_scenario(START + f"radio: {text}\n", **options).radio


def test_a_range_is_a_disc():
    assert [m.range_m for m in radio("{range_m: 20}").models] == [20]
    assert [m.range_m for m in parse_scenario(START).radio.models] == [200]


def test_models_combine_and_walls_come_last():
    models = radio("{links: [line_of_sight, {disc: {range_m: 20}}, {log_distance: {sigma_db: 4}}]}").models
    assert [type(m).__name__ for m in models] == ["Disc", "LogDistance", "LineOfSight"]


def test_presets_can_be_changed():
    gz = radio("{preset: gz, range_m: 30}")
    assert (gz.range_m, gz.tx_power_dbm, gz.receiver) == (30, 27, "qpsk")
    assert radio("lora").sensitivity_dbm == -137


@pytest.mark.parametrize(
    "text",
    [
        "{range_m: 20}",
        "[{name: wifi, links: [{disc: {range_m: 5}}]}, {name: lora, channel: b, preset: lora}]",
        "{links: [line_of_sight, {materials: {attenuation_db: {brick: 3.5}}}], protocol: {acknowledged: {retries: 2}}}",
        "{protocol: store_and_forward, interference: true}",
    ],
)
def test_what_is_written_is_what_was_read(text):
    scenario = parse_scenario(START + f"radio: {text}\n")
    assert parse_scenario(scenario.to_yaml()) == scenario


def test_models_of_ones_own_come_from_files(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from covey.comms.protocols import Protocol\n"
        "def far(distance_m, through_walls_m):\n    return distance_m < 30 and through_walls_m < 2\n"
        "class Quiet(Protocol):\n    every: int = 2\n"
    )
    (tmp_path / "s.yaml").write_text(
        START + "radio: {links: ['./mine.py:far'], protocol: {./mine.py:Quiet: {every: 3}}}\n"
    )
    scenario = load_scenario(tmp_path / "s.yaml")
    assert "./mine.py:far" in scenario.to_yaml()
    assert "./mine.py:Quiet" in scenario.to_yaml()
    assert scenario.radio.protocol.every == 3
    from covey.scenario.build import inputs

    assert [p.name for p in inputs(scenario)] == ["mine.py"]
    with pytest.raises(ScenarioError, match="--trusted-only"):
        load_scenario(tmp_path / "s.yaml", trusted_only=True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "{links: [{disc: {range_m: -1}}]}",
            "3:34: radio.links[0].disc.range_m: must be greater than or equal to 0; given: -1",
        ),
        ("{links: [{disk: {}}]}", "radio.links[0]: unknown link 'disk', did you mean 'disc'?"),
        ("{links: [{disc: {rang: 1}}]}", "unknown key 'rang', did you mean 'range_m'?"),
        ("{protocol: acknowleged}", "radio.protocol: unknown protocol 'acknowleged', did you mean 'acknowledged'?"),
        ("lorra", "radio: unknown preset 'lorra', did you mean 'lora'?"),
        ("[{name: a}, {name: a}]", "two radios are called 'a'"),
        ("[]", "the list of radios is empty"),
    ],
)
def test_mistakes_are_named_at_their_place(text, problem):
    with pytest.raises(ScenarioError) as caught:
        radio(text, file="s.yaml")
    assert problem in str(caught.value)
    assert len(caught.value.problems) == 1


def test_ranges_are_overridden_by_their_path():
    assert load_scenario("maze", {"radio.range_m": 12}).radio.range_m == 12
