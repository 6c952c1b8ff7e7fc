"""The energy of robots, and which of them are able to act."""

import numpy as np

from covey.runtime.phases.scoring import use


def test_energy_is_idle_power_times_time_and_drive_energy_times_distance():
    energy, able = np.full(3, -1.0), np.zeros(3, bool)
    use(np.array([5.0, 5.0, 0.0]), np.array([0.0, 2.0, 3.0]), np.array([1.0, 0.5, 2.0]), 4.0, able.copy(), energy, able)
    assert energy.tolist() == [4.0, 12.0, 8.0]
    assert able.all()
    use(np.zeros(3), np.zeros(3), np.zeros(3), 4.0, np.array([False, True, False]), energy, able)
    assert able.tolist() == [True, False, True]
