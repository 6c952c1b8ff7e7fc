"""A rover circles on hills while somebody heaps up a mound beside it: what it believes, and whether it noticed.

Needs the extra terrain: pip install 'covey[terrain]'.
"""

import covey
from covey.world.generators.grounds import hills

ground = hills(size_m=(40, 40), height_m=3, seed=2)
rover = covey.Group("rover", covey.robots.skid_steer(), [(0, 0, 0)], lambda robot: robot.drive(0.4, 0.4))
mound = {"at_s": 10, "mound": {"centre_m": [3, 3], "height_m": 0.8, "radius_m": 2}}

stop = covey.Stop(timeout_s=30)
sim = covey.Simulation(ground.world(), [rover], physics="terrain", events=[mound], stop=stop, seed=1)
run = sim.run()

believed = run.landscape.beliefs["rover0"]
print(f"{(believed.marks == 1).sum()} vertices measured, {run.metrics['belief_rmse_m'] * 1000:.0f} mm off")
for event in run.events.filter(run.events["kind"] == "change_noticed").iter_rows(named=True):
    print(f"{event['time_s']:.1f} s: {event['robot']} noticed it near ({event['x_m']:.1f}, {event['y_m']:.1f})")
