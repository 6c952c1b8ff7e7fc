"""The controller of hello.yaml."""


async def square(robot, *, side_m: float = 2.0):
    """Drive once around a square to the front left, and come home.

    Args:
        side_m: side of the square [m].
    """
    for x, y in [(side_m, 0.0), (side_m, side_m), (0.0, side_m), (0.0, 0.0)]:
        await robot.goto(robot.home @ (x, y))
        await robot.sleep(0.5)
