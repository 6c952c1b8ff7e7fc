"""Heads for the middle of the border of both Voronoi cells, so that the evader's cell shrinks (Huang et al. 2011)."""

from covey.geometry.voronoi import voronoi


def law(team):
    evader = team.others[0, :2]
    edge = voronoi([team.position[0], evader], team.workspace).edge(0, 1)
    return 1.0, 4.0 * team.bearing_to(evader if edge is None else edge.mean(axis=0))
