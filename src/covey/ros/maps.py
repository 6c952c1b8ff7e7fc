"""`MapTopics`: the maps of the robots, what they know together, the truth, and who hears whom."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.ros import messages as m
from covey.ros.dds import Writer
from covey.ros.messages import MAP, Stamp
from covey.ros.qos import LATCHED, STATE
from covey.runtime.simulation import Simulation
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

if TYPE_CHECKING:
    from covey.ros.bridge import Bridge

_GRID = "nav_msgs/msg/OccupancyGrid"


class MapTopic:
    """A latched map. It is sent while somebody listens: to each who comes, and when it has changed.

    Args:
        writer: of the map.
        encode: makes the bytes of an OccupancyGrid.
        frame: its frame.
        every_s: shortest time between two maps [s].
        cells: returns place and cells, int8 as in an OccupancyGrid; None: there are none yet.
        stamp: returns a value that differs if the cells may have changed.
    """

    def __init__(
        self,
        writer: Writer,
        encode: Callable[[str, Any], bytes],
        frame: str,
        every_s: float,
        cells: Callable[[], tuple[Grid, np.ndarray] | None],
        version: Callable[[], Any],
    ):
        self._writer, self._encode, self._frame, self._every_s = writer, encode, frame, every_s
        self._cells, self._version = cells, version
        self._heard, self._next_s = 0, 0.0
        self._sent: Any = None

    def begin(self) -> None:
        """Forget what was sent: a new run begins."""
        self._heard, self._next_s, self._sent = 0, 0.0, None

    def send(self, stamp: Stamp, time_s: float) -> None:
        """Send the map, if it is time."""
        heard = self._writer.matched
        new, self._heard = heard > self._heard, heard
        if not heard or (time_s < self._next_s - 1e-9 and not new):
            return
        version = self._version()
        if not new and version == self._sent:
            return
        found = self._cells()
        if found is not None:
            self._sent, self._next_s = version, time_s + self._every_s
            self._writer.write(self._encode(_GRID, m.occupancy_grid(stamp, self._frame, *found)))


class MapTopics:
    """The maps and links of a team.

    ===================  ==================  ===========================================================================
    topic                frame               what
    ===================  ==================  ===========================================================================
    ``/NAME/map``        ``map``             what the robot believes (an OccupancyGrid), with `Settings.localization`
    ``/merged_map``      ``map``             what all robots have found together
    ``/true_map``        ``map``             the world as it is now, with `Settings.true_map`
    ``/links``           ``map``             lines between robots that hear each other, once a second
    ===================  ==================  ===========================================================================
    """

    def __init__(self, bridge: "Bridge"):
        self._bridge, settings = bridge, bridge.settings
        node, sim, encode = bridge.node, bridge.sim, bridge.participant.types.encode
        assert sim is not None
        self._encode = encode
        self._topics: list[MapTopic] = []

        def add(writer: Writer, frame: str, cells: Callable[[], Any], version: Callable[[], Any]) -> None:
            self._topics.append(MapTopic(writer, encode, frame, settings.map_every_s, cells, version))

        for i in sim.localization.belief_of if settings.localization else ():
            robot = bridge.robots[i]
            writer = robot.node.writer("map", _GRID, LATCHED)
            add(writer, bridge.map_frame(robot), lambda i=i: self._belief(i), lambda i=i: self._version(i))
        if sim.localization.teams:
            add(node.writer("/merged_map", _GRID, LATCHED), MAP, self._merged, self._versions)
        if settings.true_map:
            add(node.writer("/true_map", _GRID, LATCHED), MAP, self._true, lambda: self._sim.world_state.version)
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
        path = self._sim._recorder.folder / f"map_{self._sim.time:08.1f}.yaml"
        World(grid.with_cells(kinds), "merged map").save(path)
        return str(path)

    def _send_links(self, stamp: Stamp) -> None:
        sim = self._sim
        network, pose = sim.communication.network, sim.state.pose
        hears = np.zeros((len(pose), len(pose)), bool)
        for channel in network.radio_channels:
            hears |= channel.propagation.hears(sim.world_state, pose, sim._speaks)
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
