"""Changes of the ground: by events, by robots that dig, and the files that keep the present ground."""

from collections.abc import Callable, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.events.port import Point, Port
from covey.events.records import GroundEvent, SaveGroundEvent
from covey.results.folder import unwritable
from covey.world.editing.ground_edits import dig, undo
from covey.world.ground import GroundEdit, Heightfield


class GroundChanges:
    """The ground, as events and robots change it.

    Args:
        port: access to the simulation.
        record_event: records an event.
        undo: gets, by the name of an event, what takes it back; that returns False if it cannot.
    """

    def __init__(self, port: Port, record_event: Callable[..., None], undo: MutableMapping[str, Callable[[], bool]]):
        self._port, self._record_event, self._undo = port, record_event, undo

    def change(self, event: GroundEvent) -> Any:
        """Change the ground, and remember how to take it back if the event has a name."""
        what, change = event.change
        edit = self._edit(change.edit, what)
        if edit is None:
            return None
        if event.name:
            self._undo[event.name] = lambda: self._edit(lambda ground: undo(ground, edit), event.name) is not None
        return event.plain()

    def dig(self, robot: int, from_m: Point, to_m: Point, volume_m3: float) -> None:
        """Move ground for a robot, as it asked."""
        digger = self._port.model.models[self._port.model.model_id[robot]].digger
        assert digger is not None, "checked by the handle"
        edit = partial(dig, from_m=from_m, to_m=to_m, volume_m3=volume_m3, radius_m=digger.radius_m)
        self._edit(edit, "dig", self._port.names[robot])

    def save(self, event: SaveGroundEvent) -> Any:
        """Write the present ground into the run's folder; a number is added to a name that is in use."""
        ground, folder = self._port.world.ground, self._port.grounds()
        assert ground is not None, "checked before"
        given = Path(event.save_ground)
        names = (given.name, *(f"{given.stem}-{k}{given.suffix}" for k in range(2, 100_000)))
        try:
            name = next(name for name in names if not (folder / name).exists())
            ground.ground.save(folder / name)
        except OSError as error:
            raise unwritable(f"the ground into {str(folder)!r}", error) from error
        self._record_event("ground_saved", other=name)
        return event.plain()

    def _edit(self, edit_of: Callable[[Heightfield], GroundEdit], what: str, robot: str = "") -> GroundEdit | None:
        """Edit the ground and record the edit, or its refusal; return the edit, or None."""
        ground = self._port.world.ground
        try:
            if ground is None:
                raise InvalidValueError("this world has no ground to change; give it a height_map")
            edit = edit_of(ground)
            ground.apply(edit)
        except InvalidValueError as error:
            self._record_event("refused", robot, what, says=str(error))
            return None
        self._port.ground_edited(self._port.clock.step + 1, edit)
        rows, columns = np.nonzero(edit.before != edit.after)
        text = "nothing changed"
        place = (np.nan, np.nan)
        if len(rows):
            x0, y0, spacing = ground.frame.tolist()
            place = x0 + (edit.column + columns.mean()) * spacing, y0 + (edit.row + rows.mean()) * spacing
            low, high = (float(end) for end in ((edit.after - edit.before).min(), (edit.after - edit.before).max()))
            text = f"{len(rows)} vertices by {low:+.2f} to {high:+.2f} m"
        self._record_event("ground_changed", robot, what, place, text)
        return edit
