"""A shipped scenario, changed and run step by step."""

import covey

scenario = covey.load_scenario("loop").replace("robots.scout.count", 2).replace("stop.explored", 0.3)
sim = scenario.build()
while not sim.done:
    sim.step()
run = sim.close()
print(f"{run.metrics['explored_share']:.0%} explored at {run.metrics['simulated_time_s']:.0f} s")
