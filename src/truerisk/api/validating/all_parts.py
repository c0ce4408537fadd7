"""Every part of a validation, from the answers of one honest run."""

from __future__ import annotations

from truerisk.api.road.event import Event
from truerisk.api.validating.checklist_part import checklist_of
from truerisk.api.validating.honest import HonestRun
from truerisk.api.validating.stability_part import stability_of
from truerisk.api.validating.subgroup_part import subgroups_of
from truerisk.api.validating.two_outcomes import rated_parts
from truerisk.api.validating.wishes import Wishes
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.validation import Validation, rows_of

__all__ = ["validation_of"]


def validation_of(run: HonestRun, wishes: Wishes) -> Validation:
    """What there is to say; of bootstrap samples alone further tuned models are made."""
    event = Event.named(wishes.positive, run.problem.data)
    held_out = HeldOut.of(run.answered, run.problem.data)
    found = rated_parts(run, held_out, wishes, event)
    run = found.run
    by_level = None if wishes.columns is None else subgroups_of(run, wishes.columns, event)
    stability = stability_of(run, event, found.own, found.samples)
    code = None if event is None else event.code
    return Validation(
        risk=run.risk,
        rows=rows_of(held_out, code),
        held_out=held_out,
        event=code,
        subgroups=by_level,
        stability=stability,
        checklist=checklist_of(run, held_out, found.parts, by_level, stability, found.samples),
        missing=found.missing,
        notes=found.notes,
        **found.parts,
    )
