"""Open files in reserve, for what runs write later: others may take all that the system lets this process open."""

import os
from contextlib import suppress

_FILES = 16


class Reserve:
    """Open files that are given back when one of its users has to open others; the users share them.

    Args:
        count: number of files.
    """

    def __init__(self, count: int = _FILES):
        self.count = count
        self.users = 0
        self._files: list[int] = []

    def __len__(self) -> int:
        return len(self._files)

    def join(self) -> None:
        """Count another user, and open the files.

        Raises:
            OSError: this process may open no more files.
        """
        self.users += 1
        self.fill()

    def leave(self) -> None:
        """Count a user less; with the last one the files are closed."""
        self.users -= 1
        if self.users:
            with suppress(OSError):  # it is filled again when there is room
                self.fill()
        else:
            self.give_back(self.count)

    def fill(self) -> None:
        """Open files until there are as many as there should be."""
        while len(self._files) < self.count:
            self._files.append(os.open(os.devnull, os.O_RDONLY))

    def give_back(self, count: int) -> None:
        """Close some of the files, so that as many others can be opened."""
        while self._files and count:
            with suppress(OSError):  # a controller may have closed it
                os.close(self._files.pop())
            count -= 1


RESERVE = Reserve()
