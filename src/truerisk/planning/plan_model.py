"""`plan_development`: the number of rows to develop a prediction model, and its result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from truerisk.core import tables
from truerisk.core.arguments import check_count, check_level, check_number, is_number, mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_known
from truerisk.planning import model_size
from truerisk.results.records import Count, Record, Share, Size

Of = Mapping[str, tuple[str, ...]]

NEEDS: Of = {
    "binary": ("prevalence",),
    "continuous": ("mean", "sd"),
    "time-to-event": ("rate", "horizon", "follow_up"),
}
"""Quantities that have to be anticipated for each kind of outcome, in addition to an R²."""

MAY: Of = {"binary": ("margin",), "continuous": ("ratio",), "time-to-event": ("margin",)}
"""Further options for each kind of outcome."""

SHARES = ("prevalence", "auc", "r2")
CLOSEST = 1e-12  # minimum distance of a share from 0 and 1
LARGEST = 1e50  # Largest mean, rate or time. Its reciprocal is the smallest.
Purpose = Literal["development", "validation"]


@frozen
class SizeCriterion:
    """A criterion, and the number of rows from which on it is met."""

    asks: str
    n: Count


@frozen
class RowsNeeded(Record):
    """The number of rows that a prediction model needs, by each criterion and by all: `n`.

    `events` are the expected events among them, and `per_parameter` the events, or the rows if the
    outcome is continuous, for each parameter of the model. `assumed` is what was anticipated.
    """

    schema: ClassVar[str] = "truerisk.rows-needed/2"

    purpose: Purpose
    outcome: str
    n: Count
    criteria: tuple[SizeCriterion, ...]
    assumed: Mapping[str, float | int]
    confidence_level: Share
    events: Size | None = None
    per_parameter: Size | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        (block,) = self.blocks()
        table = tables.text_table(block.head, block.rows)
        return "\n".join([self._title(), table, *(f"note: {note}" for note in self.notes)])

    def _title(self) -> str:
        counts = [] if self.events is None else [f"{math.ceil(self.events)} events"]
        if self.per_parameter is not None:
            counts.append(f"{self.per_parameter:.1f} per parameter")
        behind = f" ({', '.join(counts)})" if counts else ""
        verb = "develop" if self.purpose == "development" else "validate"
        return f"{self.n} rows{behind} to {verb} a model of a {self.outcome} outcome"

    @override
    def blocks(self) -> list[tables.Block]:
        foreseen = ", ".join(f"{name} {value:g}" for name, value in self.assumed.items())
        caption = "; ".join([self._title(), f"foreseen: {foreseen}", *self.notes])
        rows = [[one.asks, str(one.n)] for one in self.criteria]
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
    shrinkage: float = model_size.SHRINKAGE,
    optimism: float = model_size.OPTIMISM,
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
        The largest acceptable difference between the apparent R² and the corrected one.
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
        The number of rows by each criterion; ``n`` is the largest of them.

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
    foreseen = {
        "prevalence": prevalence,
        "rate": rate,
        "horizon": horizon,
        "follow_up": follow_up,
        "mean": mean,
        "sd": sd,
    }
    check_count("parameters", parameters, 1, "a model has a whole number of them, 1 or more")
    check_foreseen(outcome, foreseen | {"margin": margin, "ratio": ratio}, NEEDS, MAY)
    margin = model_size.MARGIN if margin is None else margin
    ratio = model_size.RATIO if ratio is None else ratio
    for name, share in (("shrinkage", shrinkage), ("optimism", optimism), ("margin", margin)):
        check_inside(name, share)
    check_ratio(ratio)
    check_level("confidence_level", confidence_level)
    given = {name: float(foreseen[name]) for name in NEEDS[outcome]}  # type: ignore[arg-type]
    z = model_size.normal_quantile(confidence_level)
    largest, events = 1.0, 0.0
    if outcome == "binary":
        events = given["prevalence"]
        largest = model_size.largest_r2(model_size.likelihood_of_classes(events))
    elif outcome == "time-to-event":
        events = given["rate"] * given["follow_up"]
        if events >= 1:
            raise BadArgument(
                f"{mention('rate', rate)} and {mention('follow_up', follow_up)} are {events:g} "
                "events per person, who has one at most: give both in the same unit of time."
            )
        largest = model_size.largest_r2(model_size.likelihood_of_times(events))
    by = _expected_r2(outcome, r2, nagelkerke, auc, given, largest)
    expected = by.pop("r2")
    if outcome != "continuous" and expected >= min(shrinkage, largest):
        raise Refusal(
            f"{mention('r2', expected, f'{expected:.3g}')}: rows are planned for an R² "
            f"below {min(shrinkage, largest):.3g}, the lesser of the shrinkage and of what a "
            "perfect model has."
        )
    criteria_texts = [f"effects of predictors shrunken to {shrinkage:.15g} at least"]
    if outcome == "continuous":
        center, sigma = given.values()
        tail, spread = (1 - confidence_level) / 2, sigma * math.sqrt(1 - expected)
        requested = {"shrinkage": shrinkage, "optimism": optimism, "ratio": ratio}
        sizes = [
            *model_size.rows_of_line(parameters, expected, tail=tail, **requested),
            model_size.rows_for_mean(parameters, spread, (ratio - 1) * abs(center), tail),
        ]
        criteria_texts += [
            f"an apparent R² {optimism:.15g} too high at most",
            f"the residual standard deviation known to a factor of {ratio:.15g}",
            f"the mean known to a factor of {ratio:.15g}",
        ]
    else:
        sizes = model_size.rows_of_likelihood(
            parameters, expected, largest, shrinkage=shrinkage, optimism=optimism
        )
        if outcome == "binary":
            spread = math.sqrt(events * (1 - events))
            sizes.append(model_size.rows_for_error(spread, margin / z))
        else:
            sizes.append(model_size.rows_for_risk(**given, margin=margin, z=z))
        criteria_texts += [
            f"an apparent R² (Nagelkerke) {optimism:.15g} too high at most",
            f"the overall risk known to ± {margin:.15g}",
        ]
    n = max(sizes)
    return RowsNeeded(
        purpose="development",
        outcome=outcome,
        n=n,
        criteria=tuple(map(SizeCriterion, criteria_texts, sizes)),
        assumed={"parameters": parameters, **given, **by, "r2": expected},
        confidence_level=confidence_level,
        events=n * events or None,
        per_parameter=n * (events or 1) / parameters,
    )


def _expected_r2(
    outcome: str,
    r2: float | None,
    nagelkerke: float | None,
    auc: float | None,
    given: Mapping[str, float],
    largest: float,
) -> dict[str, float]:
    """Return the Cox-Snell R², preceded by the quantity from which it was computed."""
    every = {"r2": r2, "nagelkerke": nagelkerke, "auc": auc}
    known = {name: value for name, value in every.items() if value is not None}
    if not known and outcome == "continuous":
        raise UnknownName(f"{mention('r2')} is missing: say by it how good the model will be.")
    if len(known) != 1:
        words = ", ".join(mention(name) for name in (known or every))
        raise UnknownName(f"say by one of {words} how good the model will be.")
    ((name, value),) = known.items()
    check_inside(name, value)
    if name == "r2":
        return known
    if outcome == "continuous" or (name == "auc" and outcome != "binary"):
        raise UnknownName(
            f"{mention(name)} is not known of a {outcome} outcome: give {mention('r2')}."
        )
    if name == "nagelkerke":
        return {name: value, "r2": value * largest}
    if not value > 0.5:
        raise BadArgument(f"{mention('auc', value)}: a model is better than chance, .5.")
    return {name: value, "r2": model_size.LinearPredictor.of_auc(value, given["prevalence"]).r2}


def check_foreseen(outcome: Any, foreseen: Mapping[str, Any], needs: Of, may: Of) -> None:
    """Raise for what an outcome lacks, what belongs to another one, and invalid numbers.

    What is in `needs` must be given, what is in `may` can be.
    """
    check_known("there is no outcome", outcome, needs)
    for name, value in foreseen.items():
        if name not in needs[outcome]:
            if value is not None and name not in may[outcome]:
                of = next(one for one in needs if name in (*needs[one], *may[one]))
                raise UnknownName(
                    f"{mention(name)} is foreseen of a {of} outcome, not of a {outcome} one."
                )
            continue
        if value is None:
            every = ", ".join(mention(one) for one in needs[outcome])
            raise UnknownName(
                f"{mention(name)} is missing. Of a {outcome} outcome foresee {every}."
            )
        if name in SHARES:
            check_inside(name, value)
        elif not is_number(value) or not math.isfinite(value) or value == 0:
            wanted = "other than" if name == "mean" else "above"
            raise BadArgument(f"{mention(name, value)}: use a number {wanted} 0.")
        elif not 1 / LARGEST <= abs(float(value)) <= LARGEST:
            raise BadArgument(
                f"{mention(name, value)}: use a number of a size from {1 / LARGEST:g} to "
                f"{LARGEST:g}; choose another unit for a larger or a smaller one."
            )
        elif name != "mean" and value < 0:
            raise BadArgument(f"{mention(name, value)}: use a number above 0.")


def check_ratio(ratio: Any) -> None:
    """Raise unless the value is a valid factor for a standard deviation."""
    check_number("ratio", ratio, 1.001, 100, "use a factor above 1, 100 at most")


def check_inside(name: str, value: Any) -> None:
    """Raise unless the value is a share of something."""
    if not is_number(value) or not 0 < value < 1:
        raise BadArgument(f"{mention(name, value)}: use a number between 0 and 1.")
    if not CLOSEST <= value <= 1 - CLOSEST:
        raise BadArgument(
            f"{mention(name, value)}: use a number between 0 and 1, no nearer to either than "
            f"{CLOSEST:g}."
        )
