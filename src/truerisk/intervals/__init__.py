"""Standard errors and intervals, each with the formula that justifies it, or None with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from truerisk.core.arguments import refuse_class, shown
from truerisk.core.errors import BadArgument
from truerisk.core.registry import Registry, lazy, lines_of
from truerisk.intervals.form import NO_SPREAD, Evidence, IntervalForm, RowEvidence, Sureness

__all__ = [
    "NO_SPREAD",
    "Evidence",
    "IntervalForm",
    "RowEvidence",
    "Sureness",
    "as_form",
    "names",
    "registry",
]

registry = Registry(
    "interval",
    lines_of(
        "truerisk.intervals",
        """
    wald  classical:Wald  normal, from rows that were tested once
    corrected-t  classical:CorrectedT  t, from splits; pays for shared training rows
    conservative-z  refitted:ConservativeZ  normal, from pairs of disjoint halves; for any loss
    ncv  refitted:NestedNormal  normal, from nested cross-validation
    beta-ncv  refitted:NestedBeta  Beta with the spread of nested cross-validation
    hac  in_time:HAC  t, of losses that depend on those before them
    bbc  bootstrapped_choice:Percentiles  bootstrapped losses, the choice included
    beta-cv  calibrated:BetaCV  Beta, rows counted for less as the battery says
    log-cv  calibrated:LogCV  the same for losses without a bound, on the log scale
    logit-cv  calibrated:LogitCV  the same for AUC, F1 and such scores, on the logit scale
    spatial  in_space:Spatial  means over the region, for losses that go together in space
    bootstrap-.632  refitted:Bootstrap632  normal, of bootstrap methods
    beta  posterior:BetaPosterior  posterior of an error rate, flat prior
    """,
    ),
)


own_forms: dict[str, IntervalForm[Any]] = {}
"""The intervals that a user made and gave, by their words, which results call them by."""


def names() -> list[str]:
    """The words that `interval=` takes, with those of intervals that were given before."""
    return [*registry, *own_forms]


def as_form(given: str | IntervalForm[Any]) -> IntervalForm[Any]:
    """The interval with this name, or one that a user made, whose name is then known."""
    refuse_class("interval", given)
    if isinstance(given, IntervalForm):
        if not isinstance(getattr(given, "word", None), str):
            raise BadArgument(
                f"interval {type(given).__name__} has no name: give its class a `word`, by which "
                "results call it."
            )
        if given.word in registry:
            raise BadArgument(f"interval '{given.word}' is one of ours: give yours another word.")
        own_forms[given.word] = given
        return given
    if not isinstance(given, str):
        raise BadArgument(
            f"interval={shown(given)} is no interval: use one of {', '.join(registry)}, or an "
            "IntervalForm of your own."
        )
    return own_forms[given] if given in own_forms else registry.load(given)()


if not TYPE_CHECKING:  # which would take every name for one that is there
    __getattr__, __dir__ = lazy("truerisk.intervals", __all__)
