"""Values that nobody expects."""

from random import Random
from typing import Any

NUMBERS = (0, 1, -1, 2, 3, 0.5, 1e-300, 1e-12, 1e-6, 1e-3, 0.007, 1e3, 1e5, 1e6, 1e9, 1e15, 1e19, 1e150, 1e300, -1e300,
           1.7e308, float("nan"), float("inf"), -float("inf"), 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63),
           10**30, -0.0, 65535, 65536, 99999, 468, 469, 100_000, 100_001)  # fmt: skip
WORDS = ("", " ", "x", "any", "random", "none", "null", "true", "1e3", "-", "../x", "/", "/dev/null", ".", "a" * 300,
         "a/" * 200, "x\x00y", "\x1b[31mred", "\u202eevil", "é", "日本", "$\\frac$", "=1+1", "<b>", "%s{0}", "a.b", "'",
         "\n", "\udcff", "./hello.py:square", "maze", "disc", "lidar", "self", "__class__")  # fmt: skip


def strange(random: Random, instead_of: Any) -> Any:
    """Return something to put in the place of a value: mostly of its kind, absurd or a little beyond its limits."""
    if isinstance(instead_of, bool) or random.random() < 0.1:
        return random.choice((None, True, False, [], {}, [[]], {"a": 1}, *NUMBERS[:4], *WORDS[:3]))
    if isinstance(instead_of, (int, float)) and random.random() < 0.9:
        if random.random() < 0.75:
            factor = 10 ** (random.uniform(-3, 3) * random.choice((1, 0.2, 0.1))) * random.choice((1, 1, 1, 1, 1, -1))
            scaled = instead_of * factor or factor
            return round(scaled) if isinstance(instead_of, int) else scaled
        return random.choice(NUMBERS)
    if isinstance(instead_of, list) and random.random() < 0.7:
        return random.choice(([], instead_of * 2, instead_of[:-1], instead_of[::-1], [instead_of], instead_of * 300))
    return random.choice((*WORDS, *NUMBERS))
