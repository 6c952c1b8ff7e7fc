"""`covey robot`."""

import sys

from covey.cli.exit_codes import BAD_INPUT, FAILED, REACHED
from covey.runtime.remote.serving import be_robot
from covey.runtime.transport.transport import TransportError


def robot_command(address: str, name: str) -> int:
    """Run one robot until the simulation ends, and return the exit code."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        print(f"{address!r} is not an address; write host:port", file=sys.stderr)
        return BAD_INPUT
    try:
        be_robot((host, int(port)), name)
    except TransportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return FAILED
    return REACHED
