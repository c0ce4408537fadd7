"""`validate`: what a reviewer of a clinical or regulated model asks."""

from __future__ import annotations

from typing import Any

from truerisk.api.validating.asked import asked_of
from truerisk.api.validating.honest import honest_run
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.validation import Validation

__all__ = ["Validation", "validate"]


def validate(
    search_or_model: Any,
    X: Any,
    y: Any,
    *,
    subgroups: Any = None,
    groups: Any = None,
    random_state: Any = 0,
    **params: Any,
) -> Validation:
    """Validate a tuned model by its answers about rows that it had not seen."""
    asked = asked_of(search_or_model, X, y, groups, dict(params), random_state)
    run = honest_run(asked)
    held_out = HeldOut.of(run.answered, run.problem.data)
    return Validation(risk=run.risk, held_out=held_out)
