"""Every registered link model and protocol conforms, and the checks find what is wrong."""

import re
from pathlib import Path

import numpy as np
import pytest

from covey.comms.links import GilbertElliott, LinkModel, LogDistance, WallLength, links
from covey.comms.protocols import Protocol, protocols
from covey.registry import load_from_file
from covey.testing import check_link, check_protocol


def half(distance_m, through_m):
    return 0.5 if through_m < 1.0 else 0.0


@pytest.mark.parametrize("name", links.names())
def test_every_link_model_conforms(name):
    check_link(links.get(name)())


@pytest.mark.parametrize(
    "model",
    [LogDistance(same_within_m=3.0), WallLength(function=half), WallLength(max_m=1.0), GilbertElliott(loss_good=0.1)],
    ids=lambda m: type(m).__name__,
)
def test_link_models_with_other_parameters_conform(model):
    check_link(model)


@pytest.mark.parametrize("name", protocols.names())
def test_every_protocol_conforms(name):
    check_protocol(protocols.get(name)())


def test_the_protocol_on_the_page_conforms(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "radio.md").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    check_protocol(load_from_file("./mine.py:Mine", tmp_path)())


class OneWay(LinkModel):
    def probability(self, pairs):
        return (pairs.x[pairs.a] < pairs.x[pairs.b]).astype(float)


class Global(LinkModel):
    def probability(self, pairs):
        return np.random.rand(len(pairs))  # noqa: NPY002


class Crowd(LinkModel):
    def probability(self, pairs):
        return np.full(len(pairs), 1.0 / len(pairs))


class TooMuch(LinkModel):
    def probability(self, pairs):
        return np.full(len(pairs), 2.0)


@pytest.mark.parametrize(
    ("model", "words"),
    [(OneWay(), "both directions"), (Global(), "asked again"), (Crowd(), "other pairs"), (TooMuch(), "outside 0 … 1")],
)
def test_what_is_wrong_with_a_link_model_is_found(model, words):
    with pytest.raises(AssertionError, match=words):
        check_link(model)


class Twice(Protocol):
    def hear(self, frame, station):
        station.deliver(frame)
        station.deliver(frame)


class Silent(Protocol):
    def send(self, frame, station):
        station.drop(frame)


class Loud(Protocol):
    def send(self, frame, station):
        station.transmit(frame, to=-1)


@pytest.mark.parametrize(
    ("protocol", "words"), [(Twice(), "twice"), (Silent(), "loses messages"), (Loud(), "a wrong receiver")]
)
def test_what_is_wrong_with_a_protocol_is_found(protocol, words):
    with pytest.raises(AssertionError, match=words):
        check_protocol(protocol)
