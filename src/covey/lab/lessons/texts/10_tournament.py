# %% [markdown]
# # 10. A tournament
#
# One pursuer, one evader, a square of 10 m. The evader goes 1 m/s, the pursuer 0.9 m/s: it can only win by wit, or in a corner.
#
# **Aims.** Write for an opponent that you do not know. Judge by many games, not by one.
#
# **Task.** Catch at least two of three evaders within 60 s, to 0.3 m.

# %%
import numpy as np

import covey
from covey.lab.lessons import check


# %% complete
# You are robot 0, the evader is robot 1. team.velocity: of both [m/s], shape (2, 2).
def pursuer(team):
    return 0.0, 0.0


# %%
def runs_straight(team):
    return 1.0, 0.6 * np.sign(team.bearing_to((5, 5))[1]) * (team.distance_to((5, 5))[1] > 3)


def runs_away(team):
    away = np.arctan2(*(team.position[1] - team.position[0])[::-1]) - team.heading[1]
    return 1.0, 3 * np.sin(away)


def runs_in_circles(team):
    return 1.0, 1.2


def game(evader):
    def law(team):
        (speed, turn), (flight, swerve) = pursuer(team), evader(team)
        return np.array([np.clip(speed, 0, 0.9), flight]), np.array([np.clip(turn, -6, 6), swerve])

    def caught(team):
        return bool(np.hypot(*(team.position[0] - team.position[1])) < 0.3)

    starts = [(2, 5, 0), (7, 5, 0)]
    robot = {"kinematics": "unicycle", "diameter_m": 0.2, "max_turn_rad_s": 6.0}
    return covey.play(law, robots=2, starts=starts, stop_s=60, until=caught, speed="max", **robot)


outs = [game(evader) for evader in (runs_straight, runs_away, runs_in_circles)]
out = outs[-1]
out

# %%
check(10, outs)

# %% [markdown]
# ![Two paths that meet](pictures/10.png)
#
# **The class plays.** Each writes one file for a pursuer and one for an evader (`examples/tournament`). Then every law plays every other:
#
# ```
# covey tournament pursuers/ evaders/ --game pursuit
# ```
