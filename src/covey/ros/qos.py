"""How a topic is delivered: the profiles that this package uses, one per kind of topic."""

from dataclasses import dataclass, replace

from covey.ros.libraries import Policy, Qos

_BLOCK_NS = 100_000_000  # a reliable write waits at most so long for a slow reader, because it holds Python's lock


@dataclass(frozen=True)
class QosProfile:
    """How a topic is delivered.

    A reliable writer serves readers of both kinds; a reliable reader hears reliable writers only.

    Attributes:
        depth: messages that are kept for a slow reader; older ones are dropped.
        reliable: lost messages are sent again.
        latched: a reader that joins late still gets the last ``depth`` messages ("transient local").
    """

    depth: int
    reliable: bool = True
    latched: bool = False

    def best_effort(self) -> "QosProfile":
        """Return the profile of a reader that hears every writer, for the sensors of other programs."""
        return replace(self, reliable=False)

    def policies(self, user_data: bytes) -> Qos:
        """Return the policies of a writer or reader in the terms of Cyclone DDS."""
        history = Policy.History.KeepLast(self.depth)
        policies = [
            Policy.Reliability.Reliable(_BLOCK_NS) if self.reliable else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if self.latched else Policy.Durability.Volatile,
            history,
            Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False),
            Policy.WriterDataLifecycle(autodispose=False),
            Policy.Userdata(user_data),
        ]
        if self.latched:  # the kept messages are those of the durability service
            policies.append(Policy.DurabilityService(0, history, -1, -1, -1))
        return Qos(*policies)


SENSOR = QosProfile(5)
ODOMETRY = QosProfile(10)
TF = QosProfile(100)
LATCHED = QosProfile(1, latched=True)
"""Maps, ``tf_static``, the state of an action."""
CLOCK = QosProfile(1)
COMMAND = QosProfile(10)
STATE = QosProfile(10)
SERVICE = QosProfile(100)  # ROS has 10, of which requests of many clients in one step would be lost
