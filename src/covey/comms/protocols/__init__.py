"""Protocols between a mailbox and its radio."""

from covey.comms.protocols.acknowledged import Acknowledged
from covey.comms.protocols.contention import Csma, SlottedAloha
from covey.comms.protocols.protocol import Direct, Protocol, protocols
from covey.comms.protocols.station import ALL, Frame, Station
from covey.comms.protocols.store_and_forward import StoreAndForward

__all__ = [
    "ALL",
    "Acknowledged",
    "Csma",
    "Direct",
    "Frame",
    "Protocol",
    "SlottedAloha",
    "Station",
    "StoreAndForward",
    "protocols",
]
