def velocity(team):
    x = team.position - places
    return (sees @ x) / 2 - x
