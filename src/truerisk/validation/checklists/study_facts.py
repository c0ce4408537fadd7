"""Facts of a study that the data and the computation provide for checklists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from truerisk.checks.leak_warnings import parts_that_stay_fitted
from truerisk.core import formats
from truerisk.core.errors import visible
from truerisk.core.family import tunes_inside
from truerisk.core.frozen import frozen
from truerisk.data.rows import gaps_in, n_columns
from truerisk.models.stated.model_parts import (
    coefficients_of,
    imputes,
    inside,
    rebalanced_by,
    recalibrated,
    releases_of,
    scaler_of,
    steps_of,
)
from truerisk.models.stated.selected_features import n_features_made
from truerisk.plan.answers import Response
from truerisk.plan.leaks import leaks_of, order_of
from truerisk.plan.plan import Plan
from truerisk.planning.model_size import FollowUp, rows_needed, rows_to_test
from truerisk.results.interval import Interval
from truerisk.validation.calibration import SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.honest import HonestRun
from truerisk.validation.measures import rounded
from truerisk.validation.outcomes import BEST_FIRST, HeldOut
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import ModelStability
from truerisk.validation.subgroups import Subgroups
from truerisk.validation.updating import Updated

if TYPE_CHECKING:  # samples are a branch
    from truerisk.validation.resampled import Resampled

SLOPE, CURVE = "slope", "flexible curve"  # the names of slope and curve in sentences
# stands for the steps of a model that is known only by its predictions
GIVEN = ("predictions as given",)

TestedOn = Literal["", "later", "below", "among", "apart", "near", "others"]
"""How the tested rows relate to the training rows.

They are any rows (""), later rows, rows below them in the table, rows between earlier and later
training rows, rows at places that the model had not seen, rows near training rows, or rows of a
finished model, none of whose training rows are here.
"""


@frozen
class Rated:
    """A measure on held-out rows: its name, its part, its value, and its interval with its name.

    The value is None if the measure is a curve. `corrected` is the optimism-corrected value of the
    training rows. `of_final_model` is the estimate around which the interval lies, if that is not
    the value.
    """

    name: str
    part: str = ""
    interval: str | None = None
    value: float | None = None
    ends: tuple[float, float] | None = None
    corrected: float | None = None
    of_final_model: float | None = None

    @classmethod
    def with_interval(cls, interval: Interval | None, name: str, part: str, **given: Any) -> Rated:
        """Return the measure with the name and the limits of an interval."""
        if interval is None:
            return cls(name, part, **given)
        return cls(name, part, interval.method, ends=(interval.low, interval.high), **given)


@frozen(kw_only=True)
class StudyRows:
    """The rows of a study, their classes, groups and missing values.

    `class_counts` are the numbers of rows per class, and are empty for numeric y. `event` names the
    class that probabilities refer to, and `share` is its share. For a survival outcome, `n_lost`
    rows are censored and belong to neither class; other rows represent them in the share. `n_gaps`
    counts the missing cells and `n_rows_with_gaps` the rows with missing cells; both are None if X
    is unknown. `dependent` rows have times or places.
    """

    n_rows: int
    n_columns: int | None
    class_counts: Mapping[str, int] = field(default_factory=dict)
    event: str | None = None
    share: float | None = None
    n_lost: int | None = None
    n_gaps: int | None = None
    n_rows_with_gaps: int | None = None
    n_groups: int | None = None
    dependent: bool = False
    weighted: bool = False


@frozen(kw_only=True)
class StudyModel:
    """The steps of a model, its settings, and its treatment of classes and columns.

    `steps` are the names of all steps, the learner last. `response` is the kind of its predictions.
    `imputed` says that a step imputes missing values inside the folds, and `selects` that one
    selects columns. `rebalanced` lists what reweights or resamples classes (None if only
    predictions are known), and `recalibrated` says that the model is calibrated after that.
    `fitted_parts` are not fitted in any split. `n_features` is the largest number of features after
    the steps, None for a finished model. `coefficients` are those of a linear final model, and
    `unscaled` says that they are in the units of the columns although a step scales these.
    """

    steps: tuple[str, ...]
    setting: str
    response: Response
    n_settings: int = 1
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
    """The splits that chose and that tested, and the relation of tested and training rows.

    `n_tested` rows were tested, with class counts `tested_counts`; None means all rows. `n_cut`
    rows were tested by models that were trained on other rows of their group. `corrected` is the
    number of bootstrap samples that corrected the performance for optimism.
    """

    chosen_by: str
    tested_by: str
    tested_on: TestedOn = ""
    n_tested: int | None = None
    tested_counts: Mapping[str, int] = field(default_factory=dict)
    n_cut: int = 0
    corrected: int = 0

    @property
    def finished(self) -> bool:
        """True if a finished model was tested, and nothing was fitted."""
        return self.tested_on == "others"


@frozen(kw_only=True)
class StudyResults:
    """The measures of performance, overall and by subgroup, and the sample sizes they require.

    `by_level` says for each loss of subgroups whether a level has an interval, and `shrunken` are
    the columns whose losses are shrunken to their mean. `updating` describes the gain from an
    update of a finished model. `n_needed` is the number of rows that the criteria of Riley et al.
    require for a regression with one parameter per feature and the honest R²; it is None if y has
    no event class, or if R² is not above 0. `n_to_validate` is the number of rows required for
    narrow intervals of the honest AUC and of calibration.
    """

    measures: tuple[Rated, ...] = ()
    confidence_level: float = 0.95
    subgroups: tuple[str, ...] = ()
    by_level: Mapping[str, bool] = field(default_factory=dict)
    shrunken: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    stability: PredictionStability | None = None
    updating: str | None = None
    n_needed: int | None = None
    n_to_validate: int | None = None


@frozen(kw_only=True)
class StudySoftware:
    """The seed, and the versions of the packages that were used."""

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


def _class_counts(held: HeldOut, first: np.ndarray, counted: Any = True) -> dict[str, int]:
    """Count the rows of each class by its label; `first` is the first prediction of each row."""
    names = [] if held.classes is None else map(str, held.classes.tolist())
    truth = held.truth[first]
    return {name: int(np.sum(counted & (truth == code))) for code, name in enumerate(names)}


def _tested_on(run: HonestRun, plan: Plan, n_cut: int) -> TestedOn:
    """Return how the splits relate tested and training rows, judged by times before places."""
    data = run.problem.data
    if run.finished:
        return "others"
    if data.time is not None:
        return "among" if len(leaks_of(data, plan, "late")["late"]) else "later"
    if data.block is None:
        return "below" if order_of(plan) is not None and _falls(plan) else ""
    if data.places is None:  # Labels are groups: a row may be next to one with another label.
        return "" if n_cut else "apart"
    if run.testing.outer_method.respects_space:
        return "apart"
    leaks = leaks_of(data, plan, "near")
    return "near" if 2 * len(leaks["near"]) > len(leaks["apart"]) else ""


def _falls(plan: Plan) -> bool:
    """Return True if every tested row is below all its training rows in the table."""
    return all(
        plan.train_rows(int(plan.fit[q]))[0][-1] < plan.test_rows(q)[0][0]
        for q in range(plan.n_questions)
    )


SHOWN = ("truerisk", "sklearn", "numpy", "python")


def facts_of(
    run: HonestRun,
    held: HeldOut,
    parts: Mapping[str, Any],
    subgroups: Subgroups | None,
    stability: ModelStability | None,
    samples: Resampled | None,
    horizon: float | None,
) -> StudyFacts:
    """Collect the facts from the run, its held-out predictions and the parts of the validation."""
    model = run.model if run.finished else run.problem.family.make(run.best)
    rows = _rows_of(run, held, parts, given=isinstance(model, Updated))
    of_model = _model_of(run, model, rows)
    times = None if horizon is None else FollowUp.until(horizon, run.problem.data.y)
    results = _results_of(run, parts, subgroups, stability)
    rated = [parts[name] for name in ("discrimination", "calibration") if name in parts]
    honest = {label: one.honest for part in rated for label, one in part.measures.items()}
    r2 = honest.get("explained" if rows.share is None else "r2")
    versions = {name: run.risk.versions[name] for name in SHOWN if name in run.risk.versions}
    return StudyFacts(
        rows=rows,
        model=of_model,
        testing=_testing_of(run, held, n_samples=0 if samples is None else len(samples.times)),
        results=replace(
            results,
            n_needed=rows_needed(of_model.n_features, rows.share, r2, times),
            n_to_validate=rows_to_test(rows.share, honest.get("auc")),
        ),
        software=StudySoftware(seed=run.problem.seed, versions=versions | releases_of(model)),
    )


def _rows_of(run: HonestRun, held: HeldOut, parts: Mapping[str, Any], *, given: bool) -> StudyRows:
    """Count the rows, their classes and their missing cells.

    X is unknown if predictions are `given`.
    """
    data, counts, n_lost = run.problem.data, run.problem.class_counts, None
    gaps = None if given else gaps_in(data.X)
    event = visible(parts["discrimination"].event) if "discrimination" in parts else None
    share = None if event is None or not counts else counts[event] / data.n_rows
    if data.task == "survival":
        first = np.unique(held.rows, return_index=True)[1]
        weights = np.ones(len(first)) if held.weights is None else held.weights[first]
        counts, n_lost = _class_counts(held, first, weights > 0), int((weights == 0).sum())
        share = float(weights @ (held.truth[first] == 1) / weights.sum())
    return StudyRows(
        n_rows=data.n_rows,
        n_columns=None if given else n_columns(data.X),
        class_counts=counts,
        event=event,
        share=share,
        n_lost=n_lost,
        n_gaps=None if gaps is None else int(gaps.sum()),
        n_rows_with_gaps=None if gaps is None else int(gaps.any(axis=1).sum()),
        n_groups=None if data.groups is None else len(np.unique(data.groups)),
        dependent=data.dependent,
        weighted=data.sample_weight is not None,
    )


def _model_of(run: HonestRun, model: Any, rows: StudyRows) -> StudyModel:
    """Describe the model that was tested, or the finished one."""
    family, data = run.problem.family, run.problem.data
    given = isinstance(model, Updated)  # Only the predictions are known.
    n_features, lines = None, {}
    # A finished model is not fitted, so that its features need not be counted.
    if not run.finished:
        n_features = n_features_made(model, data.X, data.y if data.codes is None else data.codes)
    if run.model is not None:
        first = rows.event == next(iter(rows.class_counts), "")
        lines = coefficients_of(run.model, data.X, of_first_class=first)
    return StudyModel(
        steps=GIVEN if given else steps_of(model),
        setting=formats.params_text(family.candidates[run.best]),
        response=next(one for one in BEST_FIRST if one in run.answers),
        n_settings=len(family),
        tunes_inside=not run.finished and tunes_inside(family),
        imputed=imputes(model),
        selects=any(hasattr(one, "get_support") for one in inside(model)),
        rebalanced=None if given else rebalanced_by(model),
        recalibrated=recalibrated(model),
        fitted_parts=() if run.finished else tuple(parts_that_stay_fitted(family)),
        n_features=n_features,
        coefficients=lines,
        unscaled=run.model is not None and scaler_of(run.model) is not None,
    )


def _testing_of(run: HonestRun, held: HeldOut, n_samples: int) -> StudyTesting:
    """Describe which splits tested which rows."""
    select_by, plan = run.problem.select_by, run.answered.answers[0].plan
    assert select_by is not None
    first = np.unique(held.rows, return_index=True)[1]
    n_cut = len(leaks_of(run.problem.data, plan, "groups")["groups"])
    return StudyTesting(
        chosen_by=select_by.name,
        tested_by=run.testing.name,
        tested_on=_tested_on(run, plan, n_cut),
        n_tested=len(first),
        tested_counts=_class_counts(held, first),
        n_cut=n_cut,
        corrected=n_samples,
    )


def _results_of(
    run: HonestRun,
    parts: Mapping[str, Any],
    subgroups: Subgroups | None,
    stability: ModelStability | None,
) -> StudyResults:
    """Collect the measures of all rows and those of subgroups."""
    by_level = () if subgroups is None else subgroups.risks
    levels = {one.scoring: one.levels for one in by_level}
    shrunken = (
        level.subgroup.column
        for each in levels.values()
        for level in each
        if level.shrunken is not None
    )
    return StudyResults(
        measures=_reported_measures(run, parts),
        confidence_level=run.problem.confidence_level,
        subgroups=() if subgroups is None else subgroups.columns,
        by_level={
            loss: any(level.interval is not None for level in each) for loss, each in levels.items()
        },
        shrunken=tuple(dict.fromkeys(shrunken)),
        too_small=() if subgroups is None else subgroups.too_small,
        stability=None if stability is None else stability.predictions,
        updating=parts["updating"].sentence if "updating" in parts else None,
    )


RANKS = {"auc": "AUC", "average-precision": "average precision"}
ERRORS = {"brier": "Brier score", "squared": "squared error"}
LINE = {"slope": SLOPE, "in-the-large": "in-the-large"}
POINTWISE = "pointwise"


def _reported_measures(run: HonestRun, parts: Mapping[str, Any]) -> tuple[Rated, ...]:
    """Return the loss of the search, and the measures of the parts that have a value."""
    loss, risk = run.problem.loss, run.risk
    plain = loss.name if loss.is_score else f"{loss.name} loss"
    name = {**ERRORS, **RANKS}.get(loss.name, plain)
    first = Rated.with_interval(risk.interval, name, "", value=risk.value)
    others = (one for part in parts.values() for one in _of_part(part))
    return (first, *(one for one in others if one.name != first.name))


def _of_part(part: Any) -> Iterator[Rated]:
    if isinstance(part, Discrimination):
        yield from _measured(part, RANKS, "discrimination")
    elif isinstance(part, SmoothCalibration):
        yield from _measured(part, LINE, "calibration")
        if part.curve is not None:
            band = None if part.curve.low is None else POINTWISE
            yield Rated(CURVE, "calibration", band)
        yield from _measured(part, ERRORS, "")
    elif isinstance(part, NetBenefit):
        yield _benefit(part)


def _measured(
    part: Discrimination | SmoothCalibration, names: Mapping[str, str], title: str
) -> Iterator[Rated]:
    for label, name in names.items():
        one = part.measures.get(label)
        if one is not None and one.honest is not None:
            values = {"value": one.honest, "corrected": one.corrected}
            values["of_final_model"] = one.of_final_model
            yield Rated.with_interval(one.interval, name, title, **values)


def _benefit(part: NetBenefit) -> Rated:
    """Return the net benefit curve, or its value if a single threshold was chosen."""
    band = None if part.low is None else POINTWISE
    if len(part.thresholds) > 1:
        return Rated("net benefit", interval=band)
    low, high = part.low, part.high
    ends = None if low is None or high is None else (float(low[0]), float(high[0]))
    name = f"net benefit from a probability of {part.thresholds[0]:.15g} on"
    everybody = f" (of treating all {rounded(part.treat_all[0])})"
    final = None if part.of_final_model is None else float(part.of_final_model[0])
    return Rated(name + everybody, "", band, float(part.honest[0]), ends, of_final_model=final)
