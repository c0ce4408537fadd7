"""`plan_validation`: compute the number of rows to validate a prediction model in other people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.arguments import check_level, check_number, is_number, mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.planning import model_size
from truerisk.planning.plan_model import (
    RowsNeeded,
    SizeCriterion,
    check_anticipated_values,
    check_events_per_person,
    check_is_share,
    check_sd_ratio,
)
from truerisk.planning.survival_size import TimesToEvent

REQUIRED_QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "binary": ("prevalence", "auc"),
    "continuous": ("r2", "sd", "mean_width"),
    "time-to-event": ("rate", "horizon", "follow_up", "concordance"),
}
"""Quantities that have to be anticipated for each kind of outcome."""

OPTIONAL_QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "binary": (
        *("linear_predictor", "threshold", "sensitivity", "specificity"),
        *("oe_width", "auc_width", "benefit_width"),
    ),
    "continuous": ("r2_width", "ratio"),
    "time-to-event": ("oe_width", "concordance_width"),
}
"""Further options for each kind of outcome."""

LARGEST_WIDTHS = {
    "slope_width": 100,
    "oe_width": 100,
    "auc_width": 1,
    "benefit_width": 1,
    "r2_width": 1,
    "concordance_width": 1,
}
"""The largest interval widths that can be requested."""

# The linear predictor implies a prevalence and an AUC of the model.
# A note is added if an anticipated value differs from the implied one by more than this share.
MAX_RELATIVE_DIFFERENCE = 0.05
# By the horizon, at least this share of people must have had the event, and be still followed.
SMALLEST_SHARE = 1e-6


def plan_validation(
    outcome: str = "binary",
    *,
    prevalence: float | None = None,
    auc: float | None = None,
    linear_predictor: tuple[float, float] | None = None,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    r2: float | None = None,
    sd: float | None = None,
    rate: float | None = None,
    horizon: float | None = None,
    follow_up: float | None = None,
    concordance: float | None = None,
    slope_width: float = 0.2,
    oe_width: float | None = None,
    auc_width: float | None = None,
    benefit_width: float | None = None,
    r2_width: float | None = None,
    mean_width: float | None = None,
    ratio: float | None = None,
    concordance_width: float | None = None,
    confidence_level: float = 0.95,
) -> RowsNeeded:
    """Compute how many rows it takes to validate a model in other people.

    With this number the intervals of the performance measures of a well calibrated model are at
    most as wide as requested. For a binary outcome these are the ratio of observed and expected
    events, the calibration slope, the AUC and the net benefit (Riley et al., 2021); for a
    continuous outcome R², the mean error (calibration in the large), the calibration slope and the
    residual standard deviation (Archer et al., 2021); for a time to an event the ratio of observed
    and expected events by the horizon, the slope of a Cox model and Harrell's C (as in Riley et
    al., 2022, who simulate and whose slope is that of pseudo-observations at the horizon).

    Parameters
    ----------
    outcome : {"binary", "continuous", "time-to-event"}, default="binary"
        The type of the outcome.
    prevalence : float, optional
        For a binary outcome: the share of people with the event.
    auc : float, optional
        For a binary outcome: the expected AUC.
    linear_predictor : tuple of float, optional
        The mean and the standard deviation of the log odds that the model predicts, if they are
        known and about normal. By default they are assumed to be normal among people with the event
        and among those without, with the given AUC and prevalence.
    threshold : float, optional
        The probability from which on people are treated. If it is given, the standardised net
        benefit is planned as well.
    sensitivity : float, optional
        The expected sensitivity at the threshold. By default it follows from the linear predictor.
    specificity : float, optional
        The expected specificity at the threshold. By default it follows from the linear predictor.
    r2 : float, optional
        For a continuous outcome: the expected R².
    sd : float, optional
        For a continuous outcome: its standard deviation.
    rate : float, optional
        For a time to an event: the mean number of events per person and unit of time.
    horizon : float, optional
        For a time to an event: the time up to which the model predicts risks.
    follow_up : float, optional
        For a time to an event: the mean time for which people are followed. Hazards and censoring
        are assumed to be constant in time.
    concordance : float, optional
        For a time to an event: the expected concordance, Harrell's C. The linear predictor is
        assumed to be normal.
    slope_width : float, default=0.2
        The width of the interval of the calibration slope.
    oe_width : float, optional
        The width of the interval of the ratio of observed and expected events, .2 by default.
    auc_width : float, optional
        The width of the interval of the AUC, .1 by default.
    benefit_width : float, optional
        The width of the interval of the net benefit, .2 by default.
    r2_width : float, optional
        The width of the interval of R², .1 by default.
    mean_width : float, optional
        The width of the interval of the mean error, in the unit of the outcome.
    ratio : float, optional
        The largest acceptable factor between the residual standard deviation and the limits of its
        interval, 1.1 by default.
    concordance_width : float, optional
        The width of the interval of Harrell's C, .1 by default.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals.

    Returns
    -------
    RowsNeeded
        The number of rows by each criterion; ``n`` is the largest of these numbers.

    See Also
    --------
    plan_development : Plan the number of rows to develop a regression model.
    validate : Validate a model.

    References
    ----------
    Riley RD et al. (2021). Minimum sample size for external validation of a clinical prediction
    model with a binary outcome. Statistics in Medicine 40:4230–4251.

    Archer L et al. (2021). Minimum sample size for external validation of a clinical prediction
    model with a continuous outcome. Statistics in Medicine 40:133–146.

    Riley RD et al. (2022). Minimum sample size for external validation of a clinical prediction
    model with a time-to-event outcome. Statistics in Medicine 41:1280–1295.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_validation(prevalence=0.1, auc=0.75, linear_predictor=(-2.5, 1)).n
    5614
    >>> tr.plan_validation("continuous", r2=0.5, sd=20, mean_width=10).n
    769
    >>> tr.plan_validation("time-to-event", rate=0.1, horizon=5, follow_up=4, concordance=0.72).n
    1598
    """
    binary_quantities: dict[str, Any] = {
        "prevalence": prevalence,
        "auc": auc,
        "linear_predictor": linear_predictor,
        "threshold": threshold,
        "sensitivity": sensitivity,
        "specificity": specificity,
        "oe_width": oe_width,
        "auc_width": auc_width,
        "benefit_width": benefit_width,
    }
    continuous_quantities: dict[str, Any] = {
        "r2": r2,
        "sd": sd,
        "r2_width": r2_width,
        "mean_width": mean_width,
        "ratio": ratio,
    }
    survival_quantities: dict[str, Any] = {
        "rate": rate,
        "horizon": horizon,
        "follow_up": follow_up,
        "concordance": concordance,
        "oe_width": oe_width,
        "concordance_width": concordance_width,
    }
    all_quantities = binary_quantities | continuous_quantities | survival_quantities
    check_anticipated_values(outcome, all_quantities, REQUIRED_QUANTITIES, OPTIONAL_QUANTITIES)
    check_level("confidence_level", confidence_level)
    plan_by_outcome: dict[str, tuple[dict[str, Any], Callable[..., PlannedRows]]] = {
        "binary": (binary_quantities, _rows_for_binary),
        "continuous": (continuous_quantities, _rows_for_continuous),
        "time-to-event": (survival_quantities, _rows_for_times),
    }
    relevant_quantities, compute_rows = plan_by_outcome[outcome]
    given_quantities = {"slope_width": slope_width} | {
        name: value for name, value in relevant_quantities.items() if value is not None
    }
    for name in (name for name in given_quantities if name in LARGEST_WIDTHS):
        requirement = f"use the width of an interval, above 0 and {LARGEST_WIDTHS[name]} at most"
        check_number(name, given_quantities[name], 1e-6, LARGEST_WIDTHS[name], requirement)
    n_rows_by_criterion, anticipated_values, notes = compute_rows(
        confidence_level, **given_quantities
    )
    n_rows = max(n_rows_by_criterion.values())
    events_per_row = rate * follow_up if rate is not None and follow_up is not None else prevalence
    return RowsNeeded(
        purpose="validation",
        outcome=outcome,
        n=n_rows,
        criteria=tuple(map(SizeCriterion, n_rows_by_criterion, n_rows_by_criterion.values())),
        assumed=anticipated_values,
        confidence_level=confidence_level,
        events=None if events_per_row is None else n_rows * events_per_row,
        notes=tuple(notes),
    )


PlannedRows = tuple[dict[str, int], dict[str, float], list[str]]
"""Numbers of rows by criterion, the anticipated quantities, and notes."""


def _rows_for_binary(
    confidence_level: float,
    *,
    prevalence: float,
    auc: float,
    slope_width: float,
    linear_predictor: tuple[float, float] | None = None,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    oe_width: float = model_size.DEFAULT_WIDTH,
    auc_width: float = model_size.AUC_AND_R2_WIDTH,
    benefit_width: float | None = None,
) -> PlannedRows:
    if auc <= 0.5:
        raise BadArgument(f"{mention('auc', auc)}: a model is better than chance, .5.")
    anticipated_values = {"prevalence": float(prevalence), "auc": float(auc)}
    notes: list[str] = []
    log_odds_distribution = model_size.LinearPredictor.from_auc(auc, prevalence)
    if linear_predictor is not None:
        log_odds_distribution = model_size.LinearPredictor.from_normal(
            *_mean_and_sd(linear_predictor)
        )
    # An invalid linear predictor raises an error here, before its prevalence and AUC are computed.
    slope_std_error = log_odds_distribution.slope_std_error()
    if linear_predictor is not None:
        implied_and_anticipated = {
            "prevalence": (log_odds_distribution.prevalence, prevalence),
            "AUC": (log_odds_distribution.auc, auc),
        }
        notes = [
            f"a calibrated model with this linear predictor has {measure_name} "
            f"{implied_value:.3g}, not {anticipated_value:.15g}."
            for measure_name, (implied_value, anticipated_value) in implied_and_anticipated.items()
            if abs(implied_value - anticipated_value) > MAX_RELATIVE_DIFFERENCE * anticipated_value
        ]
    normal_quantile = model_size.normal_quantile(confidence_level)
    interval_widths = {"oe_width": oe_width, "slope_width": slope_width, "auc_width": auc_width}
    criteria_texts = [
        f"observed over expected events: an interval no wider than {oe_width:.15g}",
        f"calibration slope: no wider than {slope_width:.15g}",
        f"AUC: no wider than {auc_width:.15g}",
    ]
    row_counts = model_size.rows_to_validate(
        prevalence, auc, slope_std_error, normal_quantile, **interval_widths
    )
    rows_by_criterion = dict(zip(criteria_texts, row_counts, strict=True))
    if threshold is not None:
        check_is_share("threshold", threshold)
        rates_at_threshold = dict(
            zip(
                ("sensitivity", "specificity"),
                log_odds_distribution.sensitivity_and_specificity(threshold),
                strict=True,
            )
        )
        for rate_name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
            if value is not None:
                check_is_share(rate_name, value)
                rates_at_threshold[rate_name] = float(value)
        net_benefit, benefit_std_error = model_size.net_benefit_and_std_error(
            prevalence, threshold, *rates_at_threshold.values()
        )
        benefit_width = model_size.DEFAULT_WIDTH if benefit_width is None else benefit_width
        criterion_text = (
            f"standardised net benefit from {threshold:.15g} on: no wider than {benefit_width:.15g}"
        )
        rows_by_criterion[criterion_text] = model_size.rows_for_std_error(
            benefit_std_error, benefit_width / (2 * normal_quantile)
        )
        anticipated_values |= {
            "threshold": float(threshold),
            **rates_at_threshold,
            "standardised net benefit": net_benefit,
        }
    elif not sensitivity is specificity is benefit_width is None:
        raise UnknownName(
            f"{mention('threshold')} is missing, of which {mention('sensitivity')}, "
            f"{mention('specificity')} and {mention('benefit_width')} are."
        )
    return rows_by_criterion, anticipated_values, notes


def _rows_for_continuous(
    confidence_level: float,
    *,
    r2: float,
    sd: float,
    mean_width: float,
    slope_width: float,
    r2_width: float = model_size.AUC_AND_R2_WIDTH,
    ratio: float = model_size.MAX_SD_RATIO,
) -> PlannedRows:
    check_sd_ratio(ratio)
    width_per_std_error = 2 * model_size.normal_quantile(confidence_level)
    # Each entry holds the standard error for one row, and the requested width of the interval.
    # Wishart's formula gives the standard error of R², and least squares that of the slope.
    std_errors_and_widths = {
        f"R²: an interval no wider than {r2_width:.15g}": (2 * math.sqrt(r2) * (1 - r2), r2_width),
        f"the mean error: no wider than {mean_width:.15g}": (sd * math.sqrt(1 - r2), mean_width),
        f"calibration slope: no wider than {slope_width:.15g}": (
            math.sqrt((1 - r2) / r2),
            slope_width,
        ),
    }
    rows_by_criterion = {
        name: model_size.rows_for_std_error(std_error_of_one_row, width / width_per_std_error)
        for name, (std_error_of_one_row, width) in std_errors_and_widths.items()
    }
    # One more row is needed because the calibration line has an intercept.
    rows_by_criterion[f"calibration slope: no wider than {slope_width:.15g}"] += 1
    rows_for_residuals = model_size.rows_for_residuals(1, ratio, (1 - confidence_level) / 2)
    rows_by_criterion[f"the residual standard deviation known to a factor of {ratio:.15g}"] = (
        rows_for_residuals
    )
    return rows_by_criterion, {"r2": float(r2), "sd": float(sd)}, []


def _rows_for_times(
    confidence_level: float,
    *,
    rate: float,
    horizon: float,
    follow_up: float,
    concordance: float,
    slope_width: float,
    oe_width: float = model_size.DEFAULT_WIDTH,
    concordance_width: float = model_size.AUC_AND_R2_WIDTH,
) -> PlannedRows:
    if concordance <= 0.5:
        raise BadArgument(
            f"{mention('concordance', concordance)}: a model is better than .5, so use a larger "
            "number."
        )
    check_events_per_person(rate, follow_up)
    times = TimesToEvent.from_concordance(concordance, rate, follow_up)
    risk, followed = times.risk_by(horizon), math.exp(-times.censoring * horizon)
    if not (followed * (1 - risk) > SMALLEST_SHARE and risk > SMALLEST_SHARE):
        raise Refusal(
            f"by {mention('horizon', horizon)}, nobody has had the event or nobody is still "
            "followed: use a horizon nearer to the mean follow-up."
        )
    z = model_size.normal_quantile(confidence_level)
    rows_for = model_size.rows_for_std_error
    rows_by_criterion = {
        f"observed over expected events by {horizon:.15g}: an interval no wider than "
        f"{oe_width:.15g}": rows_for(
            times.log_ratio_std_error(horizon), math.asinh(oe_width / 2) / z
        ),
        f"slope of a Cox model: no wider than {slope_width:.15g}": rows_for(
            times.slope_std_error(), slope_width / (2 * z)
        ),
        f"Harrell's C: no wider than {concordance_width:.15g}": rows_for(
            times.concordance_std_error(), concordance_width / (2 * z)
        ),
    }
    anticipated_values = {
        "rate": float(rate),
        "horizon": float(horizon),
        "follow_up": float(follow_up),
        "concordance": float(concordance),
        "risk by the horizon": risk,
        "standard deviation of the linear predictor": times.sd,
    }
    return rows_by_criterion, anticipated_values, []


def _mean_and_sd(linear_predictor: Any) -> tuple[float, float]:
    try:
        mean, sd = linear_predictor
    except (TypeError, ValueError):
        mean = sd = None
    if not (is_number(mean) and is_number(sd) and abs(mean) < 100 and 0 < sd < 100):
        raise BadArgument(
            f"{mention('linear_predictor', linear_predictor)}: give the mean and the standard "
            "deviation of the log odds, such as (-2.5, 1)."
        )
    return float(mean), float(sd)
