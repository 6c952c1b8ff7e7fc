"""Each layer of the scene: the colour at a place of the world is what the simulation holds there."""

import numpy as np
import pytest
from tests.viewer.browser.conftest import until

import covey
from covey.comms.radio import Radio
from covey.mapping.localization import DeadReckoning, Noise
from covey.mapping.records import ElevationMapping
from covey.missions import Formation, Patrolling, Rescue
from covey.onboard.group import Group
from covey.scenario.load import parse_scenario
from covey.sensors import TagCamera, Wedge
from covey.sensors.odometry import GmappingNoise, Odometry
from covey.viewer.heat import EVERY
from covey.viewer.layers import layers_of
from covey.world.generators.grounds import hills

SKY, ACCENT, LINK, PLACE, ERROR = "#eef1f4", "#b3008c", "#5b6b7b", "#0072b2", "#d55e00"
FIRST, SECOND = "#0072b2", "#d55e00"  # colours of the first two robots
BAD, SEARCHED, LEFT = "#b8480a", "#00a878", "#e0218a"
SCALE = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"]
COLOR = """([x, y, dx, dy]) => {
  const { view, stage } = covey, ratio = view.renderer.getPixelRatio(), [px, py] = view.pixel(x, y, stage.altitude(x, y));
  const one = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  for (const canvas of [view.canvas, stage.pen.canvas])
    one.drawImage(canvas, -Math.floor((px + dx) * ratio), -Math.floor((py - dy) * ratio));
  return [...one.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


def rgb(color):
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)], float)


def over(color, share, ground=SKY):
    """Return a colour of some opacity over another one."""
    return share * (rgb(color) if isinstance(color, str) else color) + (1.0 - share) * rgb(ground)


def on_scale(t):
    return np.array([np.interp(5.0 * t, range(6), [rgb(c)[k] for c in SCALE]) for k in range(3)])


class Scene:
    """The scene of a page, on which one layer alone is shown."""

    def __init__(self, shown):
        self.shown, self.page = shown, shown.page

    def alone(self, *labels, select=()):
        self.page.evaluate("for (const name of [...covey.stage.shown]) covey.stage.show(name, false)")
        self.page.evaluate("robots => covey.model.select(robots)", list(select))
        for label in labels:
            self.page.get_by_role("checkbox", name=label, exact=True).check()

    def color(self, x, y, dx=0, dy=0):
        return np.array(self.page.evaluate(COLOR, [float(x), float(y), dx, dy]), float)

    def until(self, wanted, name):
        """Wait until a function gives something true: what has been chosen is drawn a moment later."""
        until(wanted, name, page=self.page)

    def shows(self, x, y, color, dx=0, dy=0, within=14):
        """Wait until a place has a colour, and return True; `dx`, `dy`: pixels to the right and up."""
        color = rgb(color) if isinstance(color, str) else color
        self.until(lambda: np.abs(self.color(x, y, dx, dy) - color).max() <= within, f"({x}, {y}) as {color}")
        return True


@pytest.fixture(scope="module")
def maze():
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return lambda: covey.Simulation(world, robots=3, controller="nearest_frontier", seed=3, share_maps=1.0)


def far_from_robots(sim, wanted, grid):
    """Return the centre of a cell in `wanted` that no symbol of a robot hides, in the middle of such cells."""
    wanted = wanted.copy()
    rows, columns = np.nonzero(wanted)
    points = grid.to_world(np.column_stack((rows, columns)))
    away = np.min(np.hypot(*(points[:, None] - sim.state.pose[None, :, :2]).transpose(2, 0, 1)), axis=1)
    around = np.array(
        [wanted[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2].sum() for r, c in zip(rows, columns, strict=True)]
    )
    assert (away > 1.0).any()
    return points[np.argmax(np.where(away > 1.0, around, -1))]


def test_layers_of_cells(page_of, maze):
    shown = page_of(maze())
    scene, sim = Scene(shown), shown.sim
    shown.steps(60)
    explored, covered = sim.scoring.exploration.cells, sim.scoring.coverage.cells
    beliefs = sim.localization.teams[0].beliefs
    own, union, place = beliefs[0].occupancy(), beliefs.union(), beliefs.grid
    last_seen, seen_by, passed_by = explored.last_step_before, explored.seen_by, covered.passed_by
    grid = sim.world.grid
    frontier = np.zeros(own.shape, bool)
    frontier[:, 1:] = (own[:, 1:] == 0) & (own[:, :-1] == -1)
    span = 100.0  # steps of 0.1 s in 10 s
    newest = int(last_seen.max())
    for label, cells, at, color in [
        ("Walls", sim.world.grid.cells == 1, grid, "#2b3440"),
        ("Explored by the team", explored.first_step >= 0, grid, "#ffffff"),
        ("Explored by the robot", explored.explored(0), grid, over(PLACE, 0.35)),
        ("Covered", covered.last_step >= 0, grid, over("#a8dcc9", 0.9)),
        ("First seen", (explored.first_step >= 0) & (explored.first_step <= 2), grid, over(on_scale(0.01), 0.85)),
        ("Last seen", last_seen == newest, grid, over(on_scale(1.0 - (60 - newest) / span), 0.85)),
        ("Robots that saw it", seen_by == 1, grid, over(on_scale(0.0), 0.85)),
        ("Robots that saw it", seen_by == 3, grid, over(on_scale(1.0), 0.85)),
        ("Robots that passed it", passed_by == 1, grid, over(on_scale(0.0), 0.85)),
        ("Merged map", union == 0, place, over("#d8ecf9", 0.92)),
        ("Merged map", union == 100, place, "#0b4a78"),
        ("Map of the robot", own == 0, place, over("#d8ecf9", 0.92)),
        ("Frontiers", frontier, place, ERROR),
    ]:
        scene.alone(label, select=[0])
        assert scene.shows(*far_from_robots(sim, cells, at), color), label


async def still(robot):
    await robot.sleep(1e9)


async def go(robot):
    robot.leave_tag("here")
    robot.note("going")
    await robot.goto((3.5, 0.0))


def room(starts, controller=still, group=None, world=None, **options):
    groups = [Group("s", covey.robots.disc(), starts, **group or {})]
    return covey.Simulation(world or covey.World.empty(10, 10), groups, controller, **options)


def test_routes_starts_tags_trails_and_notes(page_of):
    shown = page_of(room([(-3.5, 0.0, 0.0)], go))
    scene = Scene(shown)
    shown.steps(30)
    assert shown.sim.state.pose[0, 0] > -2.0
    scene.alone("Paths and goals")
    assert scene.shows(3.5, 0.0, FIRST)
    scene.alone("Starts")
    assert scene.shows(-3.5, 0.0, FIRST, dx=6, within=90)  # the tip of a thin triangle
    scene.alone("Tags")
    tag = shown.sim.communication.tags.tags[0]
    assert scene.shows(tag.x, tag.y, FIRST)
    scene.alone("Trails")
    x = (shown.sim.state.pose[0, 0] - 3.5) / 2
    scene.until(lambda: min(np.abs(scene.color(x, 0.0, dy=k) - rgb(FIRST)).max() for k in (-1, 0, 1)) < 120, "a trail")
    for label in ("Numbers", "Notes", "Names"):
        scene.alone(label)
        x, y = shown.sim.state.pose[0, :2]
        beside = [(dx, dy) for dx in range(10, 24) for dy in (-16, -14, -12, -2, 0, 2)]
        scene.until(lambda x=x, y=y, at=beside: min(scene.color(x, y, *d).sum() for d in at) < 250, label)


def test_trails_are_as_long_as_one_chooses(page_of):
    """A robot drives 0.5 m/s to the right for 20 s: a trail of 10 s begins 5 m behind it."""

    async def drive(robot):
        while True:
            robot.drive(0.5, 0.0)
            await robot.sleep(0.1)

    shown = page_of(room([(-9.0, 0.0, 0.0)], drive, world=covey.World.empty(20, 4)))
    scene = Scene(shown)
    shown.steps(200)
    scene.alone("Trails")
    x = shown.sim.state.pose[0, 0]

    def is_drawn(behind):
        column = [scene.color(x - behind, 0.0, dy=k) for k in (-1, 0, 1)]
        return bool(max(np.abs(c - rgb(SKY)).max() for c in column) > 8)

    length = shown.page.get_by_role("combobox", name="Length of the trails")
    for seconds, drawn in (("10", (True, False)), ("20", (True, True))):
        length.select_option(seconds)
        scene.until(lambda drawn=drawn: (is_drawn(3.0), is_drawn(7.0)) == drawn, f"a trail of {seconds} s")


def test_heat_maps_have_a_scale_with_numbers(page_of, maze):
    shown = page_of(maze())
    scene, cells = Scene(shown), shown.sim.scoring.coverage.cells
    shown.steps(60)
    for label, low, high in (
        ("First seen", "0 s", "10 s"),  # the first round time after 6 s
        ("Last seen", "10 s ago", "now"),
        ("Robots that saw it", "1 robot", "3 robots"),
        ("Robots that passed it", "1 robot", "3 robots"),
        ("Last covered", "10 s ago", "now"),
    ):
        scene.alone(label)
        ends = shown.page.locator(".layers .ends")
        scene.until(lambda ends=ends, low=low, high=high: ends.all_inner_texts() == [f"{low}\n{high}"], label)
    step = int(np.median(cells.last_step[cells.last_step >= 0]))
    place = far_from_robots(shown.sim, np.abs(cells.last_step - step) <= 3, shown.sim.world.grid)
    (row, column) = shown.sim.world.grid.to_cells(place)
    assert scene.shows(*place, over(on_scale(1.0 - (60 - cells.last_step[row, column]) / 100.0), 0.85))


def test_sensors_and_estimates(page_of):
    shown = page_of(room([(-2.0, 0.0, 0.0), (3.0, 3.0, 0.0)], group={"localization": Noise(sigma_m=1.0)}))
    scene, sim = Scene(shown), shown.sim
    shown.steps(3)
    scene.alone("Visible area")
    assert scene.page.get_by_text("Select a robot to see it.").count() == 1
    scene.alone("Visible area", select=[0])
    assert scene.shows(-2.0, 2.0, over(PLACE, 0.22))
    assert scene.shows(4.9, 4.9, SKY)
    scene.alone("Lidar", select=[0])
    bank = next(bank for bank in sim.sensing.banks if bank.record.kind == "lidar")
    scan = bank.readings.row(0)
    assert scene.shows(*(sim.state.pose[0, :2] + scan.points()[7]), FIRST, within=40)
    scene.alone("Estimated poses")
    true, estimate = sim.state.pose[0, :2], sim.localization.carried[0, :2]
    away = np.hypot(*(estimate - true))
    assert scene.shows(*(true + (estimate - true) * max(0.5, 1.0 - 0.25 / away)), ERROR, within=60)
    for edge in ((2.0, 0.0), (0.0, -2.0)):  # twice the deviation
        assert scene.shows(*(estimate + edge), ERROR, within=100)  # a thin line


def test_the_ellipse_of_dead_reckoning_is_longer_across_its_way(page_of):
    """Errors of the heading act across: after K motions of length d, (rad_per_m d)^2 d^2 (K - 1) K (2 K - 1) / 6."""
    noise = GmappingNoise(m_per_m=0.0, rad_per_m=0.6, m_per_rad=0.0, rad_per_rad=0.0)
    model = covey.robots.disc().model_copy(update={"sensors": (Odometry(noise=noise),)})

    async def straight(robot):
        await robot.drive(0.5)

    group = Group("s", model, [(-4.0, 0.0, 0.0)], localization=DeadReckoning())
    shown = page_of(covey.Simulation(covey.World.empty(10, 10), [group], straight))
    scene = Scene(shown)
    shown.steps(121)
    scene.alone("Estimated poses")
    x, y, heading = shown.sim.localization.carried[0]
    across = 2.0 * np.sqrt((0.6 * 0.05**2) ** 2 * 119 * 120 * 239 / 6)  # 1.1 m
    beside = np.arange(0.6 * across, 1.4 * across, 0.02)
    scene.until(lambda: any(near(scene, x, y, r, heading + 0.5 * np.pi) for r in beside), "an edge at the side")
    assert not [r for r in np.arange(0.5, 1.4 * across, 0.02) if near(scene, x, y, r, heading)], "none ahead"
    shown.page.get_by_text("error, and an ellipse of twice the deviation").wait_for()


def near(scene, x, y, r, angle):
    """Whether there is the colour of errors at a distance [m] from a place."""
    return np.abs(scene.color(x + r * np.cos(angle), y + r * np.sin(angle)) - rgb(ERROR)).max() < 100


def test_links_and_groups(page_of):
    starts = [(-4.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (4.0, 0.0, 0.0)]
    shown = page_of(room(starts, radio=Radio(range_m=4.0)))
    scene = Scene(shown)
    shown.steps(1)
    scene.alone("Links")
    assert scene.shows(-2.5, 0.0, over(LINK, 0.85), within=40)
    assert scene.shows(1.5, 0.0, SKY)
    scene.alone("Connected groups")
    for (x, y, _), color in zip(starts, (FIRST, FIRST, SECOND), strict=True):
        assert scene.shows(x, y, over(color, 0.9), dy=14, within=40)


def test_waypoints_and_orders(page_of):
    mission = Patrolling(waypoints_m=((2.0, 2.0), (-2.0, -2.0)))
    shown = page_of(room([(-2.0, -2.0, 0.0)], mission=mission))
    scene = Scene(shown)
    shown.steps(40)
    scene.alone("Waypoints and their idleness")
    assert scene.shows(2.0, 2.0, SCALE[2])  # 4 s of 10 s
    assert scene.page.get_by_text("time since the last visit").is_visible()


def test_what_a_search_has_found(page_of):
    sharp = TagCamera(detect_near=1, detect_far=1, detect_slant=1, sigma_m=0, sigma_per_m=0, false_per_min=0)
    robot = covey.robots.disc().model_copy(update={"sensors": (*covey.robots.disc().sensors, sharp)})
    targets = [
        {"kind": "victim", "identity": 7, "at": (2, 0.5)},
        {"kind": "big_fire", "identity": 4, "at": (2, -1)},
        {"kind": "victim", "identity": 8, "at": (-2, 1)},
    ]

    async def look_and_report(robot):
        await robot.drive(0.0, 0.2, for_s=0.5)
        if robot.name == "s0":
            await robot.report(8, (0.0, 1.4))
            await robot.report(4, (2.0, -1.0))
        await robot.sleep(100)

    mission = Rescue(kinds={"big_fire": {"robots": 2, "within_m": 3, "meeting_points": 300}})
    group = Group("s", robot, [(0.5, 0.4, 0.0), (0.5, -0.4, 0.0)])
    world = covey.World.empty(4, 4, 0.1)
    shown = page_of(covey.Simulation(world, [group], look_and_report, targets=targets, mission=mission))
    scene = Scene(shown)
    shown.steps(20)
    scene.alone("Targets")
    assert scene.shows(2.0, -1.0, SEARCHED)
    assert scene.shows(2.0, 0.5, "#ffffff")  # in sight, but not reported: an edge alone
    assert scene.shows(2.0, 0.5, LEFT, dx=6, within=60)
    assert scene.shows(0.0, 1.4, BAD)
    (at,) = [event for event in shown.page.evaluate("covey.model.events") if "the meeting at" in event.get("text", "")]
    assert scene.shows(at["x"], at["y"], "#1a2027", dx=15, within=60)
    scene.alone("Searched walls")
    assert scene.shows(1.95, 0.05, SEARCHED)
    assert scene.shows(-1.95, 0.05, LEFT)
    assert scene.shows(0.05, 0.05, SKY)
    shown.page.evaluate("covey.model.shown = 1; covey.model.changed()")  # before anything was told
    scene.alone("Targets")
    assert scene.shows(2.0, -1.0, "#ffffff")


def test_targets(page_of):
    mission = Formation(objective_m=(1.0, 0.0), formation="rank", spacing_m=2.0)
    shown = page_of(room([(-3.0, -1.0, 0.0), (-3.0, 0.0, 0.0), (-3.0, 1.0, 0.0)], mission=mission))
    scene = Scene(shown)
    shown.steps(2)
    scene.alone("Targets of the order")
    assert scene.shows(1.0, 0.0, ACCENT)


def test_perspective_shows_walls_with_their_height(page_of, maze):
    shown = page_of(maze())
    scene = Scene(shown)
    shown.steps(1)
    scene.alone("Walls")
    grid = shown.sim.world.grid
    left, bottom = grid.origin[:2]
    middle = left + grid.size_m[0] / 2
    scene.page.get_by_role("button", name="Perspective").click()
    high = shown.sim.world.wall_height_m
    top = f"covey.view.pixel({middle}, {bottom + grid.size_m[1] - 0.02}, {0.8 * high})"
    ground = f"covey.view.pixel({middle}, {bottom + grid.size_m[1] - 0.02}, 0)"
    assert shown.until(f"{ground}[1] - {top}[1] > 3")
    x, y = middle, bottom + grid.size_m[1] - 0.02
    up = round(shown.page.evaluate(f"{ground}[1] - {top}[1]"))
    scene.until(lambda: np.abs(scene.color(x, y, dy=up) - rgb(SKY)).max() > 40, "a wall")


def test_what_walls_hide_is_faint_in_perspective(page_of):
    """The camera looks from the south, 0.9 rad above the ground: 1 m behind a wall, it sees what is above 1.26 m."""
    text = """
    world: {workspace_m: [[-6, -6], [6, -6], [6, 6], [-6, 6]], walls_m: [[[-5, 0], [5, 0]]], resolution_m: 0.1}
    robots: [{name: s, robot: disc, count: 6, controller: still,
              start: [[-4, 1, 0], [4, 1, 0], [-4, -3, 0], [4, -3, 0], [-4, 5, 0], [4, 5, 0]]}]
    radio: {range_m: 8.1}
    """
    shown = page_of(parse_scenario(text).build())
    scene = Scene(shown)
    shown.steps(1)
    scene.alone("Walls", "Links", "Numbers")
    scene.page.get_by_role("button", name="Perspective").click()
    shown.until("covey.view.perspective && covey.model.arrays.has('link')")
    opacity = """([x, y, dx]) => new Promise(done => { covey.view.draw(); requestAnimationFrame(() => requestAnimationFrame(() => {
      const { pen, view } = { pen: covey.stage.pen, view: covey.view }, ratio = view.renderer.getPixelRatio();
      const [u, v] = view.pixel(x, y), n = 7;
      const data = pen.g.getImageData(Math.round((u + dx) * ratio) - 3, Math.round(v * ratio) - 3, n, n).data;
      done(Math.max(...data.filter((_, k) => k % 4 === 3)));
    })) })"""

    def at(x, y, dx=0):
        return scene.page.evaluate(opacity, [x, y, dx])

    for dx, x, most in ((14, -4.0, 0.6), (0, 0.0, 0.4)):  # the number of a robot with its edge, the middle of a link
        behind, before, beyond = (at(x, y, dx) for y in (1.0, -3.0, 5.0))
        assert 20 < behind < most * min(before, beyond), (behind, before, beyond)
    scene.page.get_by_role("checkbox", name="Walls", exact=True).uncheck()
    assert at(0.0, 1.0) > 0.7 * before


def test_a_landscape_has_its_altitudes_as_colours(page_of):
    ground = hills(size_m=(30.0, 30.0), height_m=4.0, wavelength_m=30.0, seed=4)
    shown = page_of(room([(0.0, 0.0, 0.0)], world=ground.world(), physics="terrain"))
    scene = Scene(shown)
    shown.steps(1)
    scene.alone("Ground")
    low, high = (np.unravel_index(k, ground.shape) for k in (ground.altitude.argmin(), ground.altitude.argmax()))
    for (row, column), bright in ((low, False), (high, True)):
        x, y, z = ground.vertices()[row, column]
        x, y = np.clip((x, y), -14.5, 14.5)

        def as_bright(x=x, y=y, bright=bright):
            color = scene.color(x, y)
            return (color.sum() > 500) == bright and np.abs(color - rgb(SKY)).max() > 10

        scene.until(as_bright, f"altitude {z}")
        assert shown.page.evaluate(f"covey.stage.altitude({x}, {y})") == pytest.approx(
            float(ground.altitude_at((x, y))), abs=0.05
        )


def test_beliefs_about_a_landscape_and_its_slope(page_of):
    ground = hills(size_m=(30.0, 30.0), height_m=4.0, wavelength_m=30.0, seed=4)
    model = covey.robots.disc().model_copy(update={"sensors": (Wedge(),), "mapping": ElevationMapping()})
    group = Group("s", model, [(0.0, 0.0, 0.0)])
    shown = page_of(covey.Simulation(ground.world(), [group], still, physics="terrain"))
    scene, sim = Scene(shown), shown.sim
    shown.steps(5)
    made = layers_of(sim)
    altitude, error, interval = (made[f"{kind}:s0"]() for kind in ("altitude", "error", "interval"))
    known = np.isfinite(altitude.seen)
    known[1:-1, 1:-1] &= known[:-2, 1:-1] & known[2:, 1:-1] & known[1:-1, :-2] & known[1:-1, 2:]
    place = far_from_robots(sim, known, altitude.grid)
    row, column = altitude.grid.to_cells(place)
    low, high = ground.altitude.min(), ground.altitude.max()
    off = np.clip(error.seen[row, column] / 0.2, -1.0, 1.0)
    end = (0.13, 0.4, 0.67) if off < 0 else (0.7, 0.09, 0.17)
    r, c = (round((v - o) / ground.spacing_m) for v, o in zip(place[::-1], ground.origin[::-1], strict=True))
    rise = np.array(
        [ground.altitude[r, c + 1] - ground.altitude[r, c - 1], ground.altitude[r + 1, c] - ground.altitude[r - 1, c]]
    )
    slope_deg = np.degrees(np.arctan(np.hypot(*rise) / (2.0 * ground.spacing_m)))
    for label, color in (
        ("Believed altitude", on_scale((altitude.seen[row, column] - low) / (high - low))),
        ("Error of the altitude", 255.0 * (0.97 + abs(off) * (np.array(end) - 0.97))),
        ("Uncertainty of the altitude", on_scale(interval.seen[row, column] / 0.5)),
        ("Slope", on_scale(slope_deg / 45.0)),
    ):
        scene.alone(label, select=[0])
        assert scene.shows(*place, over(color, 0.9)), label


def test_marks_of_robots_that_stopped_or_are_mute(page_of):
    shown = page_of(room([(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)]))
    scene = Scene(shown)
    scene.alone()
    before = scene.color(-2.0, 0.0, dx=-6, dy=6), scene.color(2.0, 0.0, dx=-10, dy=12)
    shown.sim.fault("dies", "s0")
    shown.sim.fault("radio_dies", "s1")
    shown.steps(2)

    def both_changed():
        after = scene.color(-2.0, 0.0, dx=-6, dy=6), scene.color(2.0, 0.0, dx=-10, dy=12)
        return all(np.abs(a - b).max() > 40 for a, b in zip(before, after, strict=True))

    scene.until(both_changed, "marks at both robots")


@pytest.mark.parametrize(
    ("radio", "steps", "part", "colour"),
    [
        (Radio(latency_s=1.0), 6, 0.6, FIRST),  # after 0.6 s of 1 s
        (Radio(), 2, 0.75, FIRST),  # it has arrived: it stands as long as the run does
        (Radio(loss=1.0), 2, 0.6, BAD),
    ],
)
def test_messages_are_shown_on_their_way(page_of, radio, steps, part, colour):
    async def tell(robot):
        if robot.name == "s0":
            robot.send("hello", to="s1")
        await robot.sleep(1e9)

    starts = [(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    shown = page_of(room(starts, tell, radio=radio))
    scene = Scene(shown)
    scene.alone("Messages in flight")
    shown.page.get_by_text("Nothing has been sent yet.").wait_for()
    shown.steps(steps)
    assert scene.shows(-2.0 + 4.0 * part, 0.0, colour)
    shown.page.get_by_text("✕ does not arrive, and why").wait_for()
    shown.steps(10)
    shown.steps(1)  # by now it is over, and has been told
    assert scene.shows(-2.0 + 4.0 * part, 0.0, SKY)


def test_symbols_are_large_enough_however_far_away(page_of):
    shown = page_of(room([(-20.0, 0.0, 0.0)], world=covey.World.empty(60, 60)))
    scene = Scene(shown)
    scene.alone()
    for dx, dy in ((-5, 0), (0, 5), (0, -5)):
        scene.until(lambda d=(dx, dy): np.abs(scene.color(-20.0, 0.0, *d) - rgb(SKY)).max() > 40, "a symbol")
    assert np.abs(scene.color(-20.0, 0.0, dx=9) - rgb(SKY)).max() < 10


def test_heat_maps_of_robots_groups_and_the_team(page_of):
    starts = {"a": (-8.0, 0.0, 0.0), "b": (8.0, 0.0, np.pi)}
    groups = [Group(name, covey.robots.pioneer3dx(), [start]) for name, start in starts.items()]
    shown = page_of(covey.Simulation(covey.World.empty(20, 20), groups, "still"))
    scene = Scene(shown)
    shown.sim.do({"place": "a0", "pose": [-5, -3, 0]})
    shown.steps(2)
    shown.sim.do({"place": "a0", "pose": [-8, 0, 0]})
    shown.steps(2)
    of = shown.page.get_by_label("Heat maps of")
    came = -7.85, 0.0  # beside the symbol of 7 pixels there is nothing of the body: it is looked at without symbols
    shown.page.evaluate("covey.stage.robots.group.visible = false; covey.stage.robots.update = () => {}")
    scene.alone("Visits")
    shown.page.get_by_text("2 visits", exact=True).wait_for()
    assert scene.shows(*came, over(on_scale(1.0), 0.85))
    assert scene.shows(-5, -3, over(on_scale(0.0), 0.85))
    of.select_option("of the group b")
    assert scene.shows(*came, SKY)
    assert scene.shows(8, 0, over(on_scale(0.0), 0.85))
    of.select_option("of the selected robot")
    shown.page.get_by_text("Select a robot to see it.").wait_for()
    scene.alone("Visits", select=[0])
    assert scene.shows(*came, over(on_scale(1.0), 0.85))
    assert scene.shows(8, 0, SKY)
    scene.alone("Last covered", select=[0])
    shown.page.get_by_text("Known of the team only.").wait_for()
    shown.steps(100)  # each robot has looked
    behind = -9, 4  # of a0, which looks to the right, as b0 looks to the left
    scene.alone("Last seen", select=[0])
    assert scene.shows(*behind, SKY)
    scene.alone("Last seen", select=[1])
    row, column = shown.sim.world.grid.to_cells(behind)
    ago = shown.sim.clock.step - (shown.live._heat.last([1])[0, row, column] - 1)
    assert 0 <= ago <= EVERY
    assert scene.shows(*behind, over(on_scale(1.0 - ago / 200.0), 0.85))  # a scale of 20 s
    scene.alone("Robots that saw it", select=[1])
    assert scene.shows(*behind, over(on_scale(0.0), 0.85))
    cells = shown.sim.scoring.exploration.cells
    both = far_from_robots(shown.sim, cells.explored(0) & cells.explored(1), shown.sim.world.grid)
    assert scene.shows(*both, over(on_scale(1.0), 0.85))
