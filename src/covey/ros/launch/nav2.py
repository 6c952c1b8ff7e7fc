"""Parameters of Nav2: AMCL, planner, controller, behaviors, navigator and velocity smoother."""

import math
from typing import Any

from covey.ros.launch.robots import NEWEST, NavigatedRobot

_MARGIN_M = 0.35
"""Width of the ring around the body in which Nav2 prefers not to drive [m]."""
_DELAY_S = 0.3
"""Age of a transform that is still taken [s]: three steps of a simulation with steps of 0.1 s."""
_ALWAYS = {"use_sim_time": True}


def nav2(robot: NavigatedRobot, distro: str) -> dict[str, Any]:
    """Return the parameters of Nav2 for one robot.

    The controller is Regulated Pure Pursuit, which is in all distributions and takes the least computing time. The
    nodes that are not started (collision monitor, docking, routes) have no parameters.

    The costmaps name the robot's topics in full: up to Jazzy they take a relative name as one below their own name,
    and Nav2's example files, which have ``/scan``, would let all robots see the scans of none.

    References:
        The names: declared in the sources of ros-navigation/navigation2, branches humble, jazzy, kilted,
        lyrical and main.
    """
    stamped = {} if distro == "humble" else {"enable_stamped_cmd_vel": distro != "jazzy"}
    nodes = {
        "controller_server": {**_controller(robot, distro), **stamped},
        "planner_server": _planner(distro),
        "behavior_server": {**_behaviors(robot, distro), **stamped},
        "bt_navigator": {
            "global_frame": robot.frame("map"),
            "robot_base_frame": robot.frame("base_link"),
            "odom_topic": "odom",
            "transform_tolerance": _DELAY_S,
        },
        "velocity_smoother": {**_smoother(robot), **stamped},
    }
    if robot.localization == "amcl":
        nodes["amcl"] = _amcl(robot)
    sections: dict[str, Any] = {name: {"ros__parameters": _ALWAYS | of} for name, of in nodes.items()}
    costmaps = {"local_costmap": _local_costmap(robot), "global_costmap": _global_costmap(robot)}
    sections |= {name: {name: {"ros__parameters": _ALWAYS | of}} for name, of in costmaps.items()}
    return {robot.name: sections}


def _amcl(robot: NavigatedRobot) -> dict[str, Any]:
    x, y, yaw = (round(float(value), 4) for value in robot.start)
    model = "Omni" if robot.model.kinematics == "holonomic" else "Differential"
    return {
        "global_frame_id": robot.frame("map"),
        "odom_frame_id": robot.frame("odom"),
        "base_frame_id": robot.frame("base_link"),
        "map_topic": robot.map_topic,
        "scan_topic": robot.topic,
        "robot_model_type": f"nav2_amcl::{model}MotionModel",
        "laser_max_range": robot.lidar.range_m,
        "set_initial_pose": True,
        "initial_pose": {"x": x, "y": y, "z": 0.0, "yaw": yaw},
        "update_min_d": 0.1,
        "update_min_a": 0.1,
        "transform_tolerance": 1.0,
    }


def _controller(robot: NavigatedRobot, distro: str) -> dict[str, Any]:
    model, checkers = robot.model, {"humble": ("progress_checker_plugin", "progress_checker")}
    speed, turn = model.max_speed_m_s, min(model.max_turn_rad_s, 1.8)
    name, value = checkers.get(distro, ("progress_checker_plugins", ["progress_checker"]))
    handler = {"plugin": "nav2_controller::FeasiblePathHandler"}
    return {
        "controller_frequency": _frequency(robot),
        "min_x_velocity_threshold": 0.001,
        "min_y_velocity_threshold": 0.001,
        "min_theta_velocity_threshold": 0.001,
        "failure_tolerance": 0.3,
        name: value,
        "goal_checker_plugins": ["general_goal_checker"],
        "controller_plugins": ["FollowPath"],
        "progress_checker": {
            "plugin": "nav2_controller::SimpleProgressChecker",
            "required_movement_radius": 0.5,
            "movement_time_allowance": max(10.0, round(5.0 / speed, 1)),
        },
        "general_goal_checker": {
            "plugin": "nav2_controller::SimpleGoalChecker",
            "xy_goal_tolerance": 0.25,
            "yaw_goal_tolerance": 0.25,
            "stateful": True,
        },
        **({"path_handler_plugins": ["PathHandler"], "PathHandler": handler} if distro in NEWEST else {}),
        "FollowPath": {
            "plugin": "nav2_regulated_pure_pursuit_controller::RegulatedPurePursuitController",
            "max_linear_vel" if distro in NEWEST else "desired_linear_vel": speed,
            "use_velocity_scaled_lookahead_dist": True,
            "lookahead_time": 1.5,
            "min_lookahead_dist": 0.3,
            "max_lookahead_dist": max(0.6, 1.5 * speed),
            "min_approach_linear_velocity": min(0.05, 0.5 * speed),
            "approach_velocity_scaling_dist": max(0.6, speed),
            "use_regulated_linear_velocity_scaling": True,
            "regulated_linear_scaling_min_radius": 0.9,
            "regulated_linear_scaling_min_speed": min(0.25, 0.5 * speed),
            "use_cost_regulated_linear_velocity_scaling": False,
            "use_collision_detection": True,
            "max_allowed_time_to_collision_up_to_carrot": 1.0,
            "use_rotate_to_heading": True,
            "rotate_to_heading_min_angle": 0.785,
            "rotate_to_heading_angular_vel": turn,
            "max_angular_accel": robot.acceleration[1],
            "allow_reversing": False,
            **({} if distro in NEWEST else {"transform_tolerance": _DELAY_S}),
        },
    }


def _planner(distro: str) -> dict[str, Any]:
    plugin = "nav2_navfn_planner/NavfnPlanner" if distro == "humble" else "nav2_navfn_planner::NavfnPlanner"
    return {
        "expected_planner_frequency": 1.0,
        "planner_plugins": ["GridBased"],
        "GridBased": {"plugin": plugin, "tolerance": 0.5, "use_astar": False, "allow_unknown": True},
    }


def _behaviors(robot: NavigatedRobot, distro: str) -> dict[str, Any]:
    plugins = {"spin": "Spin", "backup": "BackUp", "drive_on_heading": "DriveOnHeading", "wait": "Wait"}
    odom, colons = robot.frame("odom"), "/" if distro == "humble" else "::"
    topics = {"costmap_topic": "local_costmap/costmap_raw", "footprint_topic": "local_costmap/published_footprint"}
    frames = {"global_frame": odom}
    if distro != "humble":
        topics = {f"local_{name}": topic for name, topic in topics.items()}
        topics |= {name.replace("local", "global"): topic.replace("local", "global") for name, topic in topics.items()}
        frames = {"local_frame": odom, "global_frame": robot.frame("map")}
    turn = min(robot.model.max_turn_rad_s, 1.0)
    return {
        **topics,
        "cycle_frequency": _frequency(robot),
        "behavior_plugins": list(plugins),
        **{name: {"plugin": f"nav2_behaviors{colons}{plugin}"} for name, plugin in plugins.items()},
        **frames,
        "robot_base_frame": robot.frame("base_link"),
        "transform_tolerance": _DELAY_S,
        "simulate_ahead_time": 2.0,
        "max_rotational_vel": turn,
        "min_rotational_vel": round(0.4 * turn, 3),
        "rotational_acc_lim": robot.acceleration[1],
    }


def _smoother(robot: NavigatedRobot) -> dict[str, Any]:
    model, (acceleration, turning) = robot.model, robot.acceleration
    speed, turn = model.max_speed_m_s, model.max_turn_rad_s
    sideways = speed if model.kinematics == "holonomic" else 0.0
    gains = acceleration if sideways else 0.0, robot.deceleration_m_s2 if sideways else 0.0
    return {
        "smoothing_frequency": _frequency(robot),
        "scale_velocities": False,
        "feedback": "OPEN_LOOP",
        "max_velocity": [speed, sideways, turn],
        "min_velocity": [-speed, 0.0 - sideways, -turn],
        "max_accel": [acceleration, gains[0], turning],
        "max_decel": [-robot.deceleration_m_s2, 0.0 - gains[1], -turning],
        "odom_topic": "odom",
        "velocity_timeout": 1.0,
    }


def _local_costmap(robot: NavigatedRobot) -> dict[str, Any]:
    size_m = math.ceil(max(3.0, 4.0 * robot.model.max_speed_m_s, 6.0 * robot.model.outer_radius_m))
    return {
        "global_frame": robot.frame("odom"),
        "robot_base_frame": robot.frame("base_link"),
        "update_frequency": 5.0,
        "publish_frequency": 2.0,
        "transform_tolerance": _DELAY_S,
        "rolling_window": True,
        "width": size_m,
        "height": size_m,
        "resolution": min(robot.resolution_m, 0.05),
        **_body(robot),
        "plugins": ["obstacle_layer", "inflation_layer"],
        "obstacle_layer": _obstacles(robot, size_m),
        "inflation_layer": _inflation(robot),
    }


def _global_costmap(robot: NavigatedRobot) -> dict[str, Any]:
    return {
        "global_frame": robot.frame("map"),
        "robot_base_frame": robot.frame("base_link"),
        "update_frequency": 1.0,
        "publish_frequency": 1.0,
        "transform_tolerance": _DELAY_S,
        "resolution": robot.resolution_m,
        "track_unknown_space": True,
        **_body(robot),
        "plugins": ["static_layer", "obstacle_layer", "inflation_layer"],
        "static_layer": {
            "plugin": "nav2_costmap_2d::StaticLayer",
            "map_topic": robot.map_topic,
            "map_subscribe_transient_local": True,
            **({"subscribe_to_updates": True} if robot.localization == "covey" else {}),
        },
        "obstacle_layer": _obstacles(robot, 10.0),
        "inflation_layer": _inflation(robot),
    }


def _body(robot: NavigatedRobot) -> dict[str, Any]:
    polygon = robot.model.footprint_m
    if polygon is None:
        return {"robot_radius": robot.model.outer_radius_m}
    return {"footprint": "[" + ", ".join(f"[{x:g}, {y:g}]" for x, y in polygon) + "]"}


def _obstacles(robot: NavigatedRobot, within_m: float) -> dict[str, Any]:
    reach_m = min(robot.lidar.range_m, float(within_m))
    scan = {
        "topic": f"/{robot.name}/{robot.topic}",
        "data_type": "LaserScan",
        "marking": True,
        "clearing": True,
        "inf_is_valid": True,
        "obstacle_max_range": round(0.95 * reach_m, 3),
        "raytrace_max_range": reach_m,
    }
    return {"plugin": "nav2_costmap_2d::ObstacleLayer", "enabled": True, "observation_sources": "scan", "scan": scan}


def _inflation(robot: NavigatedRobot) -> dict[str, Any]:
    radius_m = robot.model.outer_radius_m + _MARGIN_M
    return {
        "plugin": "nav2_costmap_2d::InflationLayer",
        "cost_scaling_factor": 3.0,
        "inflation_radius": round(radius_m, 3),
    }


def _frequency(robot: NavigatedRobot) -> float:
    """Return how often Nav2 commands [1/s]: at every step of the simulation, at most 20 times."""
    return min(20.0, round(1.0 / robot.step_s, 6))
