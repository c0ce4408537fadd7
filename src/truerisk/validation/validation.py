"""Results of validating a model (`Validation`), and the computation of their parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from math import inf
from typing import Any, ClassVar, TypedDict

import numpy as np

from truerisk.contracts import Terms
from truerisk.core import formats, plain_values, tables
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.losses.loss import Loss
from truerisk.methods.external import External
from truerisk.results.bounds import HonestNumber, numbers_of
from truerisk.results.interval import ReportedValue, ResultWithBounds
from truerisk.results.records import UNWRITTEN, Count, Record
from truerisk.results.results import RiskEstimate
from truerisk.validation.calibration import SmoothCalibration
from truerisk.validation.checklists.checklist import Checklist
from truerisk.validation.checklists.study_facts import collect_facts
from truerisk.validation.conclusion import describe_measures
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.follow_up import follow_up_measures
from truerisk.validation.honest import HonestRun, computable_losses, held_out_score
from truerisk.validation.measures import MEASURES, Measured, MeasuredPart, MeasuresByName
from truerisk.validation.outcomes import Event, HeldOut
from truerisk.validation.rating import HeldOutMeasures, missing_measures_reason
from truerisk.validation.stability import ModelStability, model_stability
from truerisk.validation.subgroup_calibration import level_calibrations
from truerisk.validation.subgroup_risks import subgroup_risks
from truerisk.validation.subgroups import ColumnLevels, SubgroupRisks, Subgroups
from truerisk.validation.updating import ModelUpdates
from truerisk.validation.wishes import ValidationOptions

SCORE_BY_MEASURE = {
    "auc": ("auc", 1.0),
    "average-precision": ("average-precision", 1.0),
    "explained": ("r2", 1.0),
    "r2": ("r2", 1.0),
    "d": ("d", inf),
}
"""Measures of which larger values are better: their names as scores, and their largest values."""

PART_TITLES = {
    "discrimination": "Discrimination",
    "calibration": "Calibration",
    "net_benefit": "Net benefit",
    "updating": "Updating",
    "subgroups": "Subgroups",
    "stability": "Stability",
    "checklist": "Checklist",
}


class ValidatedRows(TypedDict):
    """Numbers of held-out rows, of rows with the event, of repetitions and of groups.

    `n_censored` rows were censored by the horizon; it is None if the outcome has no horizon.
    """

    n_rows: Count
    event: Any
    n_events: Count | None
    n_censored: Count | None
    n_repetitions: Count
    n_groups: Count | None


@frozen(eq=False)
class Validation(ResultWithBounds, Record):
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
    updating: ModelUpdates | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""

    @property
    def parts(self) -> dict[str, Record]:
        """Parts of the validation that exist, by name."""
        return {
            name: validation_part
            for name in PART_TITLES
            if (validation_part := getattr(self, name)) is not None
        }

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
        named_stability = None if self.stability is None else self.stability.with_names(names)
        name_of_position = {
            f"column {j}": repr(formats.escape_and_truncate(name, 60))
            for j, name in enumerate(names)
        }
        notes = (
            re.sub(r"column \d+", lambda match: name_of_position.get(match[0], match[0]), note)
            for note in self.notes
        )
        return replace(self, stability=named_stability, notes=tuple(notes))

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
    def measures(self) -> MeasuresByName:
        """Measures of discrimination and calibration, by name; a notebook shows them as a table."""
        measured_parts = [
            measured_part
            for measured_part in (self.discrimination, self.calibration)
            if measured_part is not None
        ]
        return MeasuresByName(
            (name, measure)
            for measured_part in measured_parts
            for name, measure in measured_part.measures.items()
        )

    @property
    def conclusion(self) -> str:
        """Conclusion, a sentence in each line; it is empty if there is nothing to say."""
        event = None if self.rows["n_censored"] is None else str(self.rows["event"])
        sentences = describe_measures(
            self.measures,
            n_finished_rows=self.rows["n_rows"] if self.finished else None,
            has_event=self.calibration is None or self.calibration.event is not None,
            auc_of="" if event is None else f" (event {formats.escape_and_truncate(event, 60)})",
        )
        doubts = [RISKS_WITHOUT_HORIZON_NOTE] if RISKS_WITHOUT_HORIZON_NOTE in self.notes else []
        return "\n".join([*(f"Check this first: {doubt}" for doubt in doubts), *sentences])

    def __str__(self) -> str:
        blocks, rows = [*filter(None, [self.conclusion]), str(self.risk)], self.rows
        if rows["event"] is not None:
            event = formats.escape_and_truncate(str(rows["event"]), 60)
            n_rows, n_events, n_censored = rows["n_rows"], rows["n_events"], rows["n_censored"]
            if n_events is None or n_censored is None:
                # Survival outcomes without a horizon have no name of the event.
                named_event = "event" if event == FOLLOW_UP_CLASSES[1] else f"event: {event},"
                blocks.append(f"{named_event} in {n_events} of {n_rows} rows")
            else:
                blocks.append(
                    f"event {event}: {n_events} of {n_rows} rows; "
                    f"{n_rows - n_events - n_censored} were followed longer without it; "
                    f"{n_censored} were censored by then"
                )
        for name, title in PART_TITLES.items():
            validation_part = getattr(self, name)
            if isinstance(validation_part, Checklist):
                blocks.append(f"{title}\n{validation_part.summary}")
            elif validation_part is not None:
                blocks.append(f"{title}\n{validation_part}")
            elif name in self.missing:
                blocks.append(f"{title}: {self.missing[name]}")
        return "\n\n".join(blocks + [f"note: {note}" for note in self.notes])

    @override
    def blocks(self) -> list[tables.Block]:
        # A further score that is also a measure stands in the tables below.
        measured = {(measure.honest, str(measure.interval)) for measure in self.measures.values()}
        other_scores = {
            name: score
            for name, score in self.risk.scores.items()
            if (score.value, str(score.interval)) not in measured
        }
        risk_lines = [[line] for line in str(replace(self.risk, scores=other_scores)).splitlines()]
        blocks, notes = [tables.Block("Honest risk", [""], risk_lines)], list(self.notes)
        for name, title in PART_TITLES.items():
            part = getattr(self, name)
            if isinstance(part, Checklist):
                notes.append(f"{title}: print(result.checklist) shows the answers to its items.")
            elif part is not None:
                first, *others = part.blocks()
                has_own_title = not isinstance(part, MeasuredPart) and first.caption != title
                caption = f"{title}: {first.caption}" if has_own_title else title
                blocks += [replace(first, caption=caption), *others]
            elif name in self.missing:
                notes.append(f"{title}: {self.missing[name]}")
        return [*blocks, *([tables.Block("", [""], [[each] for each in notes])] if notes else [])]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        scores = {
            name: HonestNumber(
                name, ReportedValue(measure.honest, measure.interval, "larger"), largest_value
            )
            for measure_name, (name, largest_value) in SCORE_BY_MEASURE.items()
            if (measure := self.measures.get(measure_name)) is not None
        }
        # A requested score may be averaged otherwise than the measure of the same name.
        requested_numbers = numbers_of(self.risk)
        return requested_numbers | {
            name: number for name, number in scores.items() if name not in requested_numbers
        }

    def _metrics(self) -> Mapping[str, Any]:
        metrics: dict[str, Any] = {}
        for name, measure in self.measures.items():
            metrics |= ReportedValue(measure.honest, measure.interval, "").named(name)
        return {**metrics, **self.risk.to_metrics()}


def count_validated_rows(
    held_out: HeldOut, event_code: int | None, *, has_horizon: bool
) -> ValidatedRows:
    """Count the held-out rows, repetitions and groups, and the rows of the event's class.

    Rows that were censored by the horizon have weight 0.
    """
    event_label = None
    distinct_rows, first_positions = np.unique(held_out.rows, return_index=True)
    is_censored = np.zeros(len(distinct_rows), dtype=bool)
    if held_out.weights is not None:
        is_censored = held_out.weights[first_positions] == 0
    if event_code is not None and held_out.classes is not None:
        event_label = plain_values.to_json_value(held_out.classes[event_code])
    return {
        "n_rows": len(distinct_rows),
        "event": event_label,
        "n_events": None
        if event_label is None
        else int((held_out.truth[first_positions] == event_code).sum()),
        "n_censored": int(is_censored.sum()) if has_horizon else None,
        "n_repetitions": held_out.n_repetitions,
        "n_groups": None if held_out.groups is None else len(np.unique(held_out.groups)),
    }


UNO_NOTE = (
    "Uno's C compares the pairs whose first event is before {:.12g}, the last time of these rows; "
    "scoring='uno-5' compares those before the time 5."
)
RISKS_WITHOUT_HORIZON_NOTE = (
    "all predictions lie between 0 and 1, but without a horizon they are linear predictors: if "
    "they are risks by a time, give this time as the horizon."
)
OPPOSITE_NOTE = (
    "{} is {:.4f}, below the 0.5 of random numbers: are these predictions of the opposite of the "
    "event? They have to be larger for rows that are more likely to have the event."
)
NO_RISKS_REASON = "linear predictors tell no probabilities: give risks with their horizon."
FOLLOW_UP_CLASSES = ("no event", "event")  # Classes of a survival outcome without a horizon.
NO_OTHER_MODELS_REASON = (
    "nothing was fitted, so that there are no other models to hold this one against."
)


def compute_validation(run: HonestRun, validation_options: ValidationOptions) -> Validation:
    """Compute all parts of a validation; only bootstrap samples need further tuned models."""
    event = Event.from_label(
        validation_options.positive, run.problem.data, validation_options.horizon
    )
    held_out = HeldOut.from_answers(
        run.answered_rows, run.problem.data if event is None else event.full_data
    )
    if validation_options.horizon is not None and event is not None:
        held_out = event.convert_held_out(held_out)
    parts_by_name: dict[str, Any] = {}
    missing_reasons: dict[str, str] = {}
    notes, apparent_predictions, bootstrap_samples = [], None, None
    if run.problem.data.task == "survival" and event is None:
        missing_reasons = {"net_benefit": NO_RISKS_REASON}
        has_event = held_out.truth[:, 0].astype(np.int64)
        held_out = replace(held_out, truth=has_event, classes=np.array(FOLLOW_UP_CLASSES))
    elif reason := missing_measures_reason(run, held_out, event):
        missing_reasons = dict.fromkeys(("discrimination", "calibration", "net_benefit"), reason)
    else:
        held_out_measures = HeldOutMeasures(run, held_out, validation_options, event)
        parts_by_name, missing_reasons, notes = (
            held_out_measures.compute_parts(),
            held_out_measures.missing,
            held_out_measures.notes,
        )
        run, apparent_predictions, bootstrap_samples = (
            held_out_measures.run,
            held_out_measures.apparent_predictions,
            held_out_measures.samples,
        )
    if run.problem.data.task == "survival":
        parts_by_name |= add_follow_up_measures(
            parts_by_name, run, held_out, validation_options.clip
        )
        if "uno" in parts_by_name.get("discrimination", ()):
            notes = [*notes, UNO_NOTE.format(run.problem.data.y[:, 1].max())]
    if run.has_finished_model:
        is_linear = run.problem.data.task == "survival" and event is None
        if is_linear and held_out.answers.min() >= 0 and held_out.answers.max() <= 1:
            notes = [*notes, RISKS_WITHOUT_HORIZON_NOTE]
        if "discrimination" in parts_by_name:
            notes = [*notes, *notes_on_direction(parts_by_name["discrimination"])]
    subgroups = (
        None
        if validation_options.columns is None
        else compute_subgroups(run, validation_options.columns, event)
    )
    if subgroups is not None and validation_options.columns and "calibration" in parts_by_name:
        calibration = level_calibrations(
            run, held_out, event, validation_options.clip, validation_options.columns
        )
        subgroups = replace(subgroups, calibration=calibration)
    stability = None
    if run.has_finished_model:
        missing_reasons["stability"] = NO_OTHER_MODELS_REASON
    else:
        stability = model_stability(run, event, apparent_predictions, bootstrap_samples)
    event_code = None if event is None else event.code
    counted_code = 1 if run.problem.data.task == "survival" else event_code
    return Validation(
        risk=run.risk,
        rows=count_validated_rows(
            held_out, counted_code, has_horizon=validation_options.horizon is not None
        ),
        held_out=held_out,
        event=event_code,
        subgroups=subgroups,
        stability=stability,
        checklist=Checklist.from_facts(
            collect_facts(
                run,
                held_out,
                parts_by_name,
                subgroups,
                stability,
                bootstrap_samples,
                validation_options.horizon,
            )
        ),
        missing=missing_reasons,
        notes=(
            *notes,
            *(event.label_order_notes if event and validation_options.positive is None else ()),
        ),
        **parts_by_name,
    )


def notes_on_direction(discrimination: Discrimination) -> list[str]:
    """Return a note if the predictions rank rows with the event below those without it."""
    measures = (discrimination.measures.get(name) for name in ("auc", "concordance"))
    return [
        OPPOSITE_NOTE.format(measure.title, measure.honest)
        for measure in measures
        if measure is not None and measure.interval is not None and measure.interval.high < 0.5
    ][:1]


def add_follow_up_measures(
    parts: Mapping[str, Any], run: HonestRun, held_out: HeldOut, clip: float | None
) -> dict[str, Any]:
    """Return both measured parts of a survival outcome, with the measures over all follow-up.

    These parts are discrimination and calibration. Without a horizon they have no other measures.
    """
    is_certain = run.has_finished_model and not run.problem.data.dependent
    measures = follow_up_measures(run, held_out, clip, is_certain=is_certain)
    new_parts = {}
    for name in ("discrimination", "calibration"):
        part_measures = {
            measure_name: measure
            for measure_name, measure in measures.items()
            if MEASURES[measure_name].part == name
        }
        if name in parts:
            new_parts[name] = replace(
                parts[name], measures={**parts[name].measures, **part_measures}
            )
        elif not run.problem.data.horizons:
            new_parts[name] = (
                Discrimination(FOLLOW_UP_CLASSES[1], part_measures)
                if name == "discrimination"
                else SmoothCalibration.from_linear_predictors(
                    held_out.truth,
                    held_out.answers,
                    FOLLOW_UP_CLASSES[1],
                    part_measures,
                    NO_RISKS_REASON,
                )
            )
    return new_parts


def compute_subgroups(
    run: HonestRun, columns: tuple[ColumnLevels, ...], event: Event | None
) -> Subgroups:
    """Compute all losses of the problem, AUC and Brier score in every level of the columns.

    Rows with the `event` are counted. The AUC, which is equal for both classes, is labelled with
    the event.
    """
    problem, has_event = (
        run.problem,
        None if event is None else event.full_data.class_codes == event.code,
    )
    risk_terms = Terms(problem.confidence_level, problem.rule)
    risks = tuple(
        _with_reported_average(
            subgroup_risks(
                predictions, left_two_out, problem.data, loss, risk_terms, columns, has_event
            ),
            loss,
            run,
            event,
        )
        for loss, predictions, left_two_out in computable_losses(run)
    )
    notes = tuple(column_levels.note for column_levels in columns if column_levels.note is not None)
    return Subgroups(risks, problem.confidence_level, notes)


def _with_reported_average(
    risks: SubgroupRisks, loss: Loss, run: HonestRun, event: Event | None
) -> SubgroupRisks:
    """Replace a set score of all rows by the mean over folds that other parts report."""
    if loss.name == "auc" and event is not None:
        risks = replace(
            risks, positive=plain_values.to_json_value(event.full_data.label(event.code))
        )
    if loss.per_row or risks.whole.value is None:
        return risks
    is_auc = loss.name == "auc"
    honest_score = held_out_score(run, "auc" if is_auc else loss, event if is_auc else None)
    if honest_score.value is None:
        return risks
    reported_fields: dict[str, Any] = {
        "value": honest_score.value,
        "std_error": honest_score.std_error,
        "interval": honest_score.interval,
    }
    return replace(risks, whole=replace(risks.whole, **reported_fields))
