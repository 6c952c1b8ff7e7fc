"""The page's playback steers the simulation."""

import time

import covey


def maze(**options):
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller="nearest_frontier", seed=3, **options)


def test_play_and_pause(page_of):
    shown = page_of(maze())
    assert shown.sim.clock.step == 0
    shown.page.get_by_role("button", name="Play", exact=True).click()
    shown.until("covey.model.newestStep() > 5")
    shown.page.get_by_role("button", name="Pause", exact=True).click()
    shown.until("!covey.model.frame.playing")
    time.sleep(0.1)
    step = shown.sim.clock.step
    time.sleep(0.3)
    assert shown.sim.clock.step == step
