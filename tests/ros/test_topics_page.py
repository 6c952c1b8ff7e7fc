"""docs/ros2.md names every topic, service and action that there is, and no other; types and delivery are those announced."""

import re
import threading
from pathlib import Path

from tests.ros.world import until

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant, Reader
from covey.ros.settings import BridgeSettings
from covey.sensors.imu import Imu
from covey.sensors.tag_camera import TagCamera

PAGE = Path(__file__).parents[2] / "docs" / "ros2.md"
ON_LANDSCAPES = {"/NAME/lidar3d", "/NAME/wedge", "/NAME/depth_camera/image_raw", "/NAME/depth_camera/camera_info"}


def documented():
    """Return the types on the page by name."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `/"):
            names, kind, *_ = (cell.strip() for cell in line.strip("|").split("|"))
            for name in re.findall(r"`(/[^`]+)`", names):
                found[name] = re.findall(r"\w+/(?:msg|srv|action)/\w+", kind)
    return found


def delivered():
    """Return how the topics on the page that Covey sends are delivered, such as ``latched, 1``, by name."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `/") and len(cells) == 5 and cells[2]:
            found |= dict.fromkeys(re.findall(r"`(/[^`]+)`", cells[0]), cells[2])
    return found


def snake(kind):
    """Return the name of a service of parameters, given its type."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", kind).lower()


def delivery(policies):
    """Return the same of the policies of a writer or reader."""
    if "Policy.Reliability.BestEffort" in policies:
        return "best effort"
    (depth,) = (policy[len("Policy.History.KeepLast(depth=") : -1] for policy in policies if ".KeepLast" in policy[:25])
    return f"{'latched' if 'Policy.Durability.TransientLocal' in policies else 'reliable'}, {depth}"


def test_the_page_names_what_is_announced(domain, peer):
    """A program without Covey's code reads from the wire what is announced."""
    model = disc()
    model = model.model_copy(update={"sensors": (*model.sensors, Imu(), TagCamera())})
    announced, says, hears, told = {}, {}, {}, {}
    with Participant(domain, "jazzy") as ros:
        bridge = Bridge(ros, BridgeSettings("max", true_map=True, true_poses=True, battery_wh=10.0))
        group = Group("scout", model, [(0.0, 0.0, 0.0)], "commanded")
        sim = covey.Simulation(covey.World.empty(6, 5), [group], hosting=bridge.hosting)
        bridge.before_step(sim)  # makes the topics
        count = sum(isinstance(end, Reader) for end in ros._ends)
        graph = peer.graph_of(readers=count, writers=len(ros._ends) - count)
        for ends, named in ((graph["writers"], says), (graph["readers"], hears)):
            for end in ends:
                named[end["topic"].removeprefix("rt").replace("scout0", "NAME")] = delivery(end["qos"])
                kind = end["type"].replace("::dds_::", "/").replace("::", "/").removesuffix("_")
                told[end["topic"]] = kind
                assert end["user_data"].endswith(f"typehash={ros.types.hash(kind)};")
        for topic, kind in told.items():
            name = topic[2:].replace("scout0", "NAME")
            if "/_action/" in name:
                if name.endswith("send_goalRequest"):
                    announced[name.partition("/_action/")[0]] = kind.removesuffix("_SendGoal_Request")
            elif topic.startswith("rt/"):
                announced[name] = kind
            elif topic.startswith("rq/"):
                announced[name.removesuffix("Request")] = kind.removesuffix("_Request")
    for kind in ("ListParameters", "GetParameters", "GetParameterTypes", "DescribeParameters", "SetParameters"):
        assert announced.pop(f"/covey/{snake(kind)}") == announced.pop(f"/NAME/covey/{snake(kind)}")
    for node in ("", "/NAME"):
        del announced[f"{node}/covey/set_parameters_atomically"]
    page = documented()
    assert set(page) - ON_LANDSCAPES == set(announced)
    for name, kind in announced.items():
        assert kind == page[name][0] if page[name] else kind.startswith("simulation_interfaces/srv/"), name
    sent = {name: how for name, how in delivered().items() if name not in ON_LANDSCAPES}
    assert sent == {name: says[name] for name in sent}
    assert len(sent) > 20
    assert hears.pop("/NAME/radio/covey") == "reliable, 100"
    assert hears.pop("/NAME/cmd_vel") == "best effort"  # which hears both kinds
    assert {how for name, how in hears.items() if name in page} == {"reliable, 10"}
    assert {"/NAME/ready", "/covey/control"} <= set(hears)
    assert page["/NAME/cmd_vel"] == ["geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"]


def test_the_table_of_the_turtlebot_says_what_covey_sends():
    """The column of Covey agrees with the tables above, which are compared with what is announced."""
    lines = PAGE.read_text().partition("### Beside a TurtleBot 4")[2].partition("## Who drives")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    says, kinds, checked = delivered(), documented(), 0
    frames = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `/") and len(cells) == 5:
            frames |= dict.fromkeys(re.findall(r"`(/[^`]+)`", cells[0]), cells[3])
    for _, ours, _ in rows:
        for name in re.findall(r"`(/[^`]+)`", ours):
            assert name in kinds
            if name in says:
                assert says[name] in ours, (name, says[name])
                checked += 1
            for frame in re.findall(r"; `(\w+)`$", ours):
                assert frames[name].startswith(f"`{frame}`"), name
    assert checked == 7


def test_the_example_of_the_page_runs(domain, peer, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    made = {}
    run = threading.Thread(target=exec, args=(code.replace("speed=1.0", "speed=100.0"), made))
    run.start()
    peer.read(topic="rt/clock", kind="Clock", depth=100)
    assert until(lambda: peer.take(topic="rt/clock"))
    peer.advertise(topic="rt/covey/control", kind="String")
    until(lambda: peer.matched(topic="rt/covey/control"))
    peer.write(topic="rt/covey/control", values={"data": "end"})
    run.join(timeout=60)
    assert made["run"].status == "stopped"
    assert made["sim"].names == ["robot0", "robot1", "robot2"]
