"""Who can be heard: the settings of Cyclone DDS for a domain."""

import logging
import os
import socket
import stat
import sys
from collections.abc import Iterable

from covey.errors import InvalidValueError, UnknownNameError

LOG = logging.getLogger("covey")
_LOOPBACK = b"lo"

# packets as large as the loopback takes: a map of 9 MB is then there three times as soon on a busy machine
_LOCALHOST = (
    "<General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces><AllowMulticast>false</AllowMulticast>"
    "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>64000B</FragmentSize></General>"
    "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
    "<Peers><Peer address='127.0.0.1'/></Peers></Discovery>"
)
_REACHES = {
    "LOCALHOST": _LOCALHOST,
    "SUBNET": "",
    "SYSTEM_DEFAULT": "",
    "OFF": f"<Discovery><Tag>off_{os.getpid()}</Tag></Discovery>"
    "<General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces></General>",
}
"""Settings per value of ROS_AUTOMATIC_DISCOVERY_RANGE."""

# Fast DDS 3 describes its types in a way that Cyclone DDS refuses; 1.15 is its vendor id: take its types by name alone
_ALWAYS = "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"


def reach_of(reach: str | None) -> str:
    """Return the reach that was asked for: by argument, by ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST.

    ROS itself has SUBNET where neither is set; here nothing listens beyond this machine unless asked.

    Raises:
        UnknownNameError: it is none of LOCALHOST, SUBNET, SYSTEM_DEFAULT, OFF.
    """
    if reach is None and os.environ.get("ROS_LOCALHOST_ONLY") != "1":
        reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE")
    if reach in (None, "", "NOT_SET"):
        reach = "LOCALHOST"
    if reach not in _REACHES:
        raise UnknownNameError("reach (ROS_AUTOMATIC_DISCOVERY_RANGE)", reach, _REACHES)
    return reach


def domain_of(domain_id: int | None) -> int:
    """Return the domain: as given, else ROS_DOMAIN_ID, else 0.

    Raises:
        InvalidValueError: it is no whole number from 0 to 232, whose ports exist.
    """
    given = os.environ.get("ROS_DOMAIN_ID") or 0 if domain_id is None else domain_id
    try:
        domain = int(given)
    except ValueError:
        domain = -1
    if not 0 <= domain <= 232:
        raise InvalidValueError(f"domain {given}: a domain of ROS 2 is a whole number from 0 to 232")
    return domain


def configuration(reach: str) -> str:
    """Return the configuration of a domain: the user's CYCLONEDDS_URI, then what the reach needs."""
    ours = f"<CycloneDDS><Domain Id='any'>{_REACHES[reach]}{_ALWAYS}</Domain></CycloneDDS>"
    return ",".join(part for part in (os.environ.get("CYCLONEDDS_URI"), ours) if part)


def udp_sockets() -> set[int]:
    """Return the descriptors of this process that are UDP sockets; none where the system does not list them."""
    try:
        listed = map(int, os.listdir("/proc/self/fd"))
        return {number for number in listed if _is_udp(number)}
    except FileNotFoundError:
        return set()


def _is_udp(number: int) -> bool:
    try:
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return False
        with socket.socket(fileno=os.dup(number)) as end:
            return end.type == socket.SOCK_DGRAM and end.family in (socket.AF_INET, socket.AF_INET6)
    except OSError:  # closed meanwhile
        return False


def keep_local(sockets: Iterable[int]) -> None:
    """Let UDP sockets hear this machine only.

    Cyclone DDS sends on the loopback alone if told so, but its sockets hear all addresses of the machine. Linux can tie
    them to the loopback; elsewhere a firewall must keep out packets that pretend to come from here.
    """
    if sys.platform != "linux":
        return
    for number in sockets:
        try:
            with socket.socket(fileno=os.dup(number)) as end:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, _LOOPBACK)
        except OSError as error:
            LOG.warning("a socket of ROS 2 hears more than this machine: %s", error)
