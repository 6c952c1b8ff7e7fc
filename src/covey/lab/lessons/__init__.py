"""The course: ten lessons as notebooks, with checks and solutions."""

from covey.lab.lessons.checks import check

__all__ = ["check"]
