"""A controller of one robot that is a ROS 2 program of its own and has no code of Covey: it answers each clock in lockstep.

It drives ahead at 0.3 m/s, turns left where something is within 0.6 m ahead, and writes what it got as one JSON line.
"""

import hashlib
import json
import sys
import time
from array import array

from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from tests.ros.peer import Peer, await_receipts, qos
from tests.ros.peer_types import Clock, Header, LaserScan, Odometry, TFMessage, Time, Twist, TwistStamped, Vector3


def main():
    domain, tag, name, steps = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    peer = Peer(domain, tag)

    def reader(topic, kind, **how):
        return DataReader(peer.participant, Topic(peer.participant, f"rt{topic}", kind), qos=qos(**how))

    scans, odometry = reader(f"/{name}/scan", LaserScan, depth=100), reader(f"/{name}/odom", Odometry, depth=100)
    transforms, clocks = reader(f"/{name}/tf", TFMessage, depth=100), reader("/clock", Clock, depth=100)
    frames = reader(f"/{name}/tf_static", TFMessage, latched=True, depth=1)
    commands = DataWriter(peer.participant, Topic(peer.participant, f"rt/{name}/cmd_vel", TwistStamped), qos=qos())
    got = {"scans": {}, "odom": [], "tf": [], "clocks": [], "static": []}
    got["ranges"], end, turning = hashlib.sha256(), time.monotonic() + 120, 0.0
    answered = -1.0
    while (answered < (steps - 1) / 10 - 1e-6 or not got["static"]) and time.monotonic() < end:
        for scan in taken(scans):
            if seconds(scan.header.stamp) not in got["scans"]:  # a message may come twice
                got["scans"][seconds(scan.header.stamp)] = scan
                got["ranges"].update(bytes(memoryview(array("f", scan.ranges))))
                ahead = scan.ranges[len(scan.ranges) // 2 - 20 : len(scan.ranges) // 2 + 21]
                turning = 0.8 if min(ahead) < 0.6 else 0.0
        got["odom"] += [
            (seconds(o.header.stamp), o.pose.pose.position.x, o.pose.pose.position.y, o.twist.twist.linear.x)
            for o in taken(odometry)
        ]
        got["tf"] += [
            (seconds(t.header.stamp), t.header.frame_id, t.child_frame_id, t.transform.translation.x)
            for message in taken(transforms)
            for t in message.transforms
        ]
        got["static"] += [
            (t.header.frame_id, t.child_frame_id) for message in taken(frames) for t in message.transforms
        ]
        for clock in taken(clocks):
            now = seconds(clock.clock)
            lately = [{one[0] for one in got[name][-10:]} for name in ("odom", "tf")]
            if now < answered or not all(now in times for times in (got["scans"], *lately)):
                continue  # it has met the writers of some topics sooner than others: the rest comes again
            if now > answered:  # else it was asked again: the answer was lost
                got["clocks"].append(now)
            twist = Twist(Vector3(0.0 if turning else 0.3, 0.0, 0.0), Vector3(0.0, 0.0, turning))
            commands.write(TwistStamped(Header(Time(clock.clock.sec, clock.clock.nanosec), "base_link"), twist))
            answered = now
        time.sleep(0.0002)
    await_receipts(commands)  # who leaves earlier may take the last command with him
    got["ranges"] = got["ranges"].hexdigest()
    first = next(iter(got["scans"].values()), None)
    got["first"] = (
        None if first is None else [first.header.frame_id, first.angle_min, first.angle_increment, *first.ranges]
    )
    got["scans"] = sorted(got["scans"])
    print(json.dumps(got), flush=True)


def taken(reader):
    return [one for one in reader.take(1000) if one.sample_info.valid_data]


def seconds(stamp):
    return round(stamp.sec + stamp.nanosec * 1e-9, 6)


if __name__ == "__main__":
    main()
