def law(team):
    scan = team.reading("lidar")
    ahead = scan.ranges[0][np.cos(scan.angles) > 0.7]
    if np.min(ahead) < 0.5:
        return 0.0, 1.0
    return 0.2, 0.0
