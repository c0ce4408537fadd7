"""Facts of a study that the data and the computation provide for checklists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from truerisk.checks.leak_warnings import parts_that_stay_fitted
from truerisk.core import formats
from truerisk.core.errors import escape_invisible
from truerisk.core.family import tunes_inside
from truerisk.core.frozen import frozen
from truerisk.data.rows import missing_cells_mask, n_columns
from truerisk.data.survival import uncensored_probability
from truerisk.models.stated.model_parts import (
    describe_penalty,
    describe_rebalancing,
    extract_coefficients,
    find_single_scaler,
    has_imputer,
    is_rebalancing_calibrated,
    model_with_nested_estimators,
    package_versions,
    preparation_class_names,
    step_class_names,
)
from truerisk.models.stated.selected_features import n_features_before_learner
from truerisk.plan.answers import Response
from truerisk.plan.leaks import find_leaks, find_split_order
from truerisk.plan.plan import Plan
from truerisk.planning.model_size import FollowUp, rows_to_develop, rows_to_test
from truerisk.results.interval import Interval
from truerisk.results.results import RiskEstimate
from truerisk.validation.calibration import SmoothCalibration
from truerisk.validation.checklists.paper_words import score_words
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.given_predictions import GivenPredictions
from truerisk.validation.honest import HonestRun
from truerisk.validation.measures import RANK_MEASURES, format_rounded
from truerisk.validation.outcomes import RESPONSES_BY_INFORMATION, HeldOut
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import ModelStability
from truerisk.validation.subgroups import Subgroups

if TYPE_CHECKING:  # Bootstrap samples are an optional module, loaded only when needed.
    from truerisk.validation.resampled import BootstrapPredictions

SLOPE_NAME, CURVE_NAME = (
    "slope",
    "flexible curve",
)  # names of calibration slope and curve in sentences
# This text replaces the pipeline steps of a model that is known only by its predictions.
PREDICTIONS_ONLY_STEPS = ("predictions as given",)

TestRowRelation = Literal["", "later", "below", "among", "apart", "near", "others"]
"""How the tested rows relate to the training rows.

They are any rows (""), later rows, rows below them in the table, rows between earlier and later
training rows, rows at places that the model had not seen, rows near training rows, or rows of a
finished model, none of whose training rows are here.
"""


@frozen
class ReportedMeasure:
    """Performance measure on held-out rows: its name, its value, and its confidence interval.

    `part` is the part of the validation that the measure belongs to, `interval` the name of the
    interval's formula, and `limits` are its limits. The value is None if the measure is a curve.
    `corrected` is the optimism-corrected value of the training rows. `of_final_model` is the
    estimate around which the interval lies, if that is not the value.
    """

    name: str
    part: str = ""
    interval: str | None = None
    value: float | None = None
    limits: tuple[float, float] | None = None
    corrected: float | None = None
    of_final_model: float | None = None

    @property
    def full_name(self) -> str:
        """Name of the measure in a sentence, such as "calibration slope"."""
        if self.part != "calibration":
            return self.name
        *first_words, last_word = self.name.split()
        return " ".join([*first_words, self.part, last_word])

    @classmethod
    def from_interval(
        cls, interval: Interval | None, name: str, part_name: str, **fields: Any
    ) -> ReportedMeasure:
        """Create the measure, with the formula name and limits of an interval if it has one."""
        if interval is None:
            return cls(name, part_name, **fields)
        return cls(name, part_name, interval.method, limits=(interval.low, interval.high), **fields)


@frozen(kw_only=True)
class StudyRows:
    """Numbers of the rows of a study, of their classes, groups and missing values.

    `class_counts` are the numbers of rows per class, and are empty for numeric y. `event` names the
    class that probabilities refer to, and `share` is its share. For a survival outcome, `n_lost`
    rows are censored by the `horizon` and belong to neither class; other rows represent them in the
    share. Of all rows, `n_events_ever` had the event at any time, and `median_follow_up` is the
    median of the censoring times (reverse Kaplan-Meier), None if it is not reached. `n_gaps`
    counts the missing cells and `n_rows_with_gaps` the rows with missing cells; both are None if X
    is unknown. `dependent` rows have times or places.
    """

    n_rows: int
    n_columns: int | None
    class_counts: Mapping[str, int] = field(default_factory=dict)
    event: str | None = None
    share: float | None = None
    n_lost: int | None = None
    horizon: float | None = None
    n_events_ever: int | None = None
    median_follow_up: float | None = None
    n_gaps: int | None = None
    n_rows_with_gaps: int | None = None
    n_groups: int | None = None
    dependent: bool = False
    weighted: bool = False


@frozen(kw_only=True)
class StudyModel:
    """Pipeline steps of a model, its settings, and its treatment of classes and columns.

    `steps` are the names of all steps, the learner last. `response` is the kind of its predictions.
    `imputed` says that a step imputes missing values inside the folds, and `selects` that one
    selects columns. `rebalanced` lists what reweights or resamples classes (None if only
    predictions are known), and `recalibrated` says that the model is calibrated after that.
    `fitted_parts` are not fitted in any split. `n_features` is the largest number of features after
    the steps, None for a finished model. `coefficients` are those of a linear final model, and
    `unscaled` says that they are in the units of the columns although a step scales these.
    `prepared_by` names the classes that prepare the columns, in the steps or inside of them,
    `penalty` is the kind of penalty of a logistic or Cox regression, and `grid` lists the compared
    values of the hyperparameters.
    """

    steps: tuple[str, ...]
    setting: str
    response: Response
    n_settings: int = 1
    prepared_by: tuple[str, ...] = ()
    penalty: str = ""
    grid: str = ""
    tunes_inside: bool = False
    imputed: bool = False
    selects: bool = False
    rebalanced: tuple[str, ...] | None = ()
    recalibrated: bool = False
    fitted_parts: tuple[str, ...] = ()
    n_features: int | None = None
    coefficients: Mapping[str, float] = field(default_factory=dict)
    unscaled: bool = False


@frozen(kw_only=True)
class StudyTesting:
    """Splits that chose a setting and that tested it, and how tested and training rows relate.

    `n_tested` rows were tested, with class counts `tested_counts`; None means all rows. `n_cut`
    rows were tested by models that were trained on other rows of their group, and `n_copied` rows
    by models that were trained on an exact copy. `corrected` is the number of bootstrap samples
    that corrected the performance for optimism.
    """

    chosen_by: str
    tested_by: str
    tested_on: TestRowRelation = ""
    n_tested: int | None = None
    tested_counts: Mapping[str, int] = field(default_factory=dict)
    n_cut: int = 0
    n_copied: int = 0
    corrected: int = 0

    @property
    def has_finished_model(self) -> bool:
        """True if a finished model was tested, and nothing was fitted."""
        return self.tested_on == "others"


@frozen(kw_only=True)
class StudyResults:
    """Performance measures of all rows and of subgroups, and the sample sizes they require.

    `by_level` says for each loss of subgroups whether a level has an interval, and
    `level_calibrations_have_intervals` that the calibration of a level has one. `shrunken` are the
    columns whose losses are shrunken to their mean. `updating` describes the gain from an update of
    a finished model. `n_needed` is the number of rows that the criteria of Riley et al.
    require for a regression with one parameter per feature and the honest R²; it is None if y has
    no event class, or if R² is not above 0. `n_to_validate` is the number of rows required for
    narrow intervals of the honest AUC and of calibration.
    """

    measures: tuple[ReportedMeasure, ...] = ()
    confidence_level: float = 0.95
    subgroups: tuple[str, ...] = ()
    by_level: Mapping[str, bool] = field(default_factory=dict)
    level_calibrations_have_intervals: bool = False
    shrunken: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    stability: PredictionStability | None = None
    updating: str | None = None
    n_needed: int | None = None
    n_to_validate: int | None = None


@frozen(kw_only=True)
class StudySoftware:
    """Random seed of a study, and the versions of the packages that were used."""

    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


@frozen(kw_only=True)
class StudyFacts:
    """The facts of a study that the data and the computation provide."""

    rows: StudyRows
    model: StudyModel
    testing: StudyTesting
    results: StudyResults
    software: StudySoftware


def _class_counts(
    held_out: HeldOut, first_positions: np.ndarray, is_counted: Any = True
) -> dict[str, int]:
    """Count the tested rows of each class by its label, each row once."""
    class_names = [] if held_out.classes is None else map(str, held_out.classes.tolist())
    true_codes = held_out.truth[first_positions]
    return {
        name: int(np.sum(is_counted & (true_codes == class_code)))
        for class_code, name in enumerate(class_names)
    }


def _find_test_row_relation(run: HonestRun, plan: Plan, n_split_group_rows: int) -> TestRowRelation:
    """Return how tested rows relate to training rows in time or, without times, in space."""
    data = run.problem.data
    if run.has_finished_model:
        return "others"
    if data.time is not None:
        return "among" if len(find_leaks(data, plan, "late")["late"]) else "later"
    if data.block is None:
        return "below" if find_split_order(plan) is not None and _are_test_rows_below(plan) else ""
    if data.places is None:  # Rows with different labels may still be near each other.
        return "" if n_split_group_rows else "apart"
    if run.testing_method.outer_method.respects_space:
        return "apart"
    leaks = find_leaks(data, plan, "near")
    return "near" if 2 * len(leaks["near"]) > len(leaks["apart"]) else ""


def _are_test_rows_below(plan: Plan) -> bool:
    """Return True if every tested row is below all its training rows in the table."""
    return all(
        plan.train_rows(int(plan.fit[test_set]))[0][-1] < plan.test_rows(test_set)[0][0]
        for test_set in range(plan.n_questions)
    )


REPORTED_PACKAGES = ("truerisk", "sklearn", "numpy", "python")


def collect_facts(
    run: HonestRun,
    held_out: HeldOut,
    validation_parts: Mapping[str, Any],
    subgroups: Subgroups | None,
    stability: ModelStability | None,
    bootstrap_samples: BootstrapPredictions | None,
    horizon: float | None,
) -> StudyFacts:
    """Collect the facts of a study from its run, held-out predictions and validation parts."""
    model = run.model if run.has_finished_model else run.problem.family.make(run.best_candidate)
    row_facts = _collect_row_facts(
        run, held_out, validation_parts, is_x_unknown=isinstance(model, GivenPredictions)
    )
    if run.problem.data.task == "survival":
        row_facts = replace(row_facts, horizon=horizon, **_follow_up_facts(run.problem.data.y))
    model_facts = _collect_model_facts(run, model, row_facts, horizon)
    follow_up = (
        None if horizon is None else FollowUp.from_survival_outcome(horizon, run.problem.data.y)
    )
    results = _collect_results(run, validation_parts, subgroups, stability)
    measured_parts = [
        validation_parts[name]
        for name in ("discrimination", "calibration")
        if name in validation_parts
    ]
    honest_values = {
        measure_name: measured.honest
        for measured_part in measured_parts
        for measure_name, measured in measured_part.measures.items()
    }
    r2 = honest_values.get("explained" if row_facts.share is None else "r2")
    versions = {
        name: run.risk.versions[name] for name in REPORTED_PACKAGES if name in run.risk.versions
    }
    return StudyFacts(
        rows=row_facts,
        model=model_facts,
        testing=_collect_testing_facts(
            run,
            held_out,
            n_samples=0 if bootstrap_samples is None else len(bootstrap_samples.row_copies),
        ),
        results=replace(
            results,
            n_needed=rows_to_develop(model_facts.n_features, row_facts.share, r2, follow_up),
            n_to_validate=rows_to_test(row_facts.share, honest_values.get("auc")),
        ),
        software=StudySoftware(seed=run.problem.seed, versions=versions | package_versions(model)),
    )


def _collect_row_facts(
    run: HonestRun, held_out: HeldOut, validation_parts: Mapping[str, Any], *, is_x_unknown: bool
) -> StudyRows:
    """Count the rows of a study, their classes and their missing cells.

    X is unknown if `is_x_unknown`, since only predictions were passed.
    """
    data, class_counts, n_lost = run.problem.data, run.problem.class_counts, None
    is_missing_cell = None if is_x_unknown else missing_cells_mask(data.X)
    event = (
        escape_invisible(validation_parts["discrimination"].event)
        if "discrimination" in validation_parts
        else None
    )
    event_share = None if event not in class_counts else class_counts[event] / data.n_rows
    if data.task == "survival":
        first_positions = np.unique(held_out.rows, return_index=True)[1]
        weights = (
            np.ones(len(first_positions))
            if held_out.weights is None
            else held_out.weights[first_positions]
        )
        class_counts, n_lost = (
            _class_counts(held_out, first_positions, weights > 0),
            int((weights == 0).sum()) if data.horizons else None,
        )
        event_share = float(weights @ (held_out.truth[first_positions] == 1) / weights.sum())
    return StudyRows(
        n_rows=data.n_rows,
        n_columns=None if is_x_unknown else n_columns(data.X),
        class_counts=class_counts,
        event=event,
        share=event_share,
        n_lost=n_lost,
        n_gaps=None if is_missing_cell is None else int(is_missing_cell.sum()),
        n_rows_with_gaps=None
        if is_missing_cell is None
        else int(is_missing_cell.any(axis=1).sum()),
        n_groups=None if data.groups is None else len(np.unique(data.groups)),
        dependent=data.dependent,
        weighted=data.sample_weight is not None,
    )


def _follow_up_facts(y: np.ndarray) -> dict[str, Any]:
    """Return the number of all events, and the median follow-up, of survival outcomes."""
    times = np.unique(y[:, 1])
    is_median_reached = uncensored_probability(y, None, times, past=True) <= 0.5
    return {
        "n_events_ever": int(y[:, 0].sum()),
        "median_follow_up": float(times[is_median_reached][0]) if is_median_reached.any() else None,
    }


def _collect_model_facts(
    run: HonestRun, model: Any, row_facts: StudyRows, horizon: float | None
) -> StudyModel:
    """Describe the steps, the tuning and the coefficients of the model that was tested."""
    family, data = run.problem.family, run.problem.data
    has_predictions_only = isinstance(model, GivenPredictions)
    n_features, coefficients = None, {}
    # A finished model is not fitted, so its features need not be counted for the sample size.
    if not run.has_finished_model:
        n_features = n_features_before_learner(
            model, data.X, data.y if data.codes is None else data.codes
        )
    if run.model is not None:
        is_first_class = row_facts.event == next(iter(row_facts.class_counts), "")
        coefficients = extract_coefficients(
            run.model, data.X, of_first_class=is_first_class, horizon=horizon
        )
    return StudyModel(
        steps=PREDICTIONS_ONLY_STEPS if has_predictions_only else step_class_names(model),
        setting=formats.format_params(family.candidates[run.best_candidate]),
        response=next(response for response in RESPONSES_BY_INFORMATION if response in run.answers),
        n_settings=len(family),
        prepared_by=() if has_predictions_only else preparation_class_names(model),
        penalty="" if has_predictions_only else describe_penalty(model),
        grid=_describe_grid(family.candidates),
        tunes_inside=not run.has_finished_model and tunes_inside(family),
        imputed=has_imputer(model),
        selects=any(
            hasattr(estimator, "get_support") for estimator in model_with_nested_estimators(model)
        ),
        rebalanced=None if has_predictions_only else describe_rebalancing(model),
        recalibrated=is_rebalancing_calibrated(model),
        fitted_parts=() if run.has_finished_model else tuple(parts_that_stay_fitted(family)),
        n_features=n_features,
        coefficients=coefficients,
        unscaled=run.model is not None and find_single_scaler(run.model) is not None,
    )


# If a hyperparameter has more values, the paragraph states their number and range instead.
MAX_LISTED_VALUES = 8


def _describe_grid(settings: Sequence[Mapping[str, Any]]) -> str:
    """List the values of each hyperparameter that differs between the settings.

    >>> _describe_grid([{"svc__C": 1, "svc__gamma": 2}, {"svc__C": 3, "svc__gamma": 2}])
    'C of 1 and 3'
    """
    texts = []
    for name in dict.fromkeys(name for setting in settings for name in setting):
        values = list({repr(one[name]): one[name] for one in settings if name in one}.values())
        if len(values) < 2:
            continue
        if len(values) <= MAX_LISTED_VALUES:
            text = formats.join_words(map(formats.format_parameter, values))
        else:
            text = f"{len(values)} values"
            if all(isinstance(value, int | float | np.number) for value in values):
                low, high = map(formats.format_parameter, (min(values), max(values)))
                text += f" from {low} to {high}"
        short_name = formats.escape_and_truncate(name.rpartition("__")[2], 40)
        texts.append(f"{short_name} of {text}")
    return formats.join_words(texts) if texts else ""


def _collect_testing_facts(run: HonestRun, held_out: HeldOut, n_samples: int) -> StudyTesting:
    """Describe which splits chose the setting, which tested it, and on which rows."""
    tuning_method, plan = run.problem.tuning_method, run.answered_rows.answers[0].plan
    assert tuning_method is not None
    first_positions = np.unique(held_out.rows, return_index=True)[1]
    leaks = find_leaks(run.problem.data, plan, "groups", "copies")
    n_split_group_rows = len(leaks["groups"])
    return StudyTesting(
        chosen_by=tuning_method.name,
        tested_by=run.testing_method.name,
        tested_on=_find_test_row_relation(run, plan, n_split_group_rows),
        n_tested=len(first_positions),
        tested_counts=_class_counts(held_out, first_positions),
        n_cut=n_split_group_rows,
        n_copied=len(leaks["copies"]),
        corrected=n_samples,
    )


def _collect_results(
    run: HonestRun,
    validation_parts: Mapping[str, Any],
    subgroups: Subgroups | None,
    stability: ModelStability | None,
) -> StudyResults:
    """Collect the performance measures of all rows and of subgroups."""
    subgroup_risks = () if subgroups is None else subgroups.risks
    levels_by_loss = {
        subgroup_risk.scoring: subgroup_risk.levels for subgroup_risk in subgroup_risks
    }
    shrunken_columns = (
        level.subgroup.column
        for loss_levels in levels_by_loss.values()
        for level in loss_levels
        if level.shrunken is not None
    )
    return StudyResults(
        measures=_reported_measures(run, validation_parts),
        confidence_level=run.problem.confidence_level,
        subgroups=() if subgroups is None else subgroups.columns,
        by_level={
            loss: any(level.interval is not None for level in loss_levels)
            for loss, loss_levels in levels_by_loss.items()
        },
        level_calibrations_have_intervals=any(
            measured.interval is not None
            for calibration in (() if subgroups is None else subgroups.calibration)
            for measured in calibration.measures.values()
        ),
        shrunken=tuple(dict.fromkeys(shrunken_columns)),
        too_small=() if subgroups is None else subgroups.too_small,
        stability=None if stability is None else stability.predictions,
        updating=validation_parts["updating"].sentence if "updating" in validation_parts else None,
    )


MEASURES_OF_RANKS = (*RANK_MEASURES, "concordance", "uno")
MEASURES_OF_ERRORS = ("oe", "cox-slope", "brier", "scaled-brier", "squared")
MEASURES_OF_LINES = (SLOPE_NAME, "in-the-large")
POINTWISE = "pointwise"


def _reported_measures(
    run: HonestRun, validation_parts: Mapping[str, Any]
) -> tuple[ReportedMeasure, ...]:
    """Return all scores of the search, and all measures of the validation that have a value."""
    scores = [_score_measure(name, score) for name, score in _requested_scores(run.risk)]
    measures = {measure.name: measure for measure in scores}
    for validation_part in validation_parts.values():
        for measure in _part_measures(validation_part):
            # The measure of a part has more details than the requested score of the same name.
            # If their values differ, the score was averaged in another way, and is kept.
            requested_name = next(
                (name for name in measures if name.partition(" at ")[0] == measure.name),
                measure.name,
            )
            value = measures.get(requested_name, measure).value
            if value is None or measure.value is None or np.isclose(value, measure.value, atol=0):
                measures[requested_name] = replace(measure, name=requested_name)
    return tuple(measures.values())


def _requested_scores(risk: RiskEstimate) -> Iterator[tuple[str, RiskEstimate]]:
    """Yield the score that chose the setting, and the further scores, by name."""
    yield risk.scoring, risk
    yield from ((name, score) for name, score in risk.scores.items() if name != risk.scoring)


def _score_measure(name: str, score: RiskEstimate) -> ReportedMeasure:
    """Return a score as a measure; a negative score of scikit-learn becomes its loss."""
    measure = ReportedMeasure.from_interval(
        score.interval, score_words(name), "", value=score.value
    )
    if not name.startswith("neg_") or measure.value is None:
        return measure
    limits = None if measure.limits is None else (-measure.limits[1], -measure.limits[0])
    return replace(measure, value=-measure.value, limits=limits)


def _part_measures(validation_part: Any) -> Iterator[ReportedMeasure]:
    if isinstance(validation_part, Discrimination):
        yield from _named_measures(validation_part, MEASURES_OF_RANKS, "discrimination")
    elif isinstance(validation_part, SmoothCalibration):
        yield from _named_measures(validation_part, MEASURES_OF_LINES, "calibration")
        if validation_part.curve is not None:
            band_name = None if validation_part.curve.low is None else POINTWISE
            yield ReportedMeasure(CURVE_NAME, "calibration", band_name)
        yield from _named_measures(validation_part, MEASURES_OF_ERRORS, "")
    elif isinstance(validation_part, NetBenefit):
        yield _net_benefit_measure(validation_part)


def _named_measures(
    validation_part: Discrimination | SmoothCalibration,
    names: Sequence[str],
    part_name: str,
) -> Iterator[ReportedMeasure]:
    for name in names:
        measured = validation_part.measures.get(name)
        if measured is not None and measured.honest is not None:
            values_by_field = {"value": measured.honest, "corrected": measured.corrected}
            values_by_field["of_final_model"] = measured.of_final_model
            yield ReportedMeasure.from_interval(
                measured.interval, score_words(name), part_name, **values_by_field
            )


def _net_benefit_measure(net_benefit: NetBenefit) -> ReportedMeasure:
    """Return net benefit as a curve, or as a value if a single threshold was chosen."""
    band_name = None if net_benefit.low is None else POINTWISE
    if len(net_benefit.thresholds) > 1:
        return ReportedMeasure("net benefit", interval=band_name)
    low, high = net_benefit.low, net_benefit.high
    limits = None if low is None or high is None else (float(low[0]), float(high[0]))
    measure_name = f"net benefit from a probability of {net_benefit.thresholds[0]:.15g} on"
    treat_all_text = f" (of treating all {format_rounded(net_benefit.treat_all[0])})"
    final_value = (
        None if net_benefit.of_final_model is None else float(net_benefit.of_final_model[0])
    )
    return ReportedMeasure(
        measure_name + treat_all_text,
        "",
        band_name,
        float(net_benefit.honest[0]),
        limits,
        of_final_model=final_value,
    )
