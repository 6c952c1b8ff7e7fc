"""`MapTopics`: the maps of the robots, what they know together, the truth, and who hears whom."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.ros import messages as m
from covey.ros.dds import Node
from covey.ros.messages import MAP, Stamp
from covey.ros.qos import LATCHED, STATE
from covey.runtime.simulation import Simulation
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

if TYPE_CHECKING:
    from covey.ros.bridge import Bridge

_GRID, _UPDATE = "nav_msgs/msg/OccupancyGrid", "map_msgs/msg/OccupancyGridUpdate"
_UPDATE_S = 1.0  # shortest time between two updates [s]


class MapTopic:
    """A latched map, and its updates. Both are sent while somebody listens to one of them.

    The whole map is sent to each who comes, and when it has changed. Between two whole maps an update is sent each
    second: the smallest rectangle that has all cells which differ from the map and the updates before it.

    Args:
        node: the node that the topics belong to.
        name: such as ``map``; updates are on ``map_updates``.
        frame: its frame.
        every_s: shortest time between two whole maps [s].
        cells: returns place and cells, int8 as in an OccupancyGrid; None: there are none yet.
        version: returns a value that differs if the cells may have changed.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        frame: str,
        every_s: float,
        cells: Callable[[], tuple[Grid, np.ndarray] | None],
        version: Callable[[], Any],
    ):
        self._maps, self._updates = node.writer(name, _GRID, LATCHED), node.writer(f"{name}_updates", _UPDATE, STATE)
        self._encode, self._frame, self._every_s = node.participant.types.encode, frame, every_s
        self._cells, self._version = cells, version
        self.begin()

    def begin(self) -> None:
        """Forget what was sent: a new run begins."""
        self._known = frozenset[int]()
        self._next_whole_s = self._next_update_s = 0.0
        self._whole: Any = None  # version of the last whole map
        self._told: Any = None  # version of the last message
        self._place: Any = None  # origin, resolution and cells as they were told
        self._shown: np.ndarray | None = None

    def send(self, stamp: Stamp, time_s: float) -> None:
        """Send the map or an update, if it is time."""
        to_updates = self._updates.readers
        here = self._maps.readers | to_updates
        new, self._known = not here <= self._known, here
        if not here:
            return
        version = self._version()
        if new or (version != self._whole and time_s >= self._next_whole_s - 1e-9):
            found = self._cells()
            if found is not None:
                self._send_whole(stamp, time_s, version, *found)
        elif to_updates and version != self._told and time_s >= self._next_update_s - 1e-9:
            found = self._cells()
            assert found is not None
            self._send_update(stamp, time_s, version, *found)

    def _send_whole(self, stamp: Stamp, time_s: float, version: Any, grid: Grid, cells: np.ndarray) -> None:
        self._whole = self._told = version
        self._next_whole_s, self._next_update_s = time_s + self._every_s, time_s + _UPDATE_S
        self._place, self._shown = (grid.origin, grid.resolution), cells.copy()
        self._maps.write(self._encode(_GRID, m.occupancy_grid(stamp, self._frame, grid, cells)))

    def _send_update(self, stamp: Stamp, time_s: float, version: Any, grid: Grid, cells: np.ndarray) -> None:
        shown = self._shown
        if shown is None or shown.shape != cells.shape or self._place != (grid.origin, grid.resolution):
            self._send_whole(
                stamp, time_s, version, grid, cells
            )  # it has grown: no rectangle of the old one tells that
            return
        self._told, self._next_update_s = version, time_s + _UPDATE_S
        differs = shown != cells
        rows, columns = np.flatnonzero(differs.any(1)), np.flatnonzero(differs.any(0))
        if rows.size:
            there = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
            shown[there] = cells[there]
            at = int(columns[0]), int(rows[0])
            self._updates.write(self._encode(_UPDATE, m.grid_update(stamp, self._frame, at, cells[there])))


class MapTopics:
    """The maps and links of a team.

    ===================  ==================  ===========================================================================
    topic                frame               what
    ===================  ==================  ===========================================================================
    ``/NAME/map``        ``map``             what the robot believes (an OccupancyGrid), with ``localization``
    ``/merged_map``      ``map``             what all robots have found together
    ``/true_map``        ``map``             the world as it is now, with ``true_map``
    ``…_updates``        of the map          for each of these maps: what has changed, see `MapTopic`
    ``/links``           ``map``             lines between robots that hear each other, once a second
    ===================  ==================  ===========================================================================
    """

    def __init__(self, bridge: "Bridge"):
        self._bridge, settings = bridge, bridge.settings
        node, sim, encode = bridge.node, bridge.sim, bridge.participant.types.encode
        assert sim is not None
        self._encode = encode
        self._topics: list[MapTopic] = []

        def add(node: Node, name: str, frame: str, cells: Callable[[], Any], version: Callable[[], Any]) -> None:
            self._topics.append(MapTopic(node, name, frame, settings.map_every_s, cells, version))

        for i in sim.localization.belief_of if settings.localization else ():
            robot = bridge.robots[i]
            add(robot.node, "map", robot.map_frame, lambda i=i: self._belief(i), lambda i=i: self._version(i))
        if sim.localization.teams:
            add(node, "/merged_map", MAP, self._merged, self._versions)
        if settings.true_map:
            add(node, "/true_map", MAP, self._true, lambda: self._sim.world_state.version)
        self._links = node.writer("/links", "visualization_msgs/msg/Marker", STATE)

    def begin(self, sim: Simulation) -> None:
        """Get to know a simulation before its first step."""
        self._sim, self._next_links_s = sim, 0.0
        for topic in self._topics:
            topic.begin()

    def send(self, stamp: Stamp) -> None:
        """Send what is due, and heard by somebody."""
        sim = self._sim
        for topic in self._topics:
            topic.send(stamp, sim.time)
        if sim.time >= self._next_links_s - 1e-9:
            self._next_links_s = sim.time + 1.0
            if self._links.matched:
                self._send_links(stamp)

    def save(self) -> str:
        """Write the merged map into the folder of the run, as ROS reads it, and return the path.

        Raises:
            InvalidValueError: no robot has a map.
        """
        found = self._merged()
        if found is None:
            raise InvalidValueError("no robot has a map to save")
        grid, cells = found
        kinds = np.full(cells.shape, UNKNOWN, np.uint8)
        kinds[(cells >= 0) & (cells < 50)], kinds[cells >= 50] = FREE, WALL
        path = self._sim.recorder.folder / f"map_{self._sim.time:08.1f}.yaml"
        World(grid.with_cells(kinds), "merged map").save(path)
        return str(path)

    def _send_links(self, stamp: Stamp) -> None:
        sim = self._sim
        network, pose = sim.communication.network, sim.state.pose
        hears = np.zeros((len(pose), len(pose)), bool)
        for channel in network.radio_channels:
            hears |= channel.propagation.hears(sim.world_state, pose, sim.speaks)
        receiver, sender = np.nonzero(hears)
        pairs = np.column_stack((sender, receiver))
        values = m.links(stamp, MAP, pose[:, :2], sim.names, pairs)
        self._links.write(self._encode("visualization_msgs/msg/Marker", values))

    def _belief(self, i: int) -> tuple[Grid, np.ndarray]:
        belief = self._sim.localization.belief_of[i]
        return belief.grid, belief.occupancy()

    def _version(self, i: int) -> Any:
        return self._sim.localization.belief_of[i].version

    def _merged(self) -> tuple[Grid, np.ndarray] | None:
        union = self._sim.scoring.union()
        return None if union is None else (union, union.cells)

    def _versions(self) -> Any:
        return self._sim.localization.teams[0].beliefs.version.tobytes()

    def _true(self) -> tuple[Grid, np.ndarray]:
        grid = self._sim.world_state.grid
        cells = np.full(grid.shape, -1, np.int8)
        cells[(grid.cells == FREE) | (grid.cells == OPEN)], cells[grid.cells == WALL] = 0, 100
        return grid, cells
