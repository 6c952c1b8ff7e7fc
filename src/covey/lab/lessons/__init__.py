"""The course: ten lessons as notebooks, with checks and solutions."""

from covey.lab.lessons.checks import check
from covey.lab.lessons.course import picture

__all__ = ["check", "picture"]
