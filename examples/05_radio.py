"""A radio that walls weaken: three robots, a message that takes two hops, and what became of every packet."""

import covey
from covey.comms import Radio
from covey.comms.links import Disc, WallLength
from covey.comms.protocols import StoreAndForward

# Two rooms and a wall of 0.4 m between them, with a gap in the north.
world = covey.World.polygons(
    [(0, 0), (20, 0), (20, 12), (0, 12)], obstacles_m=[[(9.8, 0), (10.2, 0), (10.2, 10), (9.8, 10)]]
)

radio = Radio(
    links=(Disc(range_m=14), WallLength(max_m=0.1)),  # up to 14 m, and through hardly any wall
    bandwidth_kbit_s=250,
    latency_s=0.01,
    protocol=StoreAndForward(hops=4),  # robots pass on what is for others
)


async def talk(robot):
    if robot.name == "robot0":
        robot.send({"found": (3.5, 2.0)}, to="robot2", kind="victim")
    message = await robot.receive("victim", timeout_s=5.0)
    if message is not None:
        print(f"{robot.name}: {message.payload} from {message.sender}, {message.hops} hops, {message.received_s:.2f} s")


start = [(3, 3, 0), (10, 11, 0), (17, 3, 0)]  # robot1 stands in the gap
robots = covey.Group("robot", covey.robots.disc(), start, talk)
run = covey.Simulation(world, [robots], radio=radio).run(until_s=6)
print("links:", [f"{a}-{b}" for a, b in run.links.select("robot", "other").rows()])
print("bytes sent:", run.metrics["bytes_sent_by_robot"])
