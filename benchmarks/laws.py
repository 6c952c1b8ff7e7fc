"""The laws of teams against their theory: oracle, measured and difference for each number.

All robots are like points (radius 1 mm) in the same simulation as everything else; the parts say the control period,
which is also that of the physics.

    nice -n 15 python benchmarks/laws.py [lloyd pursuit …] [--short]
"""

import argparse
import importlib

PARTS = ("lloyd", "pursuit", "cyclic", "circular", "fields", "graphs", "safety")
"""Each is a module ``laws_<part>`` with ``rows(short)``."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--short", action="store_true", help="the form that the tests run")
    given = parser.parse_args()
    print(f"{'law':<18} {'number':<72} {'oracle':>13} {'measured':>10} {'difference':>9}")
    wrong = 0
    for part in given.parts or PARTS:
        for row in importlib.import_module(f"laws_{part}").rows(given.short):
            print(row, flush=True)
            wrong += not row.holds
    if wrong:
        raise SystemExit(f"{wrong} numbers are not what theory says")


if __name__ == "__main__":
    main()
