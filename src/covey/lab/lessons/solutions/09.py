async def explorer(robot):
    await robot.sleep(1)
    while len(cells := robot.frontiers(min_cells=4).cells):
        goal = robot.nearest(cells)
        if goal is None:
            break
        await robot.goto(goal)
    robot.finish()
