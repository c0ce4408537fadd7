"""Paired differences between the learners of an assessment."""

from __future__ import annotations

from typing import Any, ClassVar

from truerisk.core.frozen import frozen
from truerisk.results.comparison import Comparison
from truerisk.results.records import Count


@frozen(kw_only=True)
class Neighbour(Comparison):
    """A learner minus the best one; earlier files have no more than its `mean` and the error."""

    schema: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...]] = (*Comparison.derived, "exceeds_noise")

    learner: str
    mean: float
    test: str = ""
    difference: float = 0.0
    n_pairs: Count = 0


def differences_of(tested: Any) -> list[Neighbour]:
    """Return the difference of each learner with a risk from the best one, where there is one."""
    others = [name for name in tested.ranking if name != tested.best]
    with_risk = [name for name in others if tested.risks[name].value is not None]
    paired = [tested.difference(name, tested.best) for name in with_risk]
    return [
        Neighbour(learner=comparison.names[0], mean=comparison.value, **vars(comparison))
        for comparison in paired
        if comparison.test != "none"
    ]
