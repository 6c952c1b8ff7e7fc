"""The commands of ``covey ros``."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from covey.cli.options import Override, Port, TrustedOnly, changes_of, whole_number

ros = App(
    name="ros",
    help="Work with ROS 2: run a team as robots of a ROS 2 graph, run a controller as a node, write files, read bags.",
)
Distro = Literal["humble", "jazzy", "kilted", "lyrical", "rolling"]


@ros.command(name="run")
def ros_run(
    source: str,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    seed: Annotated[int | None, Parameter(converter=whole_number)] = None,
    out: Path | None = None,
    speed: str = "1",
    watch: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    domain: int | None = None,
    distro: Distro | None = None,
    reach: Literal["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT", "OFF"] | None = None,
    stamped: Annotated[bool | None, Parameter(show_default=False)] = None,
    localization: Annotated[bool, Parameter(show_default=False)] = True,
    navigation: Annotated[bool, Parameter(show_default=False)] = True,
    map: Annotated[bool, Parameter(negative=(), show_default=False)] = False,  # noqa: A002
    truth: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    prefixed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    timeout: float = 0.5,
    battery: float | None = None,
    radio: Annotated[list[str], Parameter(negative=(), show_default=False)] = [],  # noqa: B006
    live: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    host: str = "127.0.0.1",
    port: Port = 0,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    trusted_only: TrustedOnly = False,
) -> int:
    """Run a scenario as a team of robots in a graph of ROS 2, which drives them. Needs pip install 'covey[ros2]'.

    Each robot has topics such as /scout0/scan, odom, tf and cmd_vel; docs/ros2.md lists them. Ctrl-C ends the run; its
    folder is kept.

    Exit codes: as covey run.

    Parameters
    ----------
    source
        Path of a .yaml file, or name of a scenario that ships with Covey.
    seed
        Seed of all random numbers. Replaces the seed in the file.
    out
        Folder to write. Default: runs/NAME/DATE-TIME.
    speed
        Simulated seconds per second (1 is real time), max, or lockstep: a step is taken when all robots have answers.
    watch
        The scenario's own controllers drive; ROS watches. It still drives robots with controller: commanded.
    domain
        Domain, 0 to 232. Default: ROS_DOMAIN_ID, else 0.
    distro
        Distribution of the others on the domain. Default: ROS_DISTRO, else jazzy.
    reach
        Who can be heard, on both sides the same. Default: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST: this machine.
    stamped
        cmd_vel is a TwistStamped. Default: from kilted on.
    localization
        With --no-localization, the simulator does not map, and does not send map -> odom, map and pose: slam_toolbox
        or AMCL does. It then takes no goals either.
    navigation
        With --no-navigation, the simulator takes no goals and paths: Nav2 does.
    map
        Send the true map, on /true_map.
    truth
        Send the true poses, on /ROBOT/ground_truth.
    prefixed
        Begin frames with the names of the robots, and send them all on /tf, so that one RViz can show all robots.
    timeout
        A robot stops when its cmd_vel has been silent for this simulated time [s].
    battery
        Capacity of each robot's battery [Wh]. Default: it sends no battery.
    radio
        A topic that goes over the simulated radio, NAME:TYPE, besides text. You can repeat this option.
    live
        Show the run in a web page while it runs. A pause there holds ROS, too; the speed is that of --speed.
    host
        With --live: the address to listen on. Others can then open the page, if they know its token.
    port
        With --live: the port of the page. Default: any that is free.
    force
        Replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.ros import ros_run_command, topics_of
    from covey.cli.run import parse_speed
    from covey.ros.settings import BridgeSettings

    settings = BridgeSettings(
        speed=speed if speed == "lockstep" else parse_speed(speed),  # type: ignore[arg-type]
        drives=not watch,
        stamped=stamped,
        localization=localization,
        navigation=navigation,
        true_map=map,
        true_poses=truth,
        prefixed=prefixed,
        timeout_s=timeout,
        battery_wh=battery,
        radio=topics_of(radio),
    )
    how = {"out": out, "force": force, "quiet": quiet, "trusted_only": trusted_only}
    how |= {"page": (host, port) if live else None}
    return ros_run_command(source, changes_of(overrides, seed), (domain, distro, reach), settings, **how)


@ros.command(name="node")
def ros_node(
    controller: str,
    /,
    *,
    name: str,
    scenario: str | None = None,
    overrides: Override = [],  # noqa: B006
    robot: str | None = None,
    team: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False, consume_multiple=True)] = (),
    start: Annotated[tuple[float, float, float] | None, Parameter(show_default=False)] = None,
    area: float | None = None,
    radius: float | None = None,
    max_speed: float | None = None,
    max_turn: float | None = None,
    localize: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    namespace: str | None = None,
    wall: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    direct: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    prefixed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    stamped: Annotated[bool | None, Parameter(show_default=False)] = None,
    patience: float = 60.0,
    domain: int | None = None,
    distro: Distro | None = None,
    reach: Literal["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT", "OFF"] | None = None,
) -> int:
    """Run a controller as a ROS 2 node: it drives a robot with scan, odom and cmd_vel. Needs pip install 'covey[ros2]'.

    The robot may be one of covey ros run, one in Gazebo, or a real one. The controller is the same as in a simulation;
    its map, its planning and its navigator run in this process. It ends with the clock, or with Ctrl-C, and stops the
    robot. See docs/ros2.md.

    A robot that no scenario describes: covey ros node nearest_frontier --name tb3 --robot turtlebot3_burger --wall

    Exit codes: 0 the clock ended, 1 the controller failed, 2 bad input or no robot, 130 interrupted.

    Parameters
    ----------
    controller
        Name of a controller, ./mine.py:NAME, or both with parameters: "{name: onnx_each, file: policy.onnx}".
    name
        Name of the robot, such as scout0.
    scenario
        Tells what the robot knows from the start: its model, its start, its team, the area of its map, the rate of its
        steps. A .yaml file, or the name of a scenario that ships with Covey. Without one, the options from robot to
        max_turn tell it, and -s changes the scenario that they stand for, whose only group is robot.
    robot
        Body, speeds and map: a name of covey list robots, or ./mine.py:function. Default: turtlebot3_burger. Its lidar
        is learned from its scans.
    team
        Names of the robots of its team: --team tb3_0 tb3_1. Default: it is alone.
    start
        x, y [m] and heading [deg], on the map, of the place where its odometry is zero, unless tf says where odom is on
        the map. Default: 0 0 0.
    area
        Side of the square that its map covers [m]. Default: 60.
    radius
        Radius of its body [m], if it is a disc.
    max_speed
        Largest speed [m/s].
    max_turn
        Largest turn rate [rad/s].
    localize
        The node finds out by itself where the robot is, from scan and odom: as the scenario says (slam, particles,
        known_map, odometry), without one by slam. Else it takes what pose, tf or odom say.
    namespace
        Namespace of the robot's topics; / for none. Default: the name of the robot.
    wall
        There is no /clock: steps follow the time of this machine, as for a real robot.
    direct
        There is no simulated radio: the nodes of the team write to each other, on /covey/team.
    prefixed
        Transforms come on /tf and /tf_static, in frames that begin with the names of the robots.
    stamped
        cmd_vel is a TwistStamped. Default: from kilted on.
    patience
        How long to wait for the robot [s].
    domain
        Domain, 0 to 232. Default: ROS_DOMAIN_ID, else 0.
    distro
        Distribution of the others on the domain. Default: ROS_DISTRO, else jazzy.
    reach
        Who can be heard, on both sides the same. Default: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST: this machine.
    """
    from covey.cli.ros_node import ros_node_command, source_of
    from covey.ros.node import NodeSettings

    described = {"robot": robot, "team": team, "start": start, "area_m": area, "radius_m": radius}
    described |= {"max_speed_m_s": max_speed, "max_turn_rad_s": max_turn}
    source, settings = (
        source_of(scenario, described),
        NodeSettings(namespace, stamped, prefixed, wall, direct, patience),
    )
    graph, changes = (domain, distro, reach), changes_of(overrides, None)
    return ros_node_command(controller, name, source, changes, graph, settings, localizes=localize)


@ros.command(name="launch")
def ros_launch(
    source: str,
    /,
    *,
    out: Path | None = None,
    distro: Distro | None = None,
    localization: Literal["slam_toolbox", "amcl", "covey"] = "slam_toolbox",
    prefixed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    overrides: Override = [],  # noqa: B006
) -> None:
    """Write a launch file with parameters for slam_toolbox, Nav2, m-explore and RViz, for the robots of a scenario.

    ros2 launch FILE --show-args tells what can be chosen when it is launched.

    Parameters
    ----------
    source
        Scenario.
    out
        Folder to write. Default: NAME-ros in the current folder.
    distro
        Distribution that will read the files. Default: ROS_DISTRO, else jazzy.
    localization
        Who says where the robots are: slam_toolbox, which maps; amcl, on the true map; covey, as the scenario says.
    prefixed
        Begin frames with the names of the robots, so that one RViz can show all robots; covey ros run must do so, too.
    """
    from covey.cli.ros_files import launch_command
    from covey.scenario.overrides import parse_override

    changes = dict(map(parse_override, overrides))
    launch_command(source, changes, out, distro, prefixed=prefixed, localization=localization)


@ros.command(name="messages")
def ros_messages(folder: Path, /) -> None:
    """Write the ROS packages maes_msgs and scoring_interfaces, whose services Covey offers, for colcon build.

    Needs pip install 'covey[ros2]'.

    Parameters
    ----------
    folder
        Folder to write, such as the src of a workspace.
    """
    from covey.cli.ros_files import messages_command

    messages_command(folder)


@ros.command(name="import")
def ros_import(
    bag: Path,
    /,
    *,
    to: Literal["run", "map", "log"] = "run",
    out: Path | None = None,
    robot: str | None = None,
    poses: Literal["better", "slam", "odometry"] | None = None,
    map: str | None = None,  # noqa: A002
    unchecked: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> None:
    """Turn a ROS bag (.mcap, .db3, .bag, or a folder) into a run, a world or a log. Needs pip install 'covey[bags]'.

    A run also prints the noise of each robot's odometry, as parameters for a scenario.

    Parameters
    ----------
    bag
        The bag: topics of LaserScan, Odometry, OccupancyGrid and tf, in a namespace for each robot, or in none.
    to
        run: a run folder for covey view, plot and compare; map: a world, .yaml and .pgm, from an OccupancyGrid; log:
        the scans and odometry of a robot, .npz, for covey slam.
    out
        Folder or file to write. Default: runs/NAME/DATE-TIME, NAME.yaml or NAME.npz.
    robot
        Name of the robot whose log is written.
    poses
        Where the robots were: better (the topic ground_truth, or the transform from a map), slam over the scans, or
        odometry. Default: the first of these that the bag allows.
    map
        Topic of the map. Default: the true or merged map, or the largest.
    unchecked
        Take scans and odometry as they are, although their units, directions or order look wrong.
    force
        Replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.ros_bags import import_command

    import_command(bag, to, out, robot, poses, map, force=force, quiet=quiet, unchecked=unchecked)


@ros.command(name="play")
def ros_play(
    bag: Path,
    /,
    *,
    namespace: str = "",
    topics: Annotated[list[str], Parameter(name="--topic", negative=(), show_default=False)] = [],  # noqa: B006
    speed: float = 1.0,
    time: Literal["send", "follow", "wall"] = "send",
    domain: int | None = None,
    distro: Distro | None = None,
    reach: Literal["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT", "OFF"] | None = None,
) -> int:
    """Play a bag into a graph of ROS 2: a recorded robot in the place of a real one. Needs pip install 'covey[ros2]'.

    Its commands, such as cmd_vel, are not played. Ctrl-C ends it.

    Parameters
    ----------
    bag
        The bag: .mcap, .db3, or a folder.
    namespace
        Put before all topics: with scout9, /scan becomes /scout9/scan.
    topics
        A topic to play, as it is in the bag. You can repeat this option. Default: all but commands.
    speed
        Recorded seconds per second.
    time
        send: stamps stay, and /clock tells them; follow: the robot joins a simulation, whose /clock it follows, with
        stamps to match; wall: stamps of now, as a real robot has.
    domain
        Domain, 0 to 232. Default: ROS_DOMAIN_ID, else 0.
    distro
        Distribution of the others on the domain. Default: ROS_DISTRO, else jazzy.
    reach
        Who can hear it. Default: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST: this machine.
    """
    from covey.cli.ros_play import play_command

    return play_command(bag, (domain, distro, reach), namespace, topics, speed, time)
