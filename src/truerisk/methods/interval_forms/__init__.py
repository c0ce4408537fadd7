"""Standard errors and intervals, each with the formula that justifies it, or None with a reason.

| file | intervals |
|---|---|
| `form.py` | what an interval declares, the check of its needs, shapes that several share |
| `evidence.py` | what an interval is made from: rows, pairs of folds, halves, samples |
| `classical.py` | `wald`, `corrected-t`, `beta`: rows that were held out |
| `dependent.py` | `hac`, `spatial`: losses that depend on those before them, or near them |
| `calibrated.py` | `beta-cv`, `log-cv`, `logit-cv`, and their calibrated factor |
| `instability.py` | how much a row's loss depends on the folds: of the calibrated factor |
| `refitted.py` | `ncv`, `beta-ncv`, `conservative-z`, `bootstrap-.632`: fits of their own |
| `bootstrapped_choice.py` | `bbc`: bootstrapped losses, the choice among candidates included |
"""

from __future__ import annotations

from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument
from truerisk.core.registry import Line, Registry
from truerisk.methods.interval_forms.evidence import Evidence, RowEvidence
from truerisk.methods.interval_forms.form import NO_SPREAD, IntervalForm, Sureness

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

_ROOM = "truerisk.methods.interval_forms"
registry = Registry(
    "interval",
    {
        "wald": Line(f"{_ROOM}.classical:Wald", "normal, from rows that were tested once"),
        "corrected-t": Line(
            f"{_ROOM}.classical:CorrectedT", "t, from splits; pays for shared training rows"
        ),
        "conservative-z": Line(
            f"{_ROOM}.refitted:ConservativeZ",
            "normal, from pairs of disjoint halves; for any loss",
        ),
        "ncv": Line(f"{_ROOM}.refitted:NestedNormal", "normal, from nested cross-validation"),
        "beta-ncv": Line(
            f"{_ROOM}.refitted:NestedBeta", "Beta with the spread of nested cross-validation"
        ),
        "hac": Line(f"{_ROOM}.dependent:HAC", "t, of losses that depend on those before them"),
        "bbc": Line(
            f"{_ROOM}.bootstrapped_choice:Percentiles", "bootstrapped losses, the choice included"
        ),
        "beta-cv": Line(
            f"{_ROOM}.calibrated:BetaCV", "Beta, rows counted for less as the battery says"
        ),
        "log-cv": Line(
            f"{_ROOM}.calibrated:LogCV", "the same for losses without a bound, on the log scale"
        ),
        "logit-cv": Line(
            f"{_ROOM}.calibrated:LogitCV",
            "the same for AUC, F1 and such scores, on the logit scale",
        ),
        "spatial": Line(
            f"{_ROOM}.dependent:Spatial",
            "means over the region, for losses that go together in space",
        ),
        "bootstrap-.632": Line(f"{_ROOM}.refitted:Bootstrap632", "normal, of bootstrap methods"),
        "beta": Line(f"{_ROOM}.classical:BetaPosterior", "posterior of an error rate, flat prior"),
    },
)


def names() -> list[str]:
    """The words that `interval=` takes."""
    return registry.names()


def as_form(word: str) -> IntervalForm[Any]:
    """The interval with this name."""
    if not isinstance(word, str):
        raise BadArgument(f"interval={shown(word)} is no name: use one of {', '.join(registry)}.")
    return registry.load(word)()
