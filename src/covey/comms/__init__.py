"""Communication of robots: messages, radio links and networks, a blackboard, and tags in the environment."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.comms import links, protocols
    from covey.comms.message import Message
    from covey.comms.radio import Radio
    from covey.comms.samples import RadioSample
    from covey.comms.tags import TagReading, Tags

__all__ = ["Message", "Radio", "RadioSample", "TagReading", "Tags", "links", "protocols"]

__getattr__ = names_of(
    __name__,
    {
        "Message": "covey.comms.message",
        "Radio": "covey.comms.radio",
        "RadioSample": "covey.comms.samples",
        "TagReading": "covey.comms.tags",
        "Tags": "covey.comms.tags",
        "links": ":covey.comms.links",
        "protocols": ":covey.comms.protocols",
    },
)


def __dir__() -> list[str]:
    return __all__
