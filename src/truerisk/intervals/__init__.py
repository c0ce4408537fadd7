"""Standard errors and intervals, each justified by a formula; otherwise None and a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy
from truerisk.intervals.choice import as_form, names, registry
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

if not TYPE_CHECKING:  # Type checkers would otherwise assume that every name exists.
    __getattr__, __dir__ = lazy("truerisk.intervals", __all__)
