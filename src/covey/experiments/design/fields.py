"""The list of quantities in ``docs/designs.md``. To update it: python -m covey.experiments.design.fields"""

from pathlib import Path

from covey.experiments.design.quantities import QUANTITIES

BEGIN, END = "<!-- quantities -->\n", "<!-- end of quantities -->\n"


def renew(page: str) -> str:
    """Return the text of the page with an updated list."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "".join(f"{row}\n" for row in _quantities()) + END + rest.partition(END)[2]


def _quantities() -> list[str]:
    scopes = {"robot": "", "team": "team: ", "event": "events only: "}
    rows = [
        f"- `{name}`: {', '.join(f'`{column}`' for column in q.columns)}, {scopes[q.scope]}{q.meaning}"
        for name, q in QUANTITIES.items()
    ]
    return ["", *rows, ""]


if __name__ == "__main__":
    path = Path("docs/designs.md")
    path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
