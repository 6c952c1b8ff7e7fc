k = speed / wanted_m / (np.pi / 6)
