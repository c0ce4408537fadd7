"""`validate`: what a reviewer of a clinical or regulated model asks."""

from __future__ import annotations

from typing import Any

from truerisk.api.validating.asked import asked_of
from truerisk.api.validating.honest import honest_run
from truerisk.api.validating.stability_part import stability_of
from truerisk.api.validating.subgroup_part import subgroups_of
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.levels import levels_of
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
    data = asked.problem.data
    columns = None if subgroups is None else levels_of(subgroups, X, data.n_rows)
    run = honest_run(asked)
    held_out = HeldOut.of(run.answered, run.problem.data)
    return Validation(
        risk=run.risk,
        held_out=held_out,
        subgroups=None if columns is None else subgroups_of(run, columns),
        stability=stability_of(run),
    )
