"""ROS 2: a team of robots as nodes, topics, services and actions that any ROS 2 program sees. Extra ``[ros2]``.

No ROS has to be installed. ``dds`` speaks the wire protocol of ROS 2 (DDS, with Cyclone DDS); ``types`` knows the
messages of a distribution and their bytes.
"""
