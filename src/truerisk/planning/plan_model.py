"""`plan_development`: compute the number of rows that it takes to develop a prediction model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from truerisk.core import tables
from truerisk.core.arguments import check_count, check_level, check_number, is_number, mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.formats import join_words
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_known
from truerisk.planning import model_size
from truerisk.results.records import Count, NonNegative, Record, Share

QuantityNames = Mapping[str, tuple[str, ...]]

REQUIRED_QUANTITIES: QuantityNames = {
    "binary": ("prevalence",),
    "continuous": ("mean", "sd"),
    "time-to-event": ("rate", "horizon", "follow_up"),
}
"""Quantities that have to be anticipated for each kind of outcome, in addition to an R²."""

OPTIONAL_QUANTITIES: QuantityNames = {
    "binary": ("margin",),
    "continuous": ("ratio",),
    "time-to-event": ("margin",),
}
"""Further options for each kind of outcome."""

SHARE_QUANTITIES = ("prevalence", "auc", "r2", "concordance")
# Prevalences and other shares must be at least this far from 0 and from 1.
MIN_DISTANCE_FROM_0_AND_1 = 1e-12
# Means, rates and times must not be above this value, nor below its reciprocal.
LARGEST_QUANTITY = 1e50
Purpose = Literal["development", "validation"]


@frozen
class SizeCriterion:
    """Criterion of a sample size, and the smallest number of rows that meets it."""

    asks: str
    n: Count


@frozen
class RowsNeeded(Record):
    """Number of rows that a prediction model needs, by each criterion and by all criteria (`n`).

    `events` is the expected number of events among `n` rows. `per_parameter` is the number of
    events, or of rows if the outcome is continuous, per parameter of the model. `assumed` holds the
    quantities that were anticipated.
    """

    schema: ClassVar[str] = "truerisk.rows-needed/2"

    purpose: Purpose
    outcome: str
    n: Count
    criteria: tuple[SizeCriterion, ...]
    assumed: Mapping[str, float | int]
    confidence_level: Share
    events: NonNegative | None = None
    per_parameter: NonNegative | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        (block,) = self.blocks()
        table = tables.text_table(block.head, block.rows)
        return "\n".join([self._title(), table, *(f"note: {note}" for note in self.notes)])

    def _title(self) -> str:
        count_texts = [] if self.events is None else [f"{math.ceil(self.events)} events"]
        if self.per_parameter is not None:
            count_texts.append(f"{self.per_parameter:.1f} per parameter")
        counts_text = f" ({', '.join(count_texts)})" if count_texts else ""
        purpose_verb = "develop" if self.purpose == "development" else "validate"
        return f"{self.n} rows{counts_text} to {purpose_verb} a model of a {self.outcome} outcome"

    @override
    def blocks(self) -> list[tables.Block]:
        anticipated_text = ", ".join(f"{name} {value:g}" for name, value in self.assumed.items())
        caption = "; ".join([self._title(), f"anticipated: {anticipated_text}", *self.notes])
        rows = [[criterion.asks, str(criterion.n)] for criterion in self.criteria]
        return [tables.Block(caption, ["what shall hold", "rows"], rows)]


def plan_development(
    outcome: str = "binary",
    *,
    parameters: int,
    r2: float | None = None,
    nagelkerke: float | None = None,
    auc: float | None = None,
    prevalence: float | None = None,
    rate: float | None = None,
    horizon: float | None = None,
    follow_up: float | None = None,
    mean: float | None = None,
    sd: float | None = None,
    shrinkage: float = model_size.MIN_SHRINKAGE_FACTOR,
    optimism: float = model_size.MAX_R2_OPTIMISM,
    margin: float | None = None,
    ratio: float | None = None,
    confidence_level: float = 0.95,
) -> RowsNeeded:
    """Compute how many rows it takes to develop a prediction model (Riley et al., 2019).

    The criteria apply to regression models all of whose parameters are fitted. A penalty or a
    selection of predictors does not lower the number, and flexible learners need more rows.

    Parameters
    ----------
    outcome : {"binary", "continuous", "time-to-event"}, default="binary"
        The type of the outcome.
    parameters : int
        The number of parameters of the candidate predictors: a categorical column with four levels
        has three, a spline with four knots has three.
    r2 : float, optional
        The expected R² of the model in new people: that of Cox and Snell, or, for a continuous
        outcome, the share of explained variance. Take it from an earlier model.
    nagelkerke : float, optional
        The expected R² of Nagelkerke, instead of `r2`. It is `r2` divided by the `r2` of a perfect
        model.
    auc : float, optional
        The expected AUC for a binary outcome, instead of `r2`. The linear predictor is assumed to
        be normal among people with the event and among those without.
    prevalence : float, optional
        For a binary outcome: the share of people with the event.
    rate : float, optional
        For a time to an event: the number of events per person and unit of time.
    horizon : float, optional
        For a time to an event: the time up to which risks are predicted.
    follow_up : float, optional
        For a time to an event: the mean time for which people are followed.
    mean : float, optional
        For a continuous outcome: its mean.
    sd : float, optional
        For a continuous outcome: its standard deviation.
    shrinkage : float, default=0.9
        The smallest acceptable value of the expected shrinkage factor of the predictor effects.
    optimism : float, default=0.05
        The largest acceptable difference between the apparent and the optimism-corrected R².
    margin : float, optional
        The largest acceptable half-width of the interval of the overall risk.
    ratio : float, optional
        The largest acceptable factor between the estimate and the limits of the interval of the
        residual standard deviation and of the mean.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals of the overall risk, the mean and the standard
        deviation.

    Returns
    -------
    RowsNeeded
        The number of rows by each criterion; ``n`` is the largest of these numbers.

    See Also
    --------
    plan_validation : Plan the number of rows for an external validation.
    plan_sample : Plan the number of test rows of a hold-out.

    References
    ----------
    Riley RD et al. (2019). Minimum sample size for developing a multivariable prediction model:
    part II. Statistics in Medicine 38:1276–1296.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_development(parameters=24, prevalence=0.174, r2=0.288).n
    662
    >>> tr.plan_development("continuous", parameters=25, r2=0.2, mean=1.9, sd=0.6).n
    918
    """
    anticipated_values = {
        "prevalence": prevalence,
        "rate": rate,
        "horizon": horizon,
        "follow_up": follow_up,
        "mean": mean,
        "sd": sd,
    }
    check_count("parameters", parameters, 1, "a model has a whole number of them, 1 or more")
    check_anticipated_values(
        outcome,
        anticipated_values | {"margin": margin, "ratio": ratio},
        REQUIRED_QUANTITIES,
        OPTIONAL_QUANTITIES,
    )
    margin = model_size.MAX_RISK_MARGIN if margin is None else margin
    ratio = model_size.MAX_SD_RATIO if ratio is None else ratio
    for name, share_value in (("shrinkage", shrinkage), ("optimism", optimism), ("margin", margin)):
        check_is_share(name, share_value)
    check_sd_ratio(ratio)
    check_level("confidence_level", confidence_level)
    required_values = {
        name: float(anticipated_values[name])  # type: ignore[arg-type]
        for name in REQUIRED_QUANTITIES[outcome]
    }
    normal_quantile = model_size.normal_quantile(confidence_level)
    largest_r2, events_per_row = 1.0, 0.0
    if outcome == "binary":
        events_per_row = required_values["prevalence"]
        largest_r2 = model_size.largest_r2(model_size.binary_null_log_likelihood(events_per_row))
    elif outcome == "time-to-event":
        events_per_row = required_values["rate"] * required_values["follow_up"]
        check_events_per_person(required_values["rate"], required_values["follow_up"])
        largest_r2 = model_size.largest_r2(model_size.survival_null_log_likelihood(events_per_row))
    r2_by_source = _expected_r2(outcome, r2, nagelkerke, auc, required_values, largest_r2)
    expected_r2 = r2_by_source.pop("r2")
    if outcome != "continuous" and expected_r2 >= min(shrinkage, largest_r2):
        raise Refusal(
            f"{mention('r2', expected_r2, f'{expected_r2:.3g}')}: rows are planned for an R² "
            f"below {min(shrinkage, largest_r2):.3g}, the lesser of the shrinkage and of what a "
            "perfect model has."
        )
    criteria_texts = [f"effects of predictors shrunken to {shrinkage:.15g} at least"]
    if outcome == "continuous":
        outcome_mean, outcome_sd = required_values.values()
        tail_probability, residual_sd = (
            (1 - confidence_level) / 2,
            outcome_sd * math.sqrt(1 - expected_r2),
        )
        requested_limits = {"shrinkage": shrinkage, "optimism": optimism, "ratio": ratio}
        row_counts = [
            *model_size.rows_for_linear_model(
                parameters, expected_r2, tail_probability=tail_probability, **requested_limits
            ),
            model_size.rows_for_mean(
                parameters, residual_sd, (ratio - 1) * abs(outcome_mean), tail_probability
            ),
        ]
        criteria_texts += [
            f"an apparent R² {optimism:.15g} too high at most",
            f"the residual standard deviation known to a factor of {ratio:.15g}",
            f"the mean known to a factor of {ratio:.15g}",
        ]
    else:
        row_counts = model_size.rows_for_shrinkage_and_r2(
            parameters, expected_r2, largest_r2, shrinkage=shrinkage, optimism=optimism
        )
        if outcome == "binary":
            residual_sd = math.sqrt(events_per_row * (1 - events_per_row))
            row_counts.append(model_size.rows_for_std_error(residual_sd, margin / normal_quantile))
        else:
            row_counts.append(
                model_size.rows_for_risk(
                    **required_values, margin=margin, normal_quantile_value=normal_quantile
                )
            )
        criteria_texts += [
            f"an apparent R² (Nagelkerke) {optimism:.15g} too high at most",
            f"the overall risk known to ± {margin:.15g}",
        ]
    n = max(row_counts)
    return RowsNeeded(
        purpose="development",
        outcome=outcome,
        n=n,
        criteria=tuple(map(SizeCriterion, criteria_texts, row_counts)),
        assumed={"parameters": parameters, **required_values, **r2_by_source, "r2": expected_r2},
        confidence_level=confidence_level,
        events=n * events_per_row or None,
        per_parameter=n * (events_per_row or 1) / parameters,
    )


def _expected_r2(
    outcome: str,
    r2: float | None,
    nagelkerke: float | None,
    auc: float | None,
    anticipated_values: Mapping[str, float],
    largest_r2: float,
) -> dict[str, float]:
    """Return the expected R² as `r2`, and the anticipated quantity from which it is computed."""
    all_sources = {"r2": r2, "nagelkerke": nagelkerke, "auc": auc}
    known_sources = {name: value for name, value in all_sources.items() if value is not None}
    if not known_sources and outcome == "continuous":
        raise UnknownName(f"{mention('r2')} is missing: say by it how good the model will be.")
    if len(known_sources) != 1:
        source_names = join_words(map(mention, known_sources or all_sources), "or")
        raise UnknownName(f"say by one of {source_names} how good the model will be.")
    ((name, value),) = known_sources.items()
    check_is_share(name, value)
    if name == "r2":
        return known_sources
    if outcome == "continuous" or (name == "auc" and outcome != "binary"):
        raise UnknownName(
            f"{mention(name)} is not known of a {outcome} outcome: give {mention('r2')}."
        )
    if name == "nagelkerke":
        return {name: value, "r2": value * largest_r2}
    if not value > 0.5:
        raise BadArgument(f"{mention('auc', value)}: a model is better than chance, .5.")
    return {
        name: value,
        "r2": model_size.LinearPredictor.from_auc(value, anticipated_values["prevalence"]).r2,
    }


def check_anticipated_values(
    outcome: Any,
    anticipated: Mapping[str, Any],
    required_quantities: QuantityNames,
    optional_quantities: QuantityNames,
) -> None:
    """Raise an error if anticipated quantities are missing, invalid, or for another outcome.

    Quantities in `required_quantities` must be given. Those in `optional_quantities` may be given.
    """
    check_known("there is no outcome", outcome, required_quantities)
    for name, value in anticipated.items():
        if name not in required_quantities[outcome]:
            if value is not None and name not in optional_quantities[outcome]:
                matching_outcome = next(
                    quantity
                    for quantity in required_quantities
                    if name in (*required_quantities[quantity], *optional_quantities[quantity])
                )
                raise UnknownName(
                    f"{mention(name)} is for a {matching_outcome} outcome, and this outcome is "
                    f"{outcome}: leave it out."
                )
            continue
        if value is None:
            required_names = join_words(map(mention, required_quantities[outcome]))
            raise UnknownName(
                f"{mention(name)} is missing. A {outcome} outcome needs {required_names}."
            )
        if name in SHARE_QUANTITIES:
            check_is_share(name, value)
        elif not is_number(value) or not math.isfinite(value) or value == 0:
            requirement = "other than" if name == "mean" else "above"
            raise BadArgument(f"{mention(name, value)}: use a number {requirement} 0.")
        elif not 1 / LARGEST_QUANTITY <= abs(float(value)) <= LARGEST_QUANTITY:
            raise BadArgument(
                f"{mention(name, value)}: use a number of a size from {1 / LARGEST_QUANTITY:g} to "
                f"{LARGEST_QUANTITY:g}; choose another unit for a larger or a smaller one."
            )
        elif name != "mean" and value < 0:
            raise BadArgument(f"{mention(name, value)}: use a number above 0.")


def check_events_per_person(rate: float, follow_up: float) -> None:
    """Raise unless people have less than one event on average."""
    if rate * follow_up >= 1:
        raise BadArgument(
            f"{mention('rate', rate)} and {mention('follow_up', follow_up)} are "
            f"{rate * follow_up:g} events per person on average, but a person has at most one: "
            "give both in the same unit of time."
        )


def check_sd_ratio(ratio: Any) -> None:
    """Raise unless the value is a valid factor for a standard deviation."""
    check_number("ratio", ratio, 1.001, 100, "use a factor above 1, 100 at most")


def check_is_share(name: str, value: Any) -> None:
    """Raise unless a value is a share between 0 and 1, exclusive."""
    if not is_number(value) or not 0 < value < 1:
        raise BadArgument(f"{mention(name, value)}: use a number between 0 and 1.")
    if not MIN_DISTANCE_FROM_0_AND_1 <= value <= 1 - MIN_DISTANCE_FROM_0_AND_1:
        raise BadArgument(
            f"{mention(name, value)}: use a number between 0 and 1, no nearer to either than "
            f"{MIN_DISTANCE_FROM_0_AND_1:g}."
        )
