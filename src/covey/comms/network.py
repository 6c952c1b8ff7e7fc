"""The network: takes messages from the mailboxes of a team and delivers them as the radio links allow."""

import dataclasses

import numpy as np

from covey.comms.mailbox import Mailbox
from covey.comms.message import Message


class Network:
    """Delivers what was sent in one step in the next, to whoever is within range then.

    Args:
        mailboxes: one of each robot, in the order of the team.
        range_m: robots within this distance of each other hear each other [m].

    Attributes:
        sent_bytes, received_bytes: on the air since the start, int64 (n,).
    """

    def __init__(self, mailboxes: list[Mailbox], range_m: float):
        self.mailboxes, self.range_m = mailboxes, range_m
        self.index = {box.owner: i for i, box in enumerate(mailboxes)}
        self.sent_bytes, self.received_bytes = (np.zeros(len(mailboxes), np.int64) for _ in range(2))
        self._number = 0

    def links(self, pose: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Return who can hear whom, bool (n, n), row i: whom robot i hears; nobody hears itself."""
        apart = np.hypot(*(pose[:, None, :2] - pose[None, :, :2]).transpose(2, 0, 1))
        hears = (apart <= self.range_m) & alive[:, None] & alive[None]
        np.fill_diagonal(hears, False)
        return hears

    def deliver(self, pose: np.ndarray, alive: np.ndarray, time_s: float) -> None:
        """Deliver what waits in the outboxes; robots that are not alive, bool (n,), send and hear nothing."""
        if not any(box.outbox for box in self.mailboxes):
            return
        hears = self.links(pose, alive)
        arrived: list[tuple[int, Message]] = []
        for i, box in enumerate(self.mailboxes):
            for note in box.outbox:
                if not alive[i]:
                    continue
                self._number += 1
                self.sent_bytes[i] += note.size_bytes
                message = Message(
                    box.owner, note.to, note.kind, note.payload, note.size_bytes, time_s, np.nan, 0, self._number
                )
                to = np.flatnonzero(hears[:, i]) if note.to is None else [self.index[note.to]]
                arrived += [(int(j), message) for j in to if hears[j, i]]
            box.outbox.clear()
        for j, message in arrived:
            self.received_bytes[j] += message.size_bytes
            self.mailboxes[j].put(dataclasses.replace(message, received_s=time_s, hops=1))
