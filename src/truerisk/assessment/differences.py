"""Paired differences between the learners of an assessment."""

from __future__ import annotations

from typing import Any, ClassVar

from truerisk.core.frozen import frozen
from truerisk.results.comparison import Comparison
from truerisk.results.records import Count


@frozen(kw_only=True)
class DifferenceFromBest(Comparison):
    """Difference in risk between a learner and the best learner of the assessment.

    Older files hold only `mean` and its error.
    """

    schema: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...]] = (*Comparison.derived, "exceeds_noise")

    learner: str
    mean: float
    test: str = ""
    difference: float = 0.0
    n_pairs: Count = 0


def differences_of(assessment: Any) -> list[DifferenceFromBest]:
    """Return the differences from the best learner, for all other learners that have a risk."""
    other_names = [name for name in assessment.ranking if name != assessment.best]
    names_with_risk = [name for name in other_names if assessment.risks[name].value is not None]
    comparisons = [assessment.difference(name, assessment.best) for name in names_with_risk]
    return [
        DifferenceFromBest(learner=comparison.names[0], mean=comparison.value, **vars(comparison))
        for comparison in comparisons
        if comparison.test != "none"
    ]
