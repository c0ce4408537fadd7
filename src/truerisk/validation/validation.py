"""`Validation`: the results of validating a model, and how its parts are computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from math import inf
from typing import Any, ClassVar, TypedDict

import numpy as np

from truerisk.contracts import Terms
from truerisk.core import formats, plain_values
from truerisk.core.frozen import frozen
from truerisk.losses.loss import Loss
from truerisk.methods.external import External
from truerisk.results.bounds import HonestNumber, numbers_of
from truerisk.results.interval import Bounded, Reported
from truerisk.results.records import UNWRITTEN, Count, Record
from truerisk.results.results import RiskEstimate
from truerisk.validation.calibration import SmoothCalibration
from truerisk.validation.checklists.checklist import Checklist
from truerisk.validation.checklists.study_facts import facts_of
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.honest import HonestRun, answered_losses, score_of
from truerisk.validation.measures import Measured
from truerisk.validation.outcomes import Event, HeldOut
from truerisk.validation.rating import Rating, why_unrated
from truerisk.validation.stability import ModelStability, stability_of
from truerisk.validation.subgroup_risks import subgroup_risks
from truerisk.validation.subgroups import Levels, SubgroupRisks, Subgroups
from truerisk.validation.updating import Updating
from truerisk.validation.wishes import ValidationOptions

SCORES = {
    "auc": ("auc", 1.0),
    "average-precision": ("average-precision", 1.0),
    "explained": ("r2", 1.0),
    "r2": ("r2", 1.0),
    "d": ("d", inf),
}
"""Measures for which more is better: their names as scores, and their largest value."""

PARTS = {
    "discrimination": "Discrimination",
    "calibration": "Calibration",
    "net_benefit": "Net benefit",
    "updating": "Updating",
    "subgroups": "Subgroups",
    "stability": "Stability",
    "checklist": "Checklist",
}


class ValidatedRows(TypedDict):
    """Counts of the held-out rows, of those with the event, and of groups."""

    n_rows: Count
    event: Any
    n_events: Count | None
    n_repetitions: Count
    n_groups: Count | None


@frozen(eq=False)
class Validation(Bounded, Record):
    """Result of `validate`: what held-out predictions say of a model, part by part.

    A part that cannot be computed is None, and `missing` gives the reason as a sentence.

    Parameters
    ----------
    risk : RiskEstimate
        The honest risk of the procedure.
    rows : ValidatedRows
        The numbers of rows, events and groups.
    held_out : HeldOut, optional
        The held-out predictions from which all parts are computed. They are not written to JSON.
    event : int, optional
        The code of the class that is compared with the others; None if there is none.
    discrimination : Discrimination, optional
        AUC, average precision and R².
    calibration : SmoothCalibration, optional
        Slope, intercept and calibration curve.
    net_benefit : NetBenefit, optional
        The net benefit over thresholds.
    subgroups : Subgroups, optional
        The scores in subgroups.
    stability : ModelStability, optional
        How much the models of the outer splits and of the bootstrap samples agree.
    checklist : Checklist, optional
        Items of reporting guidelines.
    updating : Updating, optional
        A finished model as it is, with its intercept updated, and with its slope updated as well.
    missing : mapping of str to str, optional
        The reason why a part is missing, by the name of the part.
    notes : tuple of str, optional
        Notes for the reader.
    given : mapping of str to str, optional
        The arguments of the call, as they were typed.
    command : str, optional
        The command that was typed, if there was one.

    See Also
    --------
    validate : Compute a validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = tr.datasets.make_difficult(120, random_state=0)
    >>> v = tr.validate(LogisticRegression(), X, y, replicates=0)
    >>> sorted(v.parts), v.n_samples
    (['calibration', 'checklist', 'discrimination', 'net_benefit', 'stability'], 0)
    >>> v.measure("auc").honest > 0.5
    True
    """

    schema: ClassVar[str] = "truerisk.validation/2"

    risk: RiskEstimate
    rows: ValidatedRows
    held_out: HeldOut | None = field(default=None, repr=False, metadata=UNWRITTEN)
    event: int | None = field(default=None, metadata=UNWRITTEN)
    discrimination: Discrimination | None = None
    calibration: SmoothCalibration | None = None
    net_benefit: NetBenefit | None = None
    subgroups: Subgroups | None = None
    stability: ModelStability | None = None
    checklist: Checklist | None = None
    updating: Updating | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""

    @property
    def parts(self) -> dict[str, Record]:
        """Parts that exist, by name."""
        return {name: part for name in PARTS if (part := getattr(self, name)) is not None}

    @property
    def finished(self) -> bool:
        """True if a finished model was validated, without any fit on these rows."""
        return self.risk.method == External.name

    def with_names(self, names: tuple[str, ...]) -> Validation:
        """Return the validation with names of columns, if X was an array and had none.

        Parameters
        ----------
        names : tuple of str
            Names of the columns, from the file that X was read from.

        Returns
        -------
        Validation
            The same validation, in which these names replace the positions of columns.
        """
        named = None if self.stability is None else self.stability.with_names(names)
        by_place = {f"column {j}": repr(formats.clean(name, 60)) for j, name in enumerate(names)}
        notes = (re.sub(r"column \d+", lambda m: by_place.get(m[0], m[0]), n) for n in self.notes)
        return replace(self, stability=named, notes=tuple(notes))

    def measure(self, name: str) -> Measured | None:
        """Return the measure with this name, if it exists.

        Parameters
        ----------
        name : str
            Name of the measure, such as "auc", "slope" or "brier".

        Returns
        -------
        Measured or None
            Honest, apparent and corrected value of the measure.
        """
        return self.measures.get(name)

    @property
    def n_samples(self) -> int:
        """Largest number of bootstrap samples in any part."""
        return max((measure.n for measure in self.measures.values()), default=0)

    @property
    def measures(self) -> Mapping[str, Measured]:
        """Measures of discrimination and calibration, by name."""
        parts = [part for part in (self.discrimination, self.calibration) if part is not None]
        return {name: measure for part in parts for name, measure in part.measures.items()}

    def __str__(self) -> str:
        blocks, rows = [str(self.risk)], self.rows
        if rows["event"] is not None:
            event = formats.clean(str(rows["event"]), 60)
            blocks.append(f"event: {event}, in {rows['n_events']} of {rows['n_rows']} rows")
        for name, title in PARTS.items():
            part = getattr(self, name)
            if part is not None:
                blocks.append(f"{title}\n{part}")
            elif name in self.missing:
                blocks.append(f"{title}: {self.missing[name]}")
        return "\n\n".join(blocks + [f"note: {note}" for note in self.notes])

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        scores = {
            name: HonestNumber(name, Reported(one.honest, one.interval, "larger"), most)
            for label, (name, most) in SCORES.items()
            if (one := self.measures.get(label)) is not None
        }
        # It may have another average than a measure of the same name.
        requested = numbers_of(self.risk)
        return requested | {
            name: number for name, number in scores.items() if name not in requested
        }

    def _metrics(self) -> Mapping[str, Any]:
        numbers: dict[str, Any] = {}
        for name, measure in self.measures.items():
            numbers |= Reported(measure.honest, measure.interval, "").named(name)
        return {**numbers, **self.risk.to_metrics()}


def rows_of(held: HeldOut, code: int | None) -> ValidatedRows:
    """Count the held-out predictions; `code` is that of the event."""
    event = None
    distinct, first = np.unique(held.rows, return_index=True)
    if code is not None and held.classes is not None:
        event = plain_values.plain(held.classes[code])
    return {
        "n_rows": len(distinct),
        "event": event,
        "n_events": None if event is None else int((held.truth[first] == code).sum()),
        "n_repetitions": held.n_repetitions,
        "n_groups": None if held.groups is None else len(np.unique(held.groups)),
    }


NO_OTHER = "nothing was fitted, so that there are no other models to hold this one against."


def validation_of(run: HonestRun, options: ValidationOptions) -> Validation:
    """Compute all parts; only bootstrap samples require further tuned models."""
    event = Event.named(options.positive, run.problem.data, options.horizon)
    held_out = HeldOut.from_answers(run.answered, run.problem.data if event is None else event.of)
    if options.horizon is not None and event is not None:
        held_out = event.held_out(held_out)
    parts: dict[str, Any] = {}
    missing: dict[str, str] = {}
    notes, apparent, samples = [], None, None
    if why := why_unrated(run, held_out, event):
        missing = dict.fromkeys(("discrimination", "calibration", "net_benefit"), why)
    else:
        rating = Rating(run, held_out, options, event)
        parts, missing, notes = rating.parts(), rating.missing, rating.notes
        run, apparent, samples = rating.run, rating.apparent_answers, rating.samples
    by_level = None if options.columns is None else subgroups_of(run, options.columns, event)
    stability = None
    if run.finished:
        missing["stability"] = NO_OTHER
    else:
        stability = stability_of(run, event, apparent, samples)
    code = None if event is None else event.code
    return Validation(
        risk=run.risk,
        rows=rows_of(held_out, code),
        held_out=held_out,
        event=code,
        subgroups=by_level,
        stability=stability,
        checklist=Checklist.from_facts(
            facts_of(run, held_out, parts, by_level, stability, samples, options.horizon)
        ),
        missing=missing,
        notes=(*notes, *(event.by_order if event and options.positive is None else ())),
        **parts,
    )


def subgroups_of(run: HonestRun, columns: tuple[Levels, ...], event: Event | None) -> Subgroups:
    """Return all losses of the problem, AUC and Brier score in every level of the columns.

    Rows with the `event` are counted. The AUC, which is equal for both classes, is labelled with
    it.
    """
    problem, came = run.problem, None if event is None else event.of.class_codes == event.code
    terms = Terms(problem.confidence_level, problem.rule)
    risks = tuple(
        _as_elsewhere(
            subgroup_risks(answers, left_two_out, problem.data, loss, terms, columns, came),
            loss,
            run,
            event,
        )
        for loss, answers, left_two_out in answered_losses(run)
    )
    notes = tuple(levels.note for levels in columns if levels.note is not None)
    return Subgroups(risks, problem.confidence_level, notes)


def _as_elsewhere(
    risks: SubgroupRisks, loss: Loss, run: HonestRun, event: Event | None
) -> SubgroupRisks:
    """Replace a set score of all rows by the mean over folds that is reported elsewhere."""
    if loss.name == "auc" and event is not None:
        risks = replace(risks, positive=plain_values.plain(event.of.label(event.code)))
    if loss.per_row or risks.whole.value is None:
        return risks
    is_area = loss.name == "auc"
    honest = score_of(run, "auc" if is_area else loss, event if is_area else None)
    if honest.value is None:
        return risks
    converted: dict[str, Any] = {
        "value": honest.value,
        "std_error": honest.std_error,
        "interval": honest.interval,
    }
    return replace(risks, whole=replace(risks.whole, **converted))
