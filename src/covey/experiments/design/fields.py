"""The tables of ``docs/designs.md``. To update them: python -m covey.experiments.design.fields"""

import re
from pathlib import Path

from covey.experiments.design.alone import with_alone
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import base_scenario
from covey.experiments.design.quantities import QUANTITIES
from covey.experiments.design.shipped import designs
from covey.experiments.design.vectors import vectors


def renew(page: str) -> str:
    """Return the text of the page with updated tables."""
    for name, rows in (("quantities", _quantities()), ("designs", _designs())):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        page = before + begin + "".join(f"{row}\n" for row in rows) + end + rest.partition(end)[2]
    return page


def _quantities() -> list[str]:
    scopes = {"robot": "", "team": "team: ", "event": "events only: "}
    rows = [
        f"- `{name}`: {', '.join(f'`{column}`' for column in q.columns)}, {scopes[q.scope]}{q.meaning}"
        for name, q in QUANTITIES.items()
    ]
    return ["", *rows, ""]


def _designs() -> list[str]:
    rows = ["", "| name | runs | what |", "|---|---|---|"]
    for name, path in designs().items():
        design = load_design(name)
        runs = len(with_alone(design, vectors(design), base_scenario(design))) * design.iterations
        head = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        rows.append(f"| `{name}` | {runs} | {re.sub(r', [0-9]+ runs', '', head)} |")
    return [*rows, ""]


if __name__ == "__main__":
    path = Path("docs/designs.md")
    path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
