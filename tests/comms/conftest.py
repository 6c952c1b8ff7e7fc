"""A network of robots that stand in an empty world."""

import numpy as np
import pytest

from covey.comms.links import Unlimited
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.radio import Radio
from covey.world.world import World


class Net(Network):
    """A network whose robots stand still, by default on a line, 1 m apart."""

    def __init__(self, count, *radios, seed=1, xy=None, world=None):
        names = [f"r{i}" for i in range(count)]
        super().__init__([Mailbox(n, names) for n in names], radios or [Radio(links=(Unlimited(),))], seed)
        self.world = world or World.empty(100, 100, resolution_m=1.0)
        self.pose = np.column_stack((np.arange(count, dtype=float), np.zeros((count, 2))))
        if xy is not None:
            self.pose[:, :2] = xy
        self.alive, self.step = np.ones(count, bool), 0

    def run(self, seconds, each=None, step_s=0.1):
        for _ in range(round(seconds / step_s)):
            self.deliver(self.world, self.pose, self.alive, self.step * step_s)
            if each:
                each(self.step * step_s)
            self.step += 1

    def said(self, robot):
        return [m.payload for m in self.mailboxes[robot].pop(None)]


@pytest.fixture
def net():
    return Net
