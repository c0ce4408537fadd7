"""Confidence intervals with the name of their formula, and the evidence that a formula may need.

`Basis` lists this evidence. A `Breakdown` holds the named numbers from which an estimate was
computed. `Scale` converts a risk to the requested score, and `are_tied` tells which risks are
equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import inf
from typing import Any, Self, overload

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.formats import escape_and_truncate, format_risk
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.door import load_from_results
from truerisk.results.records import DisplayedResult, Share


class Basis(Enum):
    """The kinds of evidence that an interval may need.

    The value of each member describes it in words. An interval declares which of these it needs; a
    loss, a table, a method and its drawn plan declare which of them they provide.

    See Also
    --------
    truerisk.extend.Needs : What an interval needs, as a tuple of these.
    truerisk.extend.IntervalForm : The class that declares its needs.

    Examples
    --------
    >>> from truerisk.extend import Basis
    >>> Basis.ROW_LOSSES.value
    'losses of single rows'
    """

    ROW_LOSSES = "losses of single rows"
    INFLUENCES = "a loss with a formula for what a single row does to it"
    UPPER_BOUND = "losses with a largest value"
    NEVER_NEGATIVE = "losses that are never negative"
    ERROR_COUNT = "a loss that counts errors"
    EQUAL_ROWS = "rows that count alike"
    PLACES = "places of the rows"
    TIMES = "rows in the order of time"
    LOSSES = "cross-validated losses"
    MEAN = "a mean of cross-validated losses"
    SPLITS = "risks of several splits"
    ONCE = "rows that are tested once"
    EQUALLY_OFTEN = "rows that are tested equally often"
    PAIRS = "fits without each two folds"
    HALVES = "means over halves of the rows"
    SAMPLES = "bootstrap samples"


# By default, risks that differ by at most this number are practically equivalent.
DEFAULT_ROPE = 0.01


PLAN_DEPENDENT_BASES = frozenset({Basis.ONCE, Basis.EQUALLY_OFTEN, Basis.TIMES})
"""The kinds of evidence that depend on the drawn plan and its data.

A loss, a table or a method determines all other kinds.
"""


BREAKDOWN_RISK_NAMES = ("apparent", "training", "test", "oob", "no_information", "corrected")
"""Names of the numbers in a `Breakdown` that are risks; others are weights, differences, counts."""


def normal_quantile(level: float) -> float:
    """Return the standard normal quantile for a two-sided interval of this confidence level."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def t_quantile(level: float, degrees: float) -> float:
    """Return the two-sided quantile of Student's t, or the normal one for infinite degrees.

    >>> round(t_quantile(0.95, 19), 3), round(t_quantile(0.95, float("inf")), 3)
    (2.093, 1.96)
    """
    from scipy.special import stdtrit

    return normal_quantile(level) if degrees == inf else float(stdtrit(degrees, (1 + level) / 2))


@frozen
class Interval:
    """Interval of a number, with the method that computed it and its confidence level.

    Parameters
    ----------
    low : float
        The lower end.
    high : float
        The upper end.
    method : str
        Name of the interval, such as "beta-cv".
    confidence_level : float, default=0.95
        The nominal coverage.

    See Also
    --------
    RiskEstimate : Estimate with an interval.
    truerisk.intervals.names : List the names of intervals.

    Examples
    --------
    >>> from truerisk.extend import Interval
    >>> interval = Interval(0.125, 0.25, "wald")
    >>> print(interval)
    [0.1250, 0.2500]
    >>> interval.width
    0.125
    """

    low: float
    high: float
    method: str
    confidence_level: Share = 0.95

    @property
    def flaw(self) -> tuple[str] | None:
        """The requirement that an interval read from a file violates, or None if it is valid."""
        is_valid = -inf < self.low <= self.high < inf
        return None if is_valid else ("an interval",)

    @classmethod
    def normal(
        cls,
        value: float,
        error: float,
        method: str,
        level: float,
        ends: tuple[float, float] = (-inf, inf),
    ) -> Interval:
        """Return the normal interval around a value, clipped to the range of possible values.

        Parameters
        ----------
        value : float
            The centre of the interval.
        error : float
            The standard error of the value.
        method : str
            Name of the interval.
        level : float
            The confidence level.
        ends : tuple of float, default=(-inf, inf)
            The smallest and the largest possible value.

        Returns
        -------
        Interval
            The interval.
        """
        half_width = normal_quantile(level) * error
        return cls(
            max(value - half_width, ends[0]), min(value + half_width, ends[1]), method, level
        )

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def below(self, perfect: float) -> Interval:
        """Convert the interval of a loss to the interval of the score `perfect` minus the loss.

        Parameters
        ----------
        perfect : float
            The score of a perfect model, such as 1 for the AUC.

        Returns
        -------
        Interval
            The interval of the score.

        Examples
        --------
        >>> print(Interval(0.02, 0.1, "logit-cv").below(1.0))
        [0.9000, 0.9800]
        """
        return replace(self, low=perfect - self.high, high=perfect - self.low)

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return f"[{format_risk(self.low, self.high)}, {format_risk(self.high)}]"


def interval_ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return the lower and upper end of an interval, or None for both if there is no interval."""
    return (None, None) if interval is None else (interval.low, interval.high)


@frozen
class Breakdown(Mapping[str, float], DisplayedResult):
    """Named numbers from which a risk was computed, printed as a table with one line.

    >>> print(Breakdown({"apparent": 0.1, "optimism": 0.025, "corrected": 0.125, "n": 200}))
    apparent  optimism  corrected    n
    ----------------------------------
      0.1000    0.0250     0.1250  200
    """

    numbers: Mapping[str, int | float]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def on_scale(self, scale: Scale) -> Breakdown:
        """Return a copy of the breakdown whose risks are converted to a scale.

        Other numbers do not change.

        >>> print(
        ...     Breakdown({"apparent": 0.1, "optimism": 0.025, "corrected": 0.125}).on_scale(
        ...         Scale(1.0)
        ...     )
        ... )
        apparent  optimism  corrected
        -----------------------------
          0.9000    0.0250     0.8750
        """
        named_numbers = self.numbers.items()
        return Breakdown(
            {k: scale.value(v) if k in BREAKDOWN_RISK_NAMES else v for k, v in named_numbers}
        )

    def __str__(self) -> str:
        return tables.text_table(list(self), [self._cells()])

    @override
    def blocks(self) -> list[tables.Block]:
        return [tables.Block("What the risk is made of", list(self), [self._cells()])]

    def _cells(self) -> list[str]:
        return [str(v) if isinstance(v, int) else formats.format_number(v) for v in self.values()]


class ResultWithInterval:
    """Base class of results with a value and an interval, of which either may be missing."""

    value: float | None
    interval: Interval | None

    @property
    def ends(self) -> list[float]:
        """All numbers that an axis must show: the value and the ends of its interval."""
        return [end for end in (self.value, *interval_ends(self.interval)) if end is not None]

    def named(self, name: str) -> dict[str, float | None]:
        """Return a dict of the value and the two ends of its interval.

        The key of the value is `name`. The keys of the ends are `name` with ".low" and ".high"
        appended.

        Parameters
        ----------
        name : str
            The name of the number.

        Returns
        -------
        dict of str to float or None
            The value and the ends of its interval.

        Examples
        --------
        >>> ReportedValue(0.75, Interval(0.5, 0.875, "wald"), "larger").named("auc")
        {'auc': 0.75, 'auc.low': 0.5, 'auc.high': 0.875}
        """
        low, high = interval_ends(self.interval)
        return {name: self.value, f"{name}.low": low, f"{name}.high": high}


@frozen
class ReportedValue(ResultWithInterval):
    """A value with its interval.

    `better_direction` tells whether "larger" or "lower" values are better.
    """

    value: float | None
    interval: Interval | None
    better_direction: str = ""


@frozen
class Scale:
    """Scale on which results are shown: the risk itself, or a score if one was requested.

    `perfect` is the score of a rule without error, and infinite if it is unknown. A score is
    `perfect` minus the risk, and minus the risk if `perfect` is unknown. `perfect` is None for a
    loss.

    >>> auc, error = Scale(1.0), Scale()
    >>> auc.value(0.205), auc.better, auc.name_for("auc")
    (0.795, 'larger', 'auc')
    >>> error.value(0.205), error.better, error.name_for("zero-one")
    (0.205, 'lower', 'zero-one risk')
    >>> Scale(0.0).value(0.75), Scale(inf).value(0.75)
    (-0.75, -0.75)
    """

    perfect: float | None = None

    @property
    def better(self) -> str:
        """The better direction on this scale: "lower" or "larger"."""
        return "lower" if self.perfect is None else "larger"

    @property
    def noun(self) -> str:
        """The noun for numbers on this scale, "risk" or "score"."""
        return "risk" if self.perfect is None else "score"

    @property
    def selected_label(self) -> str:
        """The label of the selected value: the risk or score that tuning optimised."""
        verb = "minimised" if self.perfect is None else "maximised"
        return f"selected: the {self.noun} that tuning {verb}"

    @property
    def optimism_label(self) -> str:
        """The label of the optimism.

        The optimism is how much better the selected value is than the honest value.
        """
        operands = ("honest", "selected") if self.perfect is None else ("selected", "honest")
        return f"optimism: {' − '.join(operands)}"

    def name_for(self, loss: str) -> str:
        """Return the name of the risk or score on this scale, such as "zero-one risk" or "auc"."""
        loss_name = escape_and_truncate(loss, 40)
        return f"{loss_name} risk" if self.perfect is None else loss_name

    def short_name(self, loss: str) -> str:
        """Return "risk" for any loss, or the name of the score.

        The context of the text already names the loss.
        """
        return "risk" if self.perfect is None else escape_and_truncate(loss, 40)

    def column_heading(self, loss: str) -> str:
        """Return the heading of a table column that holds values on this scale.

        It is "risk", or the name of the score with a hint which values are better.
        """
        return (
            "risk"
            if self.perfect is None
            else f"{escape_and_truncate(loss, 40)} (larger is better)"
        )

    def axis_label(self, loss: str) -> str:
        """Return the label of a figure's axis, which names the loss or the score."""
        return (
            f"risk ({escape_and_truncate(loss, 40)})"
            if self.perfect is None
            else self.column_heading(loss)
        )

    @overload
    def value(self, risk: float) -> float: ...

    @overload
    def value(self, risk: float | None) -> float | None: ...

    def value(self, risk: float | None) -> float | None:
        """Convert a risk to this scale, or a value on this scale back to the risk."""
        if risk is None or self.perfect is None:
            return risk
        return self._score_at_zero_risk - risk

    def values(self, risks: np.ndarray) -> np.ndarray:
        """Convert an array of risks to this scale; NaN stays NaN."""
        return risks if self.perfect is None else self._score_at_zero_risk - risks

    def interval(self, interval: Interval | None) -> Interval | None:
        """Convert the interval of a risk to this scale.

        An interval on this scale is converted back in the same way.
        """
        if interval is None or self.perfect is None:
            return interval
        return interval.below(self._score_at_zero_risk)

    @property
    def _score_at_zero_risk(self) -> float:
        """The score that corresponds to a risk of 0."""
        return self.perfect if self.perfect is not None and self.perfect < inf else 0.0

    def compute_optimism(
        self, honest_value: float | None, selected_value: float | None
    ) -> float | None:
        """Return by how much the selected risk or score is better than the honest one.

        It is None if either value is missing.

        >>> Scale(1.0).compute_optimism(0.75, 0.875), Scale().compute_optimism(0.25, 0.125)
        (0.125, 0.125)
        """
        if honest_value is None or selected_value is None:
            return None
        return (
            honest_value - selected_value if self.perfect is None else selected_value - honest_value
        )

    def convert_difference(self, difference: float) -> float:
        """Convert the difference of two risks to the difference of the values on this scale."""
        return difference if self.perfect is None else 0.0 - difference


LOSS_SCALE = Scale()


class ResultOnScale(ResultWithInterval):
    """Base class of results on the requested scale; `perfect` is explained in `Scale`."""

    perfect: float | None

    @property
    def scale(self) -> Scale:
        """Scale of the result's value: a loss or a score."""
        return Scale(self.perfect)

    @property
    def greater_is_better(self) -> bool:
        """True for a score, such as AUC or "neg_log_loss"; False for a loss."""
        return self.perfect is not None

    @property
    def loss_value(self) -> float | None:
        """The value as a loss, for which smaller is better: 1 − AUC for an AUC."""
        return self.scale.value(self.value)

    @property
    def loss_interval(self) -> Interval | None:
        """The interval of the result's value, converted to a loss."""
        return self.scale.interval(self.interval)

    def on_scale(self, scale: Scale, **names: Any) -> Self:
        """Convert the result to another scale, and replace further fields.

        Parameters
        ----------
        scale : Scale
            The new scale: a loss or a score.
        **names
            Fields to replace, such as `scoring`.

        Returns
        -------
        OnScale
            The number on the new scale.
        """
        converted_fields: dict[str, Any] = {
            "value": scale.value(self.loss_value),
            "interval": scale.interval(self.loss_interval),
            "perfect": scale.perfect,
        }
        return replace(self, **converted_fields, **names)  # type: ignore[type-var]


class ResultWithBounds(ABC):
    """Base class of results with honest risks or scores, on which a user can set bounds."""

    @property
    @abstractmethod
    def _honest_numbers(self) -> Mapping[str, Any]:
        """The honest risks and scores of the result by name."""

    def require(self, **bounds: float) -> None:
        """Raise `BoundMissed` if the interval of a named risk or score does not keep its bound.

        A score, for which more is better, keeps a bound if the lower end of its interval is at
        least that large. An error, for which less is better, keeps it if the upper end is at most
        that large. A number without an interval keeps no bound.

        Parameters
        ----------
        **bounds : float
            A bound for each name of a score or loss; "zero-one" is written ``zero_one``.

        Raises
        ------
        BoundMissed
            If any bound is missed; the message names each of them.

        Examples
        --------
        >>> import truerisk as tr
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_wine(return_X_y=True)
        >>> risk = tr.estimate_risk(GaussianNB(), X, y)
        >>> risk.require(zero_one=0.15)
        >>> risk.require(zero_one=0.01)
        Traceback (most recent call last):
        ...
        truerisk.core.errors.BoundMissed: ...
        """
        load_from_results("require")(self._honest_numbers, bounds)


def get_honest_numbers(result: ResultWithBounds) -> Mapping[str, Any]:
    """Return the honest risks and scores of a result, each a `HonestNumber`, by name."""
    return result._honest_numbers


TIE_TOLERANCE = (
    # Relative tolerance for ties. Equal risks differ by less if they are summed in another order.
    1e-12
)


def are_tied(risks: Any, smallest_risk: Any) -> Any:
    """Return a mask of the risks that equal the smallest risk up to rounding.

    >>> are_tied(np.array([0.3, 0.1 + 1e-14, 0.1]), 0.1).tolist()
    [False, True, True]
    >>> bool(are_tied(3e-14, 1e-14))
    False
    """
    return risks <= smallest_risk + TIE_TOLERANCE * np.abs(smallest_risk)


def tied_groups(risks: Sequence[float]) -> list[list[int]]:
    """Group the indices of tied risks; sort the groups by risk, and the indices in each group.

    >>> tied_groups([0.3, 0.1 + 1e-14, 0.1, float("inf")])
    [[1, 2], [0], [3]]
    """
    groups: list[list[int]] = []
    for candidate in np.argsort(risks, kind="stable").tolist():
        if groups and are_tied(risks[candidate], risks[groups[-1][0]]):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    return list(map(sorted, groups))
