def law(team):
    error = team.distance_to(centre) - radius
    ahead = team.bearing_to(centre) - np.pi / 2 + np.clip(error, -1, 1)
    turn = speed / radius + 2 * ahead
    return speed, turn
