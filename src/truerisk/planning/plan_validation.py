"""`plan_validation`: how many rows it takes to validate a prediction model in other people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from truerisk.core.arguments import check_level, check_number, is_number, mention
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.planning import model_size
from truerisk.planning.plan_model import (
    RowsNeeded,
    SizeCriterion,
    check_foreseen,
    check_inside,
    check_ratio,
)

NEEDS: Mapping[str, tuple[str, ...]] = {
    "binary": ("prevalence", "auc"),
    "continuous": ("r2", "sd", "mean_width"),
}
"""What is foreseen of each kind of outcome."""

MAY: Mapping[str, tuple[str, ...]] = {
    "binary": (
        *("linear_predictor", "threshold", "sensitivity", "specificity"),
        *("oe_width", "auc_width", "benefit_width"),
    ),
    "continuous": ("r2_width", "ratio"),
}
"""What else one may say of it."""

WIDTHS = {"slope_width": 100, "oe_width": 100, "auc_width": 1, "benefit_width": 1, "r2_width": 1}
"""The widest intervals that can be asked for."""

APART = 0.05  # of a prevalence or an AUC: what is foreseen and what a linear predictor says


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
    slope_width: float = 0.2,
    oe_width: float | None = None,
    auc_width: float | None = None,
    benefit_width: float | None = None,
    r2_width: float | None = None,
    mean_width: float | None = None,
    ratio: float | None = None,
    confidence_level: float = 0.95,
) -> RowsNeeded:
    """Compute how many rows it takes to validate a model in other people.

    With this number the intervals of the performance measures of a well calibrated model are at
    most as wide as requested. For a binary outcome these are the ratio of observed and expected
    events, the calibration slope, the AUC and the net benefit (Riley et al., 2021); for a
    continuous outcome R², the mean error (calibration in the large), the calibration slope and the
    residual standard deviation (Archer et al., 2021).

    Parameters
    ----------
    outcome : {"binary", "continuous"}, default="binary"
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
        The probability from which on one acts. If it is given, the standardised net benefit is
        planned as well.
    sensitivity : float, optional
        The expected sensitivity at the threshold. By default it follows from the linear predictor.
    specificity : float, optional
        The expected specificity at the threshold. By default it follows from the linear predictor.
    r2 : float, optional
        For a continuous outcome: the expected R².
    sd : float, optional
        For a continuous outcome: its standard deviation.
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
    confidence_level : float, default=0.95
        The nominal coverage of the intervals.

    Returns
    -------
    RowsNeeded
        The number of rows by each criterion; ``n`` is the largest of them.

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

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_validation(prevalence=0.1, auc=0.75, linear_predictor=(-2.5, 1)).n
    5614
    >>> tr.plan_validation("continuous", r2=0.5, sd=20, mean_width=10).n
    769
    """
    of_classes: dict[str, Any] = {
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
    of_numbers: dict[str, Any] = {
        "r2": r2,
        "sd": sd,
        "r2_width": r2_width,
        "mean_width": mean_width,
        "ratio": ratio,
    }
    check_foreseen(outcome, of_classes | of_numbers, NEEDS, MAY)
    check_level("confidence_level", confidence_level)
    mine = of_classes if outcome == "binary" else of_numbers
    given = {"slope_width": slope_width} | {
        n: value for n, value in mine.items() if value is not None
    }
    for name in (name for name in given if name in WIDTHS):
        wanted = f"use the width of an interval, above 0 and {WIDTHS[name]} at most"
        check_number(name, given[name], 1e-6, WIDTHS[name], wanted)
    planned = _of_classes if outcome == "binary" else _of_numbers
    sizes, foreseen, notes = planned(confidence_level, **given)
    n = max(sizes.values())
    return RowsNeeded(
        purpose="validation",
        outcome=outcome,
        n=n,
        criteria=tuple(map(SizeCriterion, sizes, sizes.values())),
        assumed=foreseen,
        confidence_level=confidence_level,
        events=None if prevalence is None else n * prevalence,
        notes=tuple(notes),
    )


Planned = tuple[dict[str, int], dict[str, float], list[str]]
"""Rows by what shall hold, what was foreseen, and notes."""


def _of_classes(
    level: float,
    *,
    prevalence: float,
    auc: float,
    slope_width: float,
    linear_predictor: tuple[float, float] | None = None,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    oe_width: float = model_size.WIDTH,
    auc_width: float = model_size.NARROW,
    benefit_width: float | None = None,
) -> Planned:
    if auc <= 0.5:
        raise BadArgument(f"{mention('auc', auc)}: a model is better than chance, .5.")
    foreseen = {"prevalence": float(prevalence), "auc": float(auc)}
    notes: list[str] = []
    scores = model_size.LinearPredictor.of_auc(auc, prevalence)
    if linear_predictor is not None:
        scores = model_size.LinearPredictor.normal(*_mean_and_sd(linear_predictor))
    slope_error = scores.slope_error()  # refuses one that is no distribution, before it is rated
    if linear_predictor is not None:
        pairs = {"prevalence": (scores.prevalence, prevalence), "AUC": (scores.auc, auc)}
        notes = [
            f"a calibrated model with this linear predictor has {name} {of:.3g}, not {wanted:.15g}."
            for name, (of, wanted) in pairs.items()
            if abs(of - wanted) > APART * wanted
        ]
    z = model_size.normal_quantile(level)
    widths = {"oe_width": oe_width, "slope_width": slope_width, "auc_width": auc_width}
    criteria_texts = [
        f"observed over expected events: an interval no wider than {oe_width:.15g}",
        f"calibration slope: no wider than {slope_width:.15g}",
        f"AUC: no wider than {auc_width:.15g}",
    ]
    counts = model_size.rows_to_validate(prevalence, auc, slope_error, z, **widths)
    sizes = dict(zip(criteria_texts, counts, strict=True))
    if threshold is not None:
        check_inside("threshold", threshold)
        rates = dict(zip(("sensitivity", "specificity"), scores.rates(threshold), strict=True))
        for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
            if value is not None:
                check_inside(name, value)
                rates[name] = float(value)
        benefit, error = model_size.benefit_error(prevalence, threshold, *rates.values())
        benefit_width = model_size.WIDTH if benefit_width is None else benefit_width
        name = (
            f"standardised net benefit from {threshold:.15g} on: no wider than {benefit_width:.15g}"
        )
        sizes[name] = model_size.rows_for_error(error, benefit_width / (2 * z))
        foreseen |= {"threshold": float(threshold), **rates, "standardised net benefit": benefit}
    elif not sensitivity is specificity is benefit_width is None:
        raise UnknownName(
            f"{mention('threshold')} is missing, of which {mention('sensitivity')}, "
            f"{mention('specificity')} and {mention('benefit_width')} are."
        )
    return sizes, foreseen, notes


def _of_numbers(
    level: float,
    *,
    r2: float,
    sd: float,
    mean_width: float,
    slope_width: float,
    r2_width: float = model_size.NARROW,
    ratio: float = model_size.RATIO,
) -> Planned:
    check_ratio(ratio)
    reach = 2 * model_size.normal_quantile(level)
    errors = {  # of one row: of R² by the formula of Wishart, of the line by least squares
        f"R²: an interval no wider than {r2_width:.15g}": (2 * math.sqrt(r2) * (1 - r2), r2_width),
        f"the mean error: no wider than {mean_width:.15g}": (sd * math.sqrt(1 - r2), mean_width),
        f"calibration slope: no wider than {slope_width:.15g}": (
            math.sqrt((1 - r2) / r2),
            slope_width,
        ),
    }
    sizes = {
        name: model_size.rows_for_error(of_one, width / reach)
        for name, (of_one, width) in errors.items()
    }
    sizes[f"calibration slope: no wider than {slope_width:.15g}"] += 1  # for the line's mean
    residuals = model_size.rows_for_residuals(1, ratio, (1 - level) / 2)
    sizes[f"the residual standard deviation known to a factor of {ratio:.15g}"] = residuals
    return sizes, {"r2": float(r2), "sd": float(sd)}, []


def _mean_and_sd(given: Any) -> tuple[float, float]:
    try:
        mean, sd = given
    except (TypeError, ValueError):
        mean = sd = None
    if not (is_number(mean) and is_number(sd) and abs(mean) < 100 and 0 < sd < 100):
        raise BadArgument(
            f"{mention('linear_predictor', given)}: give the mean and the standard deviation of "
            "the log odds, such as (-2.5, 1)."
        )
    return float(mean), float(sd)
