"""The drives of a team: wheel speeds and motor torques of one control step, as inputs of the engine."""

from covey.kernel import kernel
from covey.physics.motion import respond, saturate

TWIST, TORQUE = 0, 1


@kernel
def steer(team, motors, past, clock, dt, commands, halted, drive, drives, controls):
    """Compute the twist of each drive and the set point of each motor for every substep of a control step.

    Twist control: the commanded twist is saturated, delayed and followed as in the plane. The wheels turn at
    (v - turn b) / r on the left side and (v + turn b) / r on the right. Torque control: the wheels of a side share its
    delayed torque equally.

    Args:
        team: kinematics, limits, delay in substeps as in `covey.physics.planar.crowd.advance`; control, int64 (n,).
        motors: robot of each motor, int64 (m,), and figures, float64 (m, 4): side (1 left, -1 right), b [m], r [m],
            and number of motors on that side.
        past: float64 (n, delay + 1, 3), goals of the last substeps, changed in place.
        clock: number of substeps since the start.
        dt: length of a substep [s].
        commands: float64 (n, 3), twists [m/s, m/s, rad/s], or torques of the left and right side [N m].
        halted: bool (n,), robots that brake.
        drive: float64 (n, 3), current twists of drives with twist control, changed in place.
        drives: float64 (substeps, n, 3), output: twists after each substep; under torque control, torques of the left
            and right side.
        controls: float64 (substeps, m), output: wheel speeds [rad/s], or torques [N m].
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
    """Compute the torque input [N m] of each motor for a substep.

    A motor that holds a speed has a proportional-integral regulator. Here are its integral part and the proportional
    part of the wanted speed; the engine subtracts gain times the wheel's speed, which it knows at each of its steps.
    Under torque control, the motor gives the wanted torque, which falls linearly to 0 over the last tenth below the
    top speed.

    Args:
        motors: robot of each motor, int64 (m,); 1 under torque control, uint8 (m,); gain of the speed [N m s], largest
            torque [N m] and top speed [rad/s], float64 (m,).
        wanted: float64 (m,), speeds [rad/s] or torques [N m].
        halted: bool (n,), robots that hold their wheels.
        speed: float64 (m,), speeds of the wheels [rad/s].
        integral: float64 (m,), integral parts as torques [N m], changed in place.
        share: share of a speed error that the integral part gains in a substep.
        torque: float64 (m,), output.
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
