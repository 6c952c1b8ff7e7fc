def goals(team):
    cells = voronoi(team.position, team.workspace)
    return cells.centroid
