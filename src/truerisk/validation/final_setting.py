r"""Calibration line of the final model, if some folds chose other settings than it has.

A tuned model is fitted in every fold with the setting that won in that fold. Losses such as
zero-one and 1 − AUC hardly depend on how far a model shrinks its predictions towards their mean,
so that settings of very different shrinkage win in turn. The slope of the pooled held-out
predictions is then a mixture over these settings, whereas a user applies one model, whose setting
is known. `benchmarks/calibration/tuned_slopes.py` counts how seldom the interval of the pooled
slope covers the slope of the final model.

The interval of the final model therefore rests on models with *its* setting: these are fitted in
every fold, and without each two folds, and the line, its sandwich variance and the jackknife over
folds are computed from their held-out predictions. So are the intervals of net benefit. The choice
of the setting does not enter the variance. That is right as far as the choice says nothing about
the slope at a given setting; the table in `docs/validation-formulas.md` shows how often the
interval covers the slope of the final model.

Where the two lines disagree, the held-out slope does not describe the final model, and no interval
is reported: see `slope_disagreement_reason`. Models that tune inside their own fit show no setting.
For them the spread of the predictions is compared between folds: see `uneven_spread_reason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.methods.parts.procedure import candidate_of_each_fit
from truerisk.results.interval import Interval, t_quantile
from truerisk.validation.calibration_fits import IDENTITY, Link
from truerisk.validation.honest import HonestRun
from truerisk.validation.measures import SANDWICH, SANDWICH_PAIRS, SANDWICH_SETTING
from truerisk.validation.outcomes import HeldOut, Outcomes
from truerisk.validation.profile import FoldJackknife

MAX_RATIO = 2.0  # largest ratio of slopes, or of spreads of predictions, of similar models
FAILED_FIT_REASON = (
    "some folds chose other settings than the final model, and a fit of its setting failed in a "
    "fold, so that slope and intercept of the final model are not known."
)
TUNING_ADVICE = "Tune by a loss that rates {}, such as scoring={}, which bounds the shrinkage."


def with_final_setting(run: HonestRun, request: Request) -> HonestRun | None:
    """Fit the final model's setting in every fold, and return the run with the new predictions.

    Return None if every fold chose that setting, so that the run has these predictions already.
    Raise Refusal if one of the fits fails.
    """
    if run.has_finished_model or (run.winners == run.best_candidate).all():
        return None
    plan, final_setting_winners = (
        run.answered_rows.answers[0].plan,
        np.full_like(run.winners, run.best_candidate),
    )
    predictions = run.problem.create_refit_asking().answers(
        plan, request, candidate_of_each_fit(plan, final_setting_winners)
    )
    if not predictions.answered.all():
        raise Refusal(FAILED_FIT_REASON)
    answered_rows = replace(run.answered_rows, answers=(predictions,), candidate=0)
    return replace(
        run, answered_rows=answered_rows, winners=final_setting_winners, pair_predictions=None
    )


@frozen(eq=False)
class SettingMeasures:
    """Calibration measures of models with one setting on held-out rows, and their intervals.

    `outcomes` are the predictions of these models, `measure_names` the names of the measures and
    `values` their values. `std_errors` are the sandwich standard errors of slope and intercepts.
    `needs_jackknife` says that the interval adds the variance between folds;
    `missing_jackknife_reason` says why that variance is unknown.
    """

    outcomes: Outcomes
    measure_names: tuple[str, ...]
    values: np.ndarray
    std_errors: Mapping[str, float]
    jackknife: FoldJackknife | None
    needs_jackknife: bool
    missing_jackknife_reason: str = "."

    def interval(
        self, label: str, confidence_level: float, *, of_setting: bool = True
    ) -> Interval | None:
        """Return the interval of a measure of the final model, or None if it is unknown."""
        if label not in self.std_errors or (self.needs_jackknife and self.jackknife is None):
            return None
        index = self.measure_names.index(label)
        center, variance = self.values[index], self.std_errors[label] ** 2
        name = SANDWICH_SETTING if of_setting else SANDWICH
        if self.jackknife is not None:
            center = self.jackknife.extrapolated_values[index]
            variance = variance + self.jackknife.variance[index]
            name = SANDWICH_PAIRS
        if not np.isfinite(center + variance):
            return None
        half_width = (
            t_quantile(confidence_level, self.outcomes.degrees_of_freedom) * float(variance) ** 0.5
        )
        return Interval(
            float(center) - half_width, float(center) + half_width, name, confidence_level
        )


def slope_disagreement_reason(
    pooled_slope: float,
    setting_slope: float,
    interval: Interval,
    apparent_slope: float | None,
    link: Link,
) -> str | None:
    """Return why the held-out slope does not describe the final model, or None if it may.

    `pooled_slope` is the slope of the held-out predictions of the tuning procedure, `setting_slope`
    the slope of predictions by models with the final model's setting, which `interval` is around.
    They disagree if they differ by more than a factor of 2, or in sign, or if `pooled_slope` lies
    outside the interval.
    """
    smaller_slope, larger_slope = sorted((pooled_slope, setting_slope))
    if smaller_slope > 0 and larger_slope <= MAX_RATIO * smaller_slope and pooled_slope in interval:
        return None
    training_rows_text = (
        ""
        if apparent_slope is None
        else f", and {format_number(apparent_slope, 2)} on its own training rows"
    )
    return (
        f"the folds chose settings that shrink predictions by different amounts: the slope is "
        f"{format_number(pooled_slope, 2)} over their held-out predictions, "
        f"{format_number(setting_slope, 2)} "
        f"over those of models with the final model's setting{training_rows_text}. No interval is "
        "stated for "
        f"slope and intercept. {_advice(link)}"
    )


def uneven_spread_reason(
    outcomes: Outcomes, held_out: HeldOut, final_model_outcomes: Outcomes | None
) -> str | None:
    """Return why a slope does not describe a final model that tunes inside its fit, or None.

    The standard deviation of the predictions (of the log-odds of probabilities) is inversely
    proportional to the slope. It is compared between the models of the folds, each on its held-out
    rows, and the final model on its own training rows (`final_model_outcomes`). `MAX_RATIO` allows
    for the noise of few rows.
    """
    has_weight = (
        np.ones(len(held_out.fit), bool) if held_out.weights is None else held_out.weights > 0
    )
    fit_of_row = held_out.fit[has_weight]
    predictions_by_model = [
        outcomes.linear_predictions[fit_of_row == fit_number]
        for fit_number in np.unique(fit_of_row)
    ]
    predictions_by_model += (
        [] if final_model_outcomes is None else [final_model_outcomes.linear_predictions]
    )
    prediction_stds = np.array(
        [
            predictions.std()
            for predictions in predictions_by_model
            if np.isfinite(predictions).all()
        ]
    )
    if len(prediction_stds) < 2 or prediction_stds.max() <= MAX_RATIO * prediction_stds.min():
        return None
    scale_name = "predictions" if outcomes.link is IDENTITY else "log-odds"
    return (
        f"the models of the folds and the final model shrink predictions by different amounts: the "
        f"standard deviation of their {scale_name} is from "
        f"{format_number(float(prediction_stds.min()), 2)} to "
        f"{format_number(float(prediction_stds.max()), 2)}. No interval is stated for slope and "
        "intercept. "
        f"{_advice(outcomes.link)}"
    )


def _advice(link: Link) -> str:
    """Return the advice to tune by a loss that bounds the shrinkage of the predictions."""
    if link is IDENTITY:
        return TUNING_ADVICE.format("values", "'squared'")
    return TUNING_ADVICE.format("probabilities", "'log' or 'brier'")
