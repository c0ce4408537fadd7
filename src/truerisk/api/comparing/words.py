"""The words for paired tests."""

from __future__ import annotations

from truerisk.core.registry import Line, Registry

__all__ = ["registry"]

_ROOM = "truerisk.api.comparing"

registry = Registry(
    "test",
    {
        "nadeau-bengio": Line(
            f"{_ROOM}.nadeau_bengio:NadeauBengio", "corrected resampled t of the split differences"
        ),
        "bayes": Line(
            f"{_ROOM}.bayes:CorrelatedBayes",
            "P(practically better, equivalent, worse), correlated t",
        ),
        "mcnemar": Line(f"{_ROOM}.mcnemar:McNemar", "rows that one got wrong and the other right"),
        "5x2": Line(f"{_ROOM}.five_by_two:FiveByTwo", "Dietterich's t of five times two folds"),
    },
)
