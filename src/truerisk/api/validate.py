"""`validate`: what a reviewer of a clinical or regulated model asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.api.road.provenance import as_seed
from truerisk.api.validating.asked import asked_of
from truerisk.api.validating.checklist_part import checklist_of
from truerisk.api.validating.honest import honest_run
from truerisk.api.validating.stability_part import stability_of
from truerisk.api.validating.subgroup_part import subgroups_of
from truerisk.api.validating.two_outcomes import Wishes, parts_of_two_outcomes
from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import BadArgument
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
    thresholds: Any = None,
    clip: float | None = None,
    replicates: int = 200,
    samples: Any = None,
    executor: Any = None,
    random_state: Any = 0,
    **params: Any,
) -> Validation:
    """Validate a tuned model by its answers about rows that it had not seen."""
    check_count("replicates", replicates, least=0)
    wishes = Wishes(
        thresholds=_thresholds(thresholds),
        clip=_clip(clip),
        replicates=replicates,
        samples=samples,
        seed=as_seed(random_state),
        executor=executor,
    )
    asked = asked_of(search_or_model, X, y, groups, dict(params), wishes.seed)
    data = asked.problem.data
    columns = None if subgroups is None else levels_of(subgroups, X, data.n_rows)
    run = honest_run(asked)
    held_out = HeldOut.of(run.answered, run.problem.data)
    found = parts_of_two_outcomes(run, held_out, wishes)
    by_level = None if columns is None else subgroups_of(run, columns)
    stability = stability_of(run, found.own, found.samples)
    return Validation(
        risk=run.risk,
        held_out=held_out,
        subgroups=by_level,
        stability=stability,
        checklist=checklist_of(run, found.parts, by_level, stability, found.samples),
        missing=found.missing,
        notes=found.notes,
        **found.parts,
    )


def _thresholds(given: Any) -> np.ndarray:
    """Probabilities from which one treats, ascending; 0.01, 0.02, ... 0.99 by default."""
    if given is None:
        return np.arange(1, 100) / 100
    try:
        found = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not ((found >= 0) & (found < 1)).all():
        raise BadArgument(
            f"thresholds={shown(given)}: give probabilities from which one treats, 0 ≤ t < 1."
        )
    return found


def _clip(given: Any) -> float | None:
    """How near to 0 and 1 probabilities may come."""
    from numbers import Real

    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < 0.5:
        raise BadArgument(
            f"clip={shown(given)}: give how near to 0 and 1 probabilities may come, 0 < clip < 0.5."
        )
    return float(given)
