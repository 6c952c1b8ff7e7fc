def pursuer(team):
    gap = np.hypot(*(team.position[1] - team.position[0]))
    ahead = team.position[1] + team.velocity[1] * min(gap, 1.0)
    target = np.clip(ahead, 0.2, 9.8)
    return 0.9, 5 * team.bearing_to(target)[0]
