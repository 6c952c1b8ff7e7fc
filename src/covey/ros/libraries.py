# ruff: noqa: F401
"""The libraries of the extra ``[ros2]``. Every import of them is here, so that a missing one is one clear error."""

from covey.errors import CoveyError

try:
    from cyclonedds._clayer import ddspy_take, ddspy_write
    from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
    from cyclonedds.core import DDSException, DDSStatus, InstanceState, ReadCondition, SampleState, ViewState, WaitSet
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.idl import make_idl_struct
    from cyclonedds.idl import types as idl
    from cyclonedds.pub import DataWriter, Publisher
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.sub import DataReader, Subscriber
    from cyclonedds.topic import Topic
    from rosbags.interfaces import Nodetype
    from rosbags.serde import SerdeError
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
except ImportError as error:
    raise CoveyError(f"ROS 2 needs {error.name}; install it with: pip install 'covey[ros2]'") from error
