def law(team):
    speed = np.clip(team.distance_to(goal), 0, 0.5)
    turn = 2 * team.bearing_to(goal)
    return speed * (team.distance_to(goal) > 0.05), turn
