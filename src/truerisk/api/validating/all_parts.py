"""Every part of one honest run; that of the learner which an assessment chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from truerisk.api.assessing.schedule import Schedule
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.api.validating.checklist_part import checklist_of
from truerisk.api.validating.honest import HonestRun
from truerisk.api.validating.stability_part import stability_of
from truerisk.api.validating.subgroup_part import subgroups_of
from truerisk.api.validating.two_outcomes import rated_parts
from truerisk.api.validating.wishes import Wishes
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.progress import stage
from truerisk.core.registry import closest
from truerisk.core.table.data import Data
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.validation import Validation, rows_of
from truerisk.run.event import Event
from truerisk.run.run import Run

__all__ = ["PlannedValidation", "validation_of"]


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


WORDS = tuple(
    name for name, one in signature(Wishes.of).parameters.items() if one.kind is one.KEYWORD_ONLY
)
UNTESTED = "a fit failed in an outer split, so some rows have no answer."


@dataclass(frozen=True, eq=False)
class PlannedValidation:
    """What will be asked of the learner that turns out to be the best; checked beforehand."""

    wishes: Wishes

    @classmethod
    def of(
        cls, given: Any, X: Any, data: Data, seed: int, positive: Any = None
    ) -> PlannedValidation | None:
        """True, or words of `validate` with their values; None where none is wanted."""
        if given is None or given is False:
            return None
        if given is not True and not isinstance(given, Mapping):
            raise BadArgument(
                f"validate={shown(given)}: give True, or words of tr.validate with their values, "
                "such as {'subgroups': 'sex', 'replicates': 50}."
            )
        words = {"positive": positive} | ({} if given is True else dict(given))
        for name in words:
            if name not in WORDS:
                raise UnknownName(
                    f"validate={shown(given)}: there is no word {shown(name)}"
                    f"{closest(name, WORDS) or '.'} "
                    f"Known: {', '.join(WORDS)}."
                )
        wishes = Wishes.of(X, data, seed, **words)
        Event.named(wishes.positive, data)
        return cls(wishes)

    def of_learner(self, one: TunedLearner, schedule: Schedule) -> Validation | str:
        """Of its answers, or why there are none: no fit of an assessment is lost for it."""
        risk = one.risk
        if risk.value is None or one.winners is None:
            return UNTESTED
        if risk.answered is None:
            return f"'{risk.method}' keeps no answers about single rows."
        run = HonestRun(
            asked=Run(one.problem, schedule.methods[0], schedule.nested),
            risk=risk,
            answered=risk.answered,
            winners=one.winners.candidate,
            best=one.curve.best,
            shaken=one.shaken,
        )
        known = one.out_of_fold
        try:
            with stage("validation"):
                return validation_of(
                    run if known is None else run.with_answers(known.answers), self.wishes
                )
        except Refusal as refusal:
            return str(refusal)
