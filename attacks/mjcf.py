"""Bodies from MJCF files: sound ones, absurd ones, and ones that were changed at random."""

import sys
from pathlib import Path
from random import Random

from attacks.bounded import main
from attacks.scenarios import said
from attacks.strange import NUMBERS

WHEEL = '<body name="{0}" pos="0 {1} 0.1"><joint name="{0}" type="{2}" axis="0 1 0"/>{3}</body>'
GEOM = '<geom type="cylinder" size="0.1 0.02" euler="90 0 0"/>'


def cart(extra: str = "", left: str = "hinge", right: str = "hinge", outside: str = "", geom: str = GEOM) -> str:
    """Return the MJCF of a cart with a left and a right wheel."""
    wheels = WHEEL.format("left", 0.2, left, geom) + WHEEL.format("right", -0.2, right, geom)
    box = '<geom type="box" size="0.2 0.15 0.05" pos="0 0 0.15"/>'
    return f"<mujoco>{outside}<worldbody><body>{box}{wheels}{extra}</body></worldbody></mujoco>"


def _many(count: int, size: float = 0.01) -> str:
    return f'<replicate count="{count}" offset="0 0 {size}"><geom size="{size}"/></replicate>'


FILES = (
    cart(),
    cart(left="slide"),
    cart(left="ball", right="ball"),
    cart(_many(10)),
    cart(_many(100_000)),
    cart(_many(2_000_000_000)),
    cart(f'<replicate count="1000">{_many(1000)}</replicate>'),
    cart('<composite type="grid" count="1000 1000 1" spacing="0.01"><geom size="0.001"/></composite>'),
    cart('<flexcomp name="f" type="grid" count="300 300 30" spacing=".1 .1 .1" dim="3"/>'),
    cart("<body>" * 3000 + "</body>" * 3000),
    cart('<geom type="mesh" mesh="m"/>', outside='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'),
    cart('<geom type="mesh" mesh="m"/>', outside='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0"/></asset>'),
    cart('<geom type="mesh" mesh="m"/>', outside='<asset><mesh name="m" file="/dev/zero"/></asset>'),
    cart('<geom type="hfield" hfield="h"/>',
         outside='<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>'),
    cart(outside='<asset><texture name="t" type="2d" builtin="flat" width="60000" height="60000"/></asset>'),
    cart(outside='<option timestep="0"/>'),
    cart(outside='<option timestep="nan" gravity="inf 0 0"/>'),
    cart(outside='<size memory="900G"/>'),
    cart(outside='<include file="map.xml"/>'),
    cart(outside='<statistic extent="-1"/>'),
    cart('<site size="1e300"/>'),
    cart('<geom size="nan"/>'),
    cart('<geom size="0"/>'),
    cart('<inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/>'),
    cart('<inertial pos="0 0 0" mass="1e30" diaginertia="1e-30 1 1"/>'),
    cart('<freejoint/>'),
    cart('<joint name="left" type="hinge"/>'),
    cart(geom='<geom type="plane" size="1 1 1"/>'),
    cart(outside='<sensor><user dim="2000000000"/></sensor>'),
    cart(outside='<custom><numeric name="n" size="2000000000"/></custom>'),
    cart(outside='<keyframe><key qpos="1 2"/></keyframe>'),
    cart(outside='<equality><weld body1="left" body2="right"/></equality>'),
    cart(outside='<extension><plugin plugin="no.such"/></extension>'),
    cart(outside='<actuator><motor joint="left"/><position joint="right"/></actuator>'),
    cart(outside='<tendon><spatial><site site="none"/></spatial></tendon>'),
    "", "<mujoco/>", "<mujoco><worldbody/></mujoco>", "<robot/>", "<mujoco>" * 100_000, "\0" * 100, "x" * 1_000_000,
    "<!DOCTYPE x [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><mujoco>&b;</mujoco>",
    cart("<!--" + "-" * 1_000_000), cart("\ufffe"), cart('<geom name="' + "n" * 1_000_000 + '" size=".1"/>'),
    cart('<geom size="' + "1 " * 100_000 + '"/>'),
)  # fmt: skip
"""Forty-seven files; the rest of the cases are the first of them, with numbers and words changed."""


def case(number: int) -> str:
    """Return ``good`` or ``refused`` after a team with a body from the file was built and stepped."""
    from covey.errors import CoveyError
    from covey.scenario.build import build
    from covey.scenario.load import parse_scenario

    path = Path(f"case{number}.xml")
    path.write_text(FILES[number] if number < len(FILES) else _changed(Random(number)), encoding="utf-8")
    chassis = f"{{kind: file, file: {path.absolute()}, left: [left], right: [right], wheel_radius_m: 0.1, "
    chassis += "half_track_m: 0.2, max_torque_n_m: 5}"
    text = f"""world: {{generate: flat, size_m: [20, 20]}}
robots: [{{robot: {{base: pioneer3dx, sensors: [], mapping: null, chassis: {chassis}}}, controller: wander}}]
"""
    try:
        simulation = build(parse_scenario(text))
        simulation.step()
        simulation.close()
    except CoveyError as error:
        said(error)
        return "refused"
    finally:
        path.unlink()
    return "good"


def _changed(random: Random) -> str:
    words = cart('<geom size="0.05" pos="0 0 0.3"/>', outside='<option timestep="0.005"/>').split('"')
    for _ in range(random.choice((1, 1, 2))):
        at = 2 * random.randrange(len(words) // 2) + 1
        words[at] = random.choice((str(random.choice(NUMBERS)), "", "left", words[at] * 2, "-" + words[at]))
    return '"'.join(words)


def warm() -> None:
    """Compile what runs need."""
    case(0)


if __name__ == "__main__":
    sys.exit(main("attacks.mjcf", len(FILES)))
