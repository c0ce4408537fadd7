"""Standard errors and confidence intervals, each from a formula; without one, None and a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy_attributes
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

# Type checkers do not see this line, since they would assume that every name exists.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes("truerisk.intervals", __all__)
