"""Standard errors and intervals, each with the formula that justifies it, or None with a reason.

| file | interval |
|---|---|
| `form.py` | what an interval declares, the check of its needs, shapes that several share |
| `evidence.py` | what an interval is made from: rows, pairs of folds, halves, samples |
| `instability.py` | how much a row's loss depends on where the folds were drawn |
| `shaken.py` | how much it depends on a further fold of training rows |
| `wald.py` | normal, rows tested once; by groups where there are some |
| `corrected_t.py` | corrected resampled t of Nadeau and Bengio |
| `beta.py` | posterior of an error rate |
| `bbc.py` | percentiles of bootstrapped losses, the choice among candidates included |
| `conservative_z.py` | spread of means over disjoint halves |
| `spatial.py` | losses that lie near each other and go together |
| `hac.py` | losses that depend on those before them |
| `ncv.py`, `beta_ncv.py` | spread of nested cross-validation, normal or Beta |
| `bootstrap_632.py` | the infinitesimal jackknife of bootstrap samples |
| `beta_cv.py`, `log_cv.py` | Beta or log-normal; `inflation.py` has their calibrated factor |
| `logit_cv.py` | the same for scores of whole test sets, on the logit scale |
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
        "wald": Line(f"{_ROOM}.wald:Wald", "normal, from rows that were tested once"),
        "corrected-t": Line(
            f"{_ROOM}.corrected_t:CorrectedT", "t, from splits; pays for shared training rows"
        ),
        "conservative-z": Line(
            f"{_ROOM}.conservative_z:ConservativeZ",
            "normal, from pairs of disjoint halves; for any loss",
        ),
        "ncv": Line(f"{_ROOM}.ncv:NestedNormal", "normal, from nested cross-validation"),
        "beta-ncv": Line(
            f"{_ROOM}.beta_ncv:NestedBeta", "Beta with the spread of nested cross-validation"
        ),
        "hac": Line(f"{_ROOM}.hac:HAC", "t, of losses that depend on those before them"),
        "bbc": Line(f"{_ROOM}.bbc:Percentiles", "bootstrapped losses, the choice included"),
        "beta-cv": Line(
            f"{_ROOM}.beta_cv:BetaCV", "Beta, rows counted for less as the battery says"
        ),
        "log-cv": Line(
            f"{_ROOM}.log_cv:LogCV", "the same for losses without a bound, on the log scale"
        ),
        "logit-cv": Line(
            f"{_ROOM}.logit_cv:LogitCV", "the same for AUC, F1 and such scores, on the logit scale"
        ),
        "spatial": Line(
            f"{_ROOM}.spatial:Spatial",
            "means over the region, for losses that go together in space",
        ),
        "bootstrap-.632": Line(
            f"{_ROOM}.bootstrap_632:Bootstrap632", "normal, of bootstrap methods"
        ),
        "beta": Line(f"{_ROOM}.beta:BetaPosterior", "posterior of an error rate, flat prior"),
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
