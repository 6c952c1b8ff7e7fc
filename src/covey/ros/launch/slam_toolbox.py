"""Parameters of slam_toolbox."""

from typing import Any

from covey.ros.launch.robots import NavigatedRobot


def slam_toolbox(robot: NavigatedRobot) -> dict[str, Any]:
    """Return the parameters of slam_toolbox for one robot; its topics are relative to the robot's namespace.

    References:
        The names: declared in slam_toolbox_common.cpp, Mapper.cpp and map_saver.cpp of SteveMacenski/slam_toolbox,
        branches ros2 and humble.
    """
    parameters = {
        "use_sim_time": True,
        "map_frame": robot.frame("map"),
        "odom_frame": robot.frame("odom"),
        "base_frame": robot.frame("base_link"),
        "scan_topic": robot.topic,
        "map_name": "map",
        "resolution": robot.resolution_m,
        "max_laser_range": robot.lidar.range_m,
        "minimum_time_interval": max(0.1, 1.0 / robot.lidar.rate_hz),
        "minimum_travel_distance": 0.3,
        "minimum_travel_heading": 0.3,
        "map_update_interval": 2.0,
        "transform_publish_period": 0.05,
        "transform_timeout": 0.2,
        "tf_buffer_duration": 30.0,
        "throttle_scans": 1,
        "use_scan_matching": True,
        "do_loop_closing": True,
        "scan_buffer_maximum_scan_distance": min(robot.lidar.range_m, 10.0),
        "enable_interactive_mode": False,
    }
    return {robot.name: {"slam_toolbox": {"ros__parameters": parameters}}}
