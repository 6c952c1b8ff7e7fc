"""What the drives of a team do in one control step, before the engine says what comes of it."""

from covey.kernel import kernel
from covey.physics.motion import respond, saturate

TWIST, TORQUE = 0, 1


@kernel
def steer(team, motors, past, clock, dt, commands, halted, drive, drives, controls):
    """Fill in what each drive runs at and what each motor is told, in every substep of a control step.

    Twist control: the commanded twist is saturated, delayed and followed as in the plane, and the wheels of each side
    turn at (v -+ turn b) / r, left and right. Torque control: the delayed torque of the side, shared by its wheels.

    Args:
        team: kinematics, limits, delay in substeps as in `covey.physics.planar.crowd.advance`; control, int64 (n,).
        motors: whose each is, int64 (m,), and figures float64 (m, 4): side (1 left, -1 right), b [m], r [m], and the
            number of motors of that side.
        past: float64 (n, delay + 1, 3), goals of the last substeps, in place.
        clock: substeps since the start.
        dt: length of a substep [s].
        commands: float64 (n, 3).
        halted: bool (n,), they brake.
        drive: float64 (n, 3), the twists at which twist drives run, in place.
        drives: float64 (substeps, n, 3), out: those after each substep; torque of left and right side of the others.
        controls: float64 (substeps, m), out: wheel speeds [rad/s], or torques [N m].
    """
    kinematics, limits, delay, control = team
    robots, figures = motors
    depth, substeps = past.shape[1], controls.shape[0]
    for i in range(commands.shape[0]):
        a, b, c = commands[i, 0], commands[i, 1], commands[i, 2]
        if control[i] == TWIST:
            a, b, c = saturate(kinematics, limits, i, a, b, c)
        for k in range(substeps):
            now, then = (clock + k) % depth, (clock + k - delay[i]) % depth
            past[i, now, 0], past[i, now, 1], past[i, now, 2] = a, b, c
            p, q, r = past[i, then, 0], past[i, then, 1], past[i, then, 2]
            if halted[i]:
                p, q, r = 0.0, 0.0, 0.0
            elif control[i] == TWIST:
                p, q, r = respond(kinematics, limits, i, dt, drive[i, 0], drive[i, 1], drive[i, 2], p, q, r)
            if halted[i] or control[i] == TWIST:
                drive[i, 0], drive[i, 1], drive[i, 2] = p, q, r
            drives[k, i, 0], drives[k, i, 1], drives[k, i, 2] = p, q, r
    for m in range(robots.shape[0]):
        i, side = robots[m], figures[m, 0]
        for k in range(substeps):
            if control[i] == TWIST:
                controls[k, m] = (drives[k, i, 0] - side * drives[k, i, 2] * figures[m, 1]) / figures[m, 2]
            else:
                controls[k, m] = (drives[k, i, 0] if side > 0.0 else drives[k, i, 1]) / figures[m, 3]


@kernel
def regulate(motors, wanted, halted, speed, integral, share, torque):
    """Fill in the torque [N m] that each motor gives for a substep, less what it takes back as its wheel speeds up.

    A motor that holds a speed: a proportional-integral regulator, whose proportional part on the wheel's speed is up to
    the engine, which knows it at each of its steps. A torque is given as it is wanted, but falls to nothing over the
    last tenth below the top speed.

    Args:
        motors: whose each is, int64 (m,); by torque, uint8 (m,); gain of the speed [N m s], largest torque [N m] and
            top speed [rad/s], float64 (m,).
        wanted: float64 (m,), speeds [rad/s] or torques [N m].
        halted: bool (n,), these hold their wheels.
        speed: float64 (m,), of the wheels [rad/s].
        integral: float64 (m,), torque [N m], in place.
        share: of an error of the speed that the integral part takes in a substep.
        torque: float64 (m,), out.
    """
    robots, by_torque, gain, most, top = motors
    for m in range(robots.shape[0]):
        if by_torque[m] and not halted[robots[m]]:
            forwards = most[m] * min(max(10.0 * (1.0 - speed[m] / top[m]), 0.0), 1.0)
            backwards = most[m] * min(max(10.0 * (1.0 + speed[m] / top[m]), 0.0), 1.0)
            torque[m], integral[m] = min(max(wanted[m], -backwards), forwards), 0.0
        else:
            integral[m] += gain[m] * share * (wanted[m] - speed[m])
            integral[m] = min(max(integral[m], -most[m]), most[m])
            torque[m] = gain[m] * wanted[m] + integral[m]
