"""What robots say and hear over the wire, as the independent peer reads and sends it: sensors, maps, services, actions."""

import math

import numpy as np
import pytest
from tests.ros.test_bridge import LIDAR, sender, step, stepping
from tests.ros.world import until

import covey
from covey.missions import Rescue
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.qos import SERVICE
from covey.ros.settings import BridgeSettings
from covey.sensors import DepthCamera, Lidar3D
from covey.sensors.bumper import Bumper
from covey.sensors.imu import GRAVITY_M_S2, Imu
from covey.sensors.lidar import Lidar
from covey.sensors.neighbours import Neighbours
from covey.sensors.proximity import Proximity
from covey.sensors.tag_camera import TagCamera
from covey.sensors.wedge import Wedge
from covey.world.generators.grounds import flat

TARGETS = [{"kind": "victim", "at": (2.0, 0.5), "on": "floor"}]


@pytest.fixture
def joined(domain):
    """Return a function that makes a bridge and the simulation of robots that ROS drives, in a graph of the test's own."""
    with Participant(domain) as ros:

        def make(world, starts, sensors=(LIDAR,), settings=BridgeSettings("max"), **how):
            bridge = Bridge(ros, settings)
            group = Group("scout", disc().model_copy(update={"sensors": tuple(sensors)}), starts, "commanded")
            sim = covey.Simulation(world, [group], hosting=bridge.hosting, **how)
            bridge.before_step(sim)  # makes the topics
            return bridge, sim

        yield make


def reading(bridge, peer, **kinds):
    """Let the peer read topics, `map__x` for map/x of the first robot, and wait until both sides know of each other."""
    for name, kind in kinds.items():
        peer.read(topic=topic(name), kind=kind, depth=100, latched=name == "map")
    for name in kinds:
        until(lambda name=name: peer.matched(topic=topic(name)))
    writers = {writer.end.topic.name: writer for writer in bridge.robots[0].node.writers}
    until(lambda: all(writers[topic(name)].matched for name in kinds))


def topic(name):
    return f"rt/scout0/{name.replace('__', '/')}"


def at(message):
    stamp = message["header"]["stamp"]
    return round(stamp["sec"] + 1e-9 * stamp["nanosec"], 6)


def measured(sim, name):
    """Return the newest readings of a sensor, of all robots that have it."""
    (bank,) = (bank for bank in sim.sensing.banks if bank.record.name == name)
    return bank.newest.readings


def floats(message):
    return np.frombuffer(bytes(message["data"]), "<f4")


def test_clouds_depth_images_and_an_imu_on_a_plain(joined, peer):
    """A level plain: what falls on it lies as far below the sensor as the sensor is high; what misses it is no number."""
    lidar = Lidar3D(
        rings=3, rays=8, elevation_deg=30, declination_deg=30, range_m=5, height_m=0.8, sigma_m=0, rate_hz=10
    )
    camera = DepthCamera(width=6, height=4, range_m=5, height_m=0.5, mount_pitch_deg=0, sigma_m=0, rate_hz=5)
    plain = flat(size_m=(40.0, 40.0)).world()
    sensors = lidar, camera, Imu(), Wedge()
    bridge, sim = joined(plain, [(0.0, 0.0, 0.4)], sensors, BridgeSettings("max", localization=False))
    peer.read(topic="rt/scout0/tf_static", kind="TFMessage", latched=True, depth=1)
    reading(
        bridge, peer, lidar3d="PointCloud2", depth_camera__image_raw="Image", depth_camera__camera_info="CameraInfo",
        imu="Imu", wedge="PointCloud2",
    )  # fmt: skip
    (frames,) = until(lambda: peer.take(topic="rt/scout0/tf_static"))
    static = {one["child_frame_id"]: one for one in frames["transforms"]}
    step(bridge, sim, 2)
    cloud = until(lambda: peer.take(topic=topic("lidar3d")))[0]
    assert (cloud["height"], cloud["width"], cloud["point_step"], cloud["row_step"]) == (3, 8, 12, 96)
    assert [(one["name"], one["offset"], one["datatype"], one["count"]) for one in cloud["fields"]] == [
        ("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1),
    ]  # fmt: skip
    assert not cloud["is_bigendian"]
    assert not cloud["is_dense"]  # it has points that are no numbers
    points = floats(cloud).reshape(3, 8, 3)
    assert np.isnan(points[1:]).all()  # level and upwards there is nothing
    down = points[0]  # 30 degrees down: the floor is 0.8 / tan 30 degrees away, at eight bearings from -180 degrees on
    away, bearing = 0.8 / math.tan(math.radians(30)), np.radians(45.0 * np.arange(8) - 180)
    assert down == pytest.approx(
        np.column_stack((away * np.cos(bearing), away * np.sin(bearing), np.full(8, -0.8))), abs=1e-4
    )
    mount = static[cloud["header"]["frame_id"]]
    assert (mount["header"]["frame_id"], mount["transform"]["translation"]["z"]) == ("base_link", 0.8)

    image = until(lambda: peer.take(topic=topic("depth_camera__image_raw")))[0]
    about = until(lambda: peer.take(topic=topic("depth_camera__camera_info")))[0]
    assert (image["encoding"], image["width"], image["height"], image["step"]) == ("32FC1", 6, 4, 24)
    assert image["header"] == about["header"]
    assert static[image["header"]["frame_id"]]["transform"]["rotation"] == {"x": -0.5, "y": 0.5, "z": -0.5, "w": 0.5}
    focal, _, cx, _, same, cy, *_ = about["k"]
    assert focal == same == pytest.approx(3.0 / math.tan(math.radians(43.5)))
    depth = floats(image).reshape(4, 6)
    assert np.isinf(depth[:2]).all()  # above the horizon nothing is in range
    down = (np.arange(2, 4) - cy) / focal  # tangent of the angle below the horizon
    assert depth[2:] == pytest.approx(np.repeat(0.5 / down[:, None], 6, axis=1), rel=1e-3)
    assert (about["width"], about["height"], cx) == (6, 4, 2.5)

    samples, count = [], sum(len(bank.samples) for bank in sim.sensing.feeding("turn"))
    until(lambda: samples.extend(peer.take(topic=topic("imu"))) or at(samples[-1]) >= sim.time - 0.1 - 1e-6)
    (bank,) = sim.sensing.feeding("turn")
    assert len(samples) > count == 10
    for one, sample in zip(samples[-count:], bank.samples, strict=True):  # of the newest step
        assert one["angular_velocity"]["z"] == sample.readings.turn_rate[0]
        assert list(one["linear_acceleration"].values()) == sample.readings.acceleration[0].tolist()
    assert np.diff([at(one) for one in samples]) == pytest.approx(0.01)  # 100 Hz, ten in a step
    for one in samples:
        assert one["header"]["frame_id"] == "base_link"
        assert one["orientation_covariance"][0] == -1.0  # it measures none
        assert one["linear_acceleration"]["z"] == pytest.approx(GRAVITY_M_S2, abs=0.5)
        assert one["angular_velocity"]["z"] == pytest.approx(0.0, abs=0.01)
        assert one["linear_acceleration_covariance"][0] == pytest.approx(1.2e-3**2 * 100)

    clouds = []
    until(lambda: clouds.extend(peer.take(topic=topic("wedge"))) or len(clouds) == 2)
    assert clouds[-1]["header"]["frame_id"] == "base_footprint"
    points, seen = floats(clouds[-1]).reshape(-1, 3), measured(sim, "wedge").row(0)
    assert len(points) > 10
    assert points == pytest.approx(seen.points().astype(np.float32))
    assert points[:, 2] == pytest.approx(np.zeros(len(points)), abs=0.1)  # the plain, with noise of 2 cm


@pytest.mark.parametrize(("distro", "width"), [("humble", 24), ("kilted", 16), ("lyrical", 16), ("rolling", 16)])
def test_a_robot_speaks_as_the_distribution_does(domain, peer, distro, width):
    """Jazzy is that of all other tests."""
    twist = {"linear": {"x": 0.5}}
    kind, values = ("Twist", twist) if distro == "humble" else ("TwistStamped", {"twist": twist})
    peer.read(topic="ros_discovery_info", kind=f"ParticipantEntitiesInfo{width}", latched=True)
    with Participant(domain, distro) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        sim = covey.Simulation(
            covey.World.empty(4.0, 3.0),
            [Group("scout", disc(), [(0.0, 0.0, 0.0)], "commanded")],
            hosting=bridge.hosting,
        )
        bridge.before_step(sim)
        sender(peer, topic("cmd_vel"), kind)
        reading(bridge, peer, odom="Odometry")
        odometry = []

        def drives():
            peer.write(topic=topic("cmd_vel"), values=values)  # each time: the robot may meet the peer later
            odometry.extend(peer.take(topic=topic("odom")))
            return any(one["twist"]["twist"]["linear"]["x"] > 0.1 for one in odometry)

        stepping(bridge, sim, drives)
        infos = until(lambda: peer.take(topic="ros_discovery_info"))  # the last has been there since the first step
        nodes = {(one["node_namespace"], one["node_name"]) for one in infos[-1]["node_entities_info_seq"]}
        assert nodes == {("/", "covey"), ("/scout0", "covey")}
        (told,) = (one["user_data"] for one in peer.graph()["writers"] if one["topic"] == topic("odom"))
        assert told.startswith("typehash=RIHS01_") == (distro != "humble")


def test_a_second_lidar_a_ring_team_mates_estimates_states_and_links(joined, peer):
    """Two robots in a room of 8 x 6 m; each field is the reading of the simulation, and what the room implies."""
    rear = Lidar(name="rear", rays=8, range_m=10.0, rate_hz=5.0, mount_x_m=-0.1, mount_heading_deg=180)
    ring = Proximity(sectors=4, range_m=5.0, ring_radius_m=0.2, rate_hz=10.0)
    mates = Neighbours(rate_hz=10.0, range_sigma_m=0.05)
    where = [(-1.0, 0.5, math.pi / 2), (1.0, 0.5, 0.0)]
    bridge, sim = joined(covey.World.empty(8.0, 6.0), where, (LIDAR, rear, ring, mates))
    reading(
        bridge, peer, rear="LaserScan", proximity="LaserScan", neighbours="MarkerArray",
        pose="PoseWithCovarianceStamped", state="DiagnosticStatus",
    )  # fmt: skip
    peer.read(topic="rt/links", kind="Marker")
    until(lambda: peer.matched(topic="rt/links") and bridge.control.maps._links.matched)
    step(bridge, sim)
    (scan,) = until(lambda: peer.take(topic=topic("rear")))
    assert (scan["header"]["frame_id"], scan["scan_time"], scan["range_max"]) == ("rear", pytest.approx(0.2), 10.0)
    assert scan["ranges"] == measured(sim, "rear").ranges[0].astype(np.float32).tolist()
    # the robot looks along y, the lidar back: from (-1, 0.4) it is 3.4 m to the wall at y = -3
    ahead = scan["ranges"][round(-scan["angle_min"] / scan["angle_increment"])]
    assert ahead == pytest.approx(3.4, abs=1e-3)

    (near,) = until(lambda: peer.take(topic=topic("proximity")))
    assert (near["header"]["frame_id"], near["range_min"]) == ("base_link", pytest.approx(0.2))
    assert near["angle_increment"] == pytest.approx(math.tau / 4)
    assert near["ranges"] == (measured(sim, "proximity").ranges[0] + 0.2).astype(np.float32).tolist()
    # ahead (y = 3), left (x = -4), behind (y = -3); right the other robot
    assert near["ranges"][:3] == pytest.approx([2.5, 3.0, 3.5], abs=1e-3)
    assert 1.0 < near["ranges"][3] < 2.0

    _, mate = until(lambda: peer.take(topic=topic("neighbours")))[0]["markers"]
    seen = measured(sim, "neighbours").row(0)
    assert (mate["ns"], mate["id"], mate["header"]["frame_id"]) == ("robot", seen.identities[0], "base_footprint")
    place = mate["pose"]["position"]
    assert (place["x"], place["y"]) == pytest.approx(seen.points()[0].tolist())
    assert (place["x"], place["y"]) == pytest.approx((0.0, -2.0), abs=0.25)  # 2 m to the right

    (told,) = until(lambda: peer.take(topic=topic("pose")))
    at_m, turn = told["pose"]["pose"]["position"], told["pose"]["pose"]["orientation"]
    assert (told["header"]["frame_id"], at_m["x"], at_m["y"]) == ("map", -1.0, 0.5)
    assert 2.0 * math.atan2(turn["z"], turn["w"]) == pytest.approx(math.pi / 2)
    assert told["pose"]["covariance"] == [0.0] * 36  # it knows

    (state,) = until(lambda: peer.take(topic=topic("state")))
    assert (state["level"], state["name"], state["message"], state["hardware_id"]) == (0, "scout0", "idle", "scout0")
    (line,) = until(lambda: peer.take(topic="rt/links"))
    assert (line["header"]["frame_id"], line["type"], line["ns"]) == ("map", 5, "links")
    ends = [tuple(pair.split()) for pair in line["text"].splitlines()]  # from whom to whom
    assert set(ends) == {("scout0", "scout1"), ("scout1", "scout0")}
    places = {"scout0": where[0][:2], "scout1": where[1][:2]}
    assert [(p["x"], p["y"]) for p in line["points"]] == [places[name] for pair in ends for name in pair]


def test_found_tags_battery_contacts_and_reports(joined, peer):
    camera = TagCamera(sigma_m=0, sigma_per_m=0, detect_near=1, detect_far=1, false_per_min=0, rate_hz=10)
    where = [(1.0, 0.0, 0.0)]  # the target is a metre ahead, half a metre to the left
    settings = BridgeSettings("max", battery_wh=0.02)
    bridge, sim = joined(
        covey.World.empty(5.0, 4.0),
        where,
        (LIDAR, camera, Bumper()),
        settings,
        mission=Rescue(end_when_done=False),
        targets=TARGETS,
    )
    reading(
        bridge, peer, tag_camera="MarkerArray", battery_state="BatteryState", contact="Bool", bumper="Float64MultiArray",
        state="DiagnosticStatus", report_answer="String",
    )  # fmt: skip
    step(bridge, sim)
    first, mark = until(lambda: peer.take(topic=topic("tag_camera")))[0]["markers"]
    assert first["action"] == 3  # those before are deleted
    assert (mark["ns"], mark["id"], mark["text"]) == ("victim", 0, "victim 0")
    assert mark["header"]["frame_id"] == "base_footprint"
    assert (mark["pose"]["position"]["x"], mark["pose"]["position"]["y"]) == pytest.approx((1.0, 0.5), abs=0.2)
    seen = measured(sim, "tag_camera").row(0)
    assert list(mark["pose"]["position"].values()) == seen.positions[0].tolist()

    sender(peer, topic("report"), "Marker")
    peer.write(topic=topic("report"), values={"id": 0, "pose": {"position": {"x": 2.0, "y": 0.5}}})
    assert stepping(bridge, sim, lambda: peer.take(topic=topic("report_answer"))) == [{"data": "0 accepted"}]
    for name in ("/scout0/set_marker_position", "/set_marker_position"):  # the same as services
        peer.client(name=name, service=name, kind="SetMarkerPosition")
        until(lambda name=name: peer.ready(name=name))
        peer.call(name=name, number=1, values={"marker_id": 0, "marker_position": {"x": 2.0, "y": 0.5, "z": 0.0}})
        (reply,) = stepping(bridge, sim, lambda name=name: peer.replies(name=name))
        assert (reply["number"], reply["accepted"]) == (1, False)  # it has been reported already

    assert not any(one["data"] for one in peer.take(topic=topic("contact")))
    assert not any(one["data"] for one in peer.take(topic=topic("bumper")))
    full = until(lambda: peer.take(topic=topic("battery_state")))
    assert full[0]["percentage"] == pytest.approx(1.0, abs=0.2)
    assert full[0]["voltage"] == 12.0
    assert full[0]["capacity"] == pytest.approx(0.02 / 12.0)  # ampere hours
    assert math.isnan(full[0]["temperature"])
    sender(peer, topic("cmd_vel"), "Twist")
    peer.write(topic=topic("cmd_vel"), values={"linear": {"x": 0.5}})
    touched, pressed, left = [], [], []

    def against_the_wall():
        peer.write(topic=topic("cmd_vel"), values={"linear": {"x": 0.5}})
        touched.extend(one["data"] for one in peer.take(topic=topic("contact")))
        pressed.extend(one["data"] for one in peer.take(topic=topic("bumper")) if one["data"])
        left.extend(one["percentage"] for one in peer.take(topic=topic("battery_state")))
        return touched and touched[-1] and pressed and len(left) > 2

    stepping(bridge, sim, against_the_wall)
    assert pressed[0][0] == pytest.approx(0.0, abs=0.3)  # the wall is ahead
    assert left == sorted(left, reverse=True)
    assert left[-1] < 1.0
    state = until(lambda: peer.take(topic=topic("state")))[-1]
    values = {one["key"]: one["value"] for one in state["values"]}
    assert state["name"] == "scout0"
    assert {"distance_m", "energy_j", "collisions_wall", "refused_commands"} <= set(values)


def test_broadcasts_and_tags_are_services_too(joined, peer):
    bridge, sim = joined(covey.World.empty(8.0, 6.0), [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    peer.read(topic="rt/scout1/heard/text", kind="String")
    peer.read(topic="rt/scout1/tags", kind="MarkerArray")
    for name, kind in (("maes_broadcast", "BroadcastToAll"), ("maes_deposit_tag", "DepositTag")):
        peer.client(name=name, service=f"/scout0/{name}", kind=kind)
        until(lambda name=name: peer.ready(name=name))
    until(lambda: peer.matched(topic="rt/scout1/heard/text") and peer.matched(topic="rt/scout1/tags"))
    peer.call(name="maes_broadcast", number=1, values={"msg": "hä?"})
    assert stepping(bridge, sim, lambda: peer.replies(name="maes_broadcast"))[0]["result"]
    assert stepping(bridge, sim, lambda: peer.take(topic="rt/scout1/heard/text")) == [{"data": "hä?"}]
    peer.call(name="maes_deposit_tag", number=7, values={"msg": "been here"})
    assert stepping(bridge, sim, lambda: peer.replies(name="maes_deposit_tag"))[0] | {"client": 0} == {
        "client": 0, "number": 7, "result": True,
    }  # fmt: skip
    _, tag = stepping(bridge, sim, lambda: peer.take(topic="rt/scout1/tags"))[-1]["markers"]
    assert (tag["text"], tag["pose"]["position"]["x"]) == ("been here", pytest.approx(-2.0, abs=0.01))


def test_a_request_that_is_no_message_gets_no_answer_and_does_no_harm(joined, caplog):
    bridge, sim = joined(covey.World.empty(8.0, 6.0), [(0.0, 0.0, 0.0)])
    with Participant(bridge.participant.domain_id) as other:
        node, kind = other.node("other"), "maes_msgs/srv/DepositTag_Request"
        requests = node.add_writer("rq/scout0/maes_deposit_tagRequest", kind, SERVICE, other.user_data(kind))
        (asked,) = (one for one in bridge.robots[0].node.readers if one.topic == "rq/scout0/maes_deposit_tagRequest")
        until(lambda: requests.matched and asked.matched)
        requests.write(b"\0\1\0\0" + bytes(16) + bytes.fromhex("03000000fffe0000"))  # 0xff is in no UTF-8
        stepping(bridge, sim, lambda: "a request is left out" in caplog.text)
    assert not sim.communication.tags.tags


def goal_of(x, y, frame="map"):
    return {"header": {"frame_id": frame}, "pose": {"position": {"x": x, "y": y}, "orientation": {"w": 1.0}}}


def test_a_newer_goal_replaces_a_goal_and_a_path_is_followed_until_it_is_cancelled(joined, peer):
    bridge, sim = joined(covey.World.empty(8.0, 6.0), [(-3.0, 1.0, 0.0)])
    to, along = "/scout0/navigate_to_pose/_action", "/scout0/follow_path/_action"
    for name, service, kind in (
        ("goal", f"{to}/send_goal", "NavigateToPose_SendGoal"), ("result", f"{to}/get_result", "NavigateToPose_GetResult"),
        ("path", f"{along}/send_goal", "FollowPath_SendGoal"), ("end", f"{along}/get_result", "FollowPath_GetResult"),
        ("cancel", f"{along}/cancel_goal", "CancelGoal"),
    ):  # fmt: skip
        peer.client(name=name, service=service, kind=kind)
    peer.read(topic=f"rt{to}/feedback", kind="NavigateToPose_FeedbackMessage")
    peer.read(topic=f"rt{along}/feedback", kind="FollowPath_FeedbackMessage")
    peer.read(topic=f"rt{along}/status", kind="GoalStatusArray", latched=True, depth=1)
    for name in ("goal", "result", "path", "end", "cancel"):
        until(lambda name=name: peer.ready(name=name))
    until(lambda: peer.matched(topic=f"rt{to}/feedback") and peer.matched(topic=f"rt{along}/feedback"))

    def ask(name, number, values):
        peer.call(name=name, number=number, values=values)
        (reply,) = stepping(bridge, sim, lambda: peer.replies(name=name))
        assert reply["number"] == number
        return reply

    one, two, three = ({"uuid": [k] * 16} for k in (1, 2, 3))
    assert ask("goal", 1, {"goal_id": one, "goal": {"pose": goal_of(3.0, 0.0, "odom")}})["accepted"]
    told = stepping(bridge, sim, lambda: peer.take(topic=f"rt{to}/feedback"))[0]["feedback"]
    assert told["distance_remaining"] == pytest.approx(
        3.0, abs=0.2
    )  # odom begins at the start, 3 m ahead of which it is
    assert told["current_pose"]["header"]["frame_id"] == "map"
    peer.call(name="result", number=1, values={"goal_id": one})
    assert ask("goal", 2, {"goal_id": two, "goal": {"pose": goal_of(-2.0, -1.0)}})["accepted"]
    (first,) = stepping(bridge, sim, lambda: peer.replies(name="result"))
    assert (first["status"], first["result"]["error_code"]) == (6, 1)  # aborted: replaced
    assert "replaced" in first["result"]["error_msg"]
    assert ask("result", 2, {"goal_id": two})["status"] == 4
    assert np.hypot(*(sim.state.pose[0, :2] - (-2.0, -1.0))) < 0.2

    path = {"header": {"frame_id": "map"}, "poses": [goal_of(0.0, -1.0, ""), goal_of(3.0, -1.0, "")]}
    assert ask("path", 1, {"goal_id": three, "goal": {"path": path}})["accepted"]
    told = stepping(bridge, sim, lambda: peer.take(topic=f"rt{along}/feedback"))[0]["feedback"]
    assert told["distance_to_goal"] == pytest.approx(5.0, abs=0.4)
    stepping(bridge, sim, lambda: sim.state.pose[0, 0] > 0.0)
    peer.call(name="end", number=1, values={"goal_id": three})
    assert ask("cancel", 1, {"goal_info": {"goal_id": three}})["return_code"] == 0
    (reply,) = stepping(bridge, sim, lambda: peer.replies(name="end"))
    assert reply["status"] == 5
    stepping(bridge, sim, lambda: not sim.state.twist[0].any())
    assert sim.state.pose[0, 0] < 2.0  # it stands before the end of the path
    assert until(lambda: peer.take(topic=f"rt{along}/status"))[-1]["status_list"][0]["status"] == 5
    empty = {"goal_id": {"uuid": [4] * 16}, "goal": {"path": {"header": {"frame_id": "map"}}}}
    assert not ask("path", 2, empty)["accepted"]  # no poses, no path


def test_goals_and_paths_are_topics_too(joined, peer):
    bridge, sim = joined(covey.World.empty(8.0, 6.0), [(-3.0, 1.0, 0.0)])
    for name, kind, values, end in (
        ("goal_pose", "PoseStamped", goal_of(-1.0, 1.0), (-1.0, 1.0)),
        ("path", "Path", {"header": {"frame_id": "odom"}, "poses": [goal_of(3.0, -0.5, "odom")]}, (0.0, 0.5)),
    ):
        sender(peer, topic(name), kind)
        peer.write(topic=topic(name), values=values)
        stepping(bridge, sim, lambda end=end: np.hypot(*(sim.state.pose[0, :2] - end)) < 0.35)


def test_a_map_is_whole_for_who_comes_and_updated_where_it_changes(joined, peer):
    """Who applies all updates to a whole map has what the robot believes."""
    settings = BridgeSettings("max", map_every_s=1000.0)  # whole maps only for who comes
    bridge, sim = joined(covey.World.empty(12.0, 6.0), [(-5.0, 0.0, 0.0)], settings=settings)
    for name in ("/scout0/map", "/merged_map"):
        peer.read(topic=f"rt{name}_updates", kind="OccupancyGridUpdate", depth=100)
        peer.read(topic=f"rt{name}", kind="OccupancyGrid", latched=True, depth=1)
        until(lambda name=name: peer.matched(topic=f"rt{name}") and peer.matched(topic=f"rt{name}_updates"))
    shown, updates = {}, {"/scout0/map": 0, "/merged_map": 0}

    def look():
        for name in updates:
            for whole in peer.take(topic=f"rt{name}"):
                size = whole["info"]["height"], whole["info"]["width"]
                shown[name] = np.array(whole["data"], np.int8).reshape(size)
            for one in peer.take(topic=f"rt{name}_updates"):
                assert one["header"]["frame_id"] == "map"  # Nav2 takes no updates in another frame than the map's
                cells = np.array(one["data"], np.int8).reshape(one["height"], one["width"])
                there = slice(one["y"], one["y"] + one["height"]), slice(one["x"], one["x"] + one["width"])
                before = shown[name][there]
                assert before.shape == cells.shape  # it lies within
                for edge in (0, -1):  # and is no larger than needed
                    assert (before[edge] != cells[edge]).any()
                    assert (before[:, edge] != cells[:, edge]).any()
                assert cells.size < shown[name].size
                shown[name][there] = cells
                updates[name] += 1
        return len(shown) == 2

    stepping(bridge, sim, look)
    sender(peer, topic("goal_pose"), "PoseStamped")
    peer.write(topic=topic("goal_pose"), values=goal_of(4.0, 0.0))
    stepping(bridge, sim, lambda: look() and sim.state.pose[0, 0] > 0.0 and min(updates.values()) >= 3)
    belief = sim.localization.belief_of[0]
    stepping(bridge, sim, lambda: sim.state.twist[0].any() == 0 and sim.state.pose[0, 0] > 3.5)
    step(bridge, sim, 30)  # the last changes are told within a second
    until(lambda: look() and np.array_equal(shown["/scout0/map"], belief.occupancy()))
    until(lambda: look() and np.array_equal(shown["/merged_map"], sim.scoring.union().cells))
    peer.read(
        topic="rt/scout0/map", kind="OccupancyGrid", latched=True, depth=1
    )  # another reader: the map is sent anew
    (late,) = stepping(bridge, sim, lambda: [one for one in peer.take(topic="rt/scout0/map") if at(one) > 5.0])
    assert np.array_equal(np.array(late["data"]).reshape(belief.grid.shape), belief.occupancy())
