"""Messages that a page may send, protocol ``covey.1``.

Each is one JSON object; ``type`` selects the record. Each may have a number ``id``: the answer ``done`` or ``refused``
repeats it.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from covey.errors import InvalidValueError
from covey.records import Record, in_words

PROTOCOL = "covey.1"
MOST_BYTES = 1 << 20
"""Largest message of a page [bytes]."""


class Message(Record):
    """Base of all messages of a page."""

    id: int | None = Field(default=None, description="Number that the answer repeats.")


class Ack(Message):
    """The page has drawn a frame."""

    type: Literal["ack"]
    frame: int = Field(ge=0, description="Number of the frame.")


class Watch(Message):
    """What the page shows; it gets only this."""

    type: Literal["watch"]
    layers: tuple[str, ...] = Field(default=(), max_length=5000, description="Names of map layers.")
    details: tuple[str, ...] = Field(default=(), max_length=1000, description="paths, estimates, lidar …")
    robots: tuple[int, ...] = Field(default=(), max_length=5000, description="Numbers of the selected robots.")
    rate_hz: float = Field(default=10.0, gt=0, le=60, description="Largest number of frames per second.")


class Play(Message):
    """Go on."""

    type: Literal["play"]


class Pause(Message):
    """Stand still before the next step."""

    type: Literal["pause"]


class Speed(Message):
    """Change the speed."""

    type: Literal["speed"]
    factor: float | None = Field(ge=1e-3, le=1e6, description="Simulated seconds per second; null: unlimited.")


class Step(Message):
    """Take some steps, then pause."""

    type: Literal["step"]
    count: int = Field(default=1, ge=1, le=1_000_000, description="Number of steps.")


class End(Message):
    """End the run and keep what it has."""

    type: Literal["end"]


class Probe(Message):
    """Ask what the robots' maps say of a place; the answer is of the type ``probe``."""

    type: Literal["probe"]
    x: float = Field(allow_inf_nan=False, description="Place in the world [m].")
    y: float = Field(allow_inf_nan=False, description="Place in the world [m].")


class Do(Message):
    """Let an event happen in the next step, as in a scenario: ``{"door": "d3", "to": "closed"}``."""

    type: Literal["do"]
    event: dict[str, Any] = Field(description="The event, without a time.")


class Undo(Message):
    """Take back the newest change of this viewer."""

    type: Literal["undo"]


class Redo(Message):
    """Do again what this viewer took back last."""

    type: Literal["redo"]


class Me(Message):
    """Say who the viewer is, so that one that comes back has its changes again."""

    type: Literal["me"]
    key: str = Field(min_length=8, max_length=100, description="Random text that nobody else knows.")


class Drive(Message):
    """Drive a robot by hand; it lapses if the page does not repeat it within 0.5 s, or leaves."""

    type: Literal["drive"]
    robot: str = Field(min_length=1, description="Name of the robot.")
    twist: tuple[float, float] | None = Field(description="Speed [m/s] and turn rate [rad/s]; null: let it go.")


class Add(Message):
    """Add a robot before the first step, or take back the one that was added last; the run begins anew."""

    type: Literal["add"]
    group: str = Field(default="", max_length=50, description="Name of its group.")
    pose: tuple[float, float, float] | None = Field(description="x, y [m], heading [deg]; null: take back.")


class Form(Message):
    """Give the form of a scenario, in a gallery."""

    type: Literal["form"]
    name: str = Field(max_length=300, description="Name on the scenario's card.")
    changes: dict[str, str] = Field(
        default={}, max_length=500, description="What has been filled in, as in ``launch``; the form follows it."
    )


class Launch(Message):
    """Start a run of a scenario, in a gallery; ``done`` tells the address of its page."""

    type: Literal["launch"]
    name: str = Field(max_length=300, description="Name on the scenario's card.")
    changes: dict[str, str] = Field(
        default={}, max_length=500, description="What was filled in, by dotted path: text as after ``-s path=``."
    )
    speed: str = Field(default="1", max_length=20, description="max, or simulated seconds per second.")
    paused: bool = Field(default=False, description="Whether it waits before its first step.")


class Open(Message):
    """Open a run of a gallery or a study; ``done`` tells the address of its page."""

    type: Literal["open"]
    run: str = Field(max_length=100, description="Its number in a gallery, its id in a study.")


class Quit(Message):
    """End a run that this gallery has started."""

    type: Literal["quit"]
    run: str = Field(max_length=100, description="Its number.")


AnyMessage = Annotated[
    Ack
    | Watch
    | Probe
    | Play
    | Pause
    | Speed
    | Step
    | End
    | Do
    | Undo
    | Redo
    | Me
    | Drive
    | Add
    | Form
    | Launch
    | Open
    | Quit,
    Field(discriminator="type"),
]
VIEWING = (Ack, Watch, Probe)
"""The messages that a page may send that only watches."""
_ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyMessage)


def read(text: str | bytes) -> Message:
    """Return the message of a page.

    Raises:
        InvalidValueError: it is not a message of this protocol.
    """
    if isinstance(text, bytes):
        raise InvalidValueError("a page sends text, not bytes")
    try:
        return _ADAPTER.validate_python(json.loads(text))
    except RecursionError:
        raise InvalidValueError("the message is nested too deeply") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(str(part) for part in first["loc"])
        raise InvalidValueError(f"{where}: {in_words(first)}" if where else in_words(first)) from None
    except ValueError as error:
        raise InvalidValueError(f"the message is not JSON: {error}") from None
