def pursuer(team):
    return 0.8, 3 * team.bearing_to(0)[1]
