"""`SignificanceResult`: the result of a test."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SignificanceResult:
    """The outcome of a test of "no difference".

    Attributes:
        test: its name.
        statistic: its statistic, see the function.
        p: two-sided p value.
        smallest_p: the smallest p over all assignments of these data to the samples. It depends on sizes and ties only,
            not on the outcome, so a test that could not have been significant may be left out without bias (R. E.
            Tarone: A modified Bonferroni method for discrete data. Biometrics 46, 1990).
    """

    test: str
    statistic: float
    p: float
    smallest_p: float
