"""Parameters of m-explore's two packages: explore_lite, and multirobot_map_merge."""

from typing import Any

from covey.ros.launch.robots import NavigatedRobot

MERGED, WORLD = "team_map", "map"
"""Topic of the merged map, and its frame: the one of Covey's world."""


def explore(robot: NavigatedRobot) -> dict[str, Any]:
    """Return the parameters of explore_lite for one robot.

    References:
        The names: declared in explore.cpp and costmap_client.cpp of robo-friends/m-explore-ros2, branch main.
    """
    parameters = {
        "use_sim_time": True,
        "robot_base_frame": robot.frame("base_link"),
        "costmap_topic": "map",
        "costmap_updates_topic": "map_updates",
        "return_to_init": False,
        "visualize": True,
        "planner_frequency": 0.33,
        "progress_timeout": max(30.0, 10.0 / robot.model.max_speed_m_s),
        "potential_scale": 3.0,
        "orientation_scale": 0.0,
        "gain_scale": 1.0,
        "transform_tolerance": 0.3,
        "min_frontier_size": round(3.0 * robot.inscribed_m, 2),
    }
    return {robot.name: {"explore_node": {"ros__parameters": parameters}}}


def map_merge(robots: list[NavigatedRobot]) -> dict[str, Any]:
    """Return the parameters of multirobot_map_merge: where each robot's map begins in the frame ``map`` of the world.

    The merged map does not take a topic of Covey.

    References:
        The names: declared in map_merge.cpp of robo-friends/m-explore-ros2, branches main and
        feature/slam_toolbox_compat.
    """
    parameters = {
        "use_sim_time": True,
        "merging_rate": 1.0,
        "discovery_rate": 0.2,
        "known_init_poses": True,
        "robot_map_topic": "map",
        "robot_map_updates_topic": "map_updates",
        "robot_namespace": "",
        "merged_map_topic": MERGED,
        "world_frame": WORLD,
    }
    for robot in robots:
        x, y, yaw = (round(float(value), 4) for value in robot.start)
        for name, value in {"x": x, "y": y, "z": 0.0, "yaw": yaw}.items():
            parameters[f"/{robot.name}/map_merge/init_pose_{name}"] = value
    return {"map_merge": {"ros__parameters": parameters}}
