def push(gap, away):
    return (0.1 * np.maximum(1 / gap - 1 / 0.8, 0) / gap**2)[:, None] * away


waypoints = [(2.5, 5), (2.5, 8.5), (7, 8.5), (9, 5)]
