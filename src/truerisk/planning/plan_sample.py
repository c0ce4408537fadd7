"""`plan_sample`: compute the number of test rows, and divide rows between tuning and testing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from operator import attrgetter
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import (
    LARGEST_COUNT,
    check_count,
    check_level,
    is_count,
    is_number,
    mention,
)
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.error_posterior import LARGEST_N_ROWS as MOST_ROWS
from truerisk.results.error_posterior import SMALLEST_PRIOR_PARAMETER as LEAST_PRIOR
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import Interval
from truerisk.results.learning_curve import MAX_EXTRAPOLATION_FACTOR, ExpectedRisk, LearningCurve
from truerisk.results.records import Column, Count, Range, Record, Share
from truerisk.statistics.sample_size import (
    expected_posterior_summary,
    nearest_error_count,
    rows_for_width,
    rows_with_assurance,
)

MAX_SPLITS = 400
TestRowCount = Annotated[int, Range(0, MOST_ROWS)]
# Errors, widths and assurances must be at least this far from 0 and from 1.
MIN_DISTANCE_FROM_0_AND_1 = 1e-9
N_CURVE_SIZES = 48  # A fitted learning curve is evaluated at N_CURVE_SIZES training sizes.
ERROR_LOSS = "zero-one"  # Name of the loss that counts errors.
SPLIT_MEASURES = ("ub", "above_half", "q2", "err")
TABLE_HEAD = ["tuning", "test", "error", "width", "(ub)", "(50 %)", "(q2)", ""]


@frozen
class Split:
    """A division of rows between tuning and testing, and the expected result of the test.

    `error` is the error of a rule tuned and trained on `n_tuning` rows. `ub`, `above_half` and `q2`
    are Wallman's measures of the posterior after the test, and `width` is the width of the
    posterior interval. Each is an expectation over the number of test errors.
    """

    n_tuning: Count
    n_test: Count
    error: Share
    width: Share
    ub: Share
    above_half: Share
    q2: Share

    @property
    def err(self) -> float:
        """Expected share of test errors."""
        return self.error


@frozen
class SamplePlan(Record):
    """Result of `plan_sample`: the number of test rows, and the division of n rows.

    Numbers that were not requested or cannot be computed are None, and `notes` give the reason.

    Parameters
    ----------
    error : float or mapping of int to float
        The expected error, or the expected errors by number of training rows.
    confidence_level : float
        The nominal coverage of the interval and of the bound.
    prior : tuple of float
        The two parameters of the Beta prior.
    width : float, optional
        The requested width of the interval.
    n_test : int, optional
        The number of test rows with which the interval is at most `width` wide after `n_errors`
        errors.
    n_assured : int, optional
        The number of test rows with which the interval is at most `width` wide with probability
        `assurance`, whatever the number of errors.
    assurance : float, optional
        The probability with which `n_assured` test rows suffice.
    interval : Interval, optional
        The interval after `n_errors` errors in `n_test` rows.
    n_errors : int, optional
        The whole number nearest to the expected number of errors.
    n : int, optional
        The number of rows to divide.
    best : Split, optional
        The division with the smallest upper bound (ub).
    best_by : mapping of str to Split, optional
        The best division by each measure.
    splits : tuple of Split, optional
        The compared divisions.
    notes : tuple of str, optional
        Notes for the reader.
    expected : ExpectedRisk, optional
        The expected risk after training on all `n` rows, predicted by the learning curve.

    See Also
    --------
    plan_sample : Compute a sample plan.
    ErrorPosterior : The posterior whose interval is planned.

    Examples
    --------
    >>> import truerisk as tr
    >>> plan = tr.plan_sample(0.15, width=0.1)
    >>> plan.n_test, plan.n_errors, plan.n_assured
    (195, 29, 227)
    """

    schema: ClassVar[str] = "truerisk.sample-plan/2"

    error: float | Mapping[int, float | int]
    confidence_level: Share
    prior: tuple[float | int, float | int]
    width: Share | None = None
    n_test: TestRowCount | None = None
    n_assured: TestRowCount | None = None
    assurance: Share | None = None
    interval: Interval | None = None
    n_errors: TestRowCount | None = None
    n: Count | None = None
    best: Split | None = None
    best_by: Mapping[str, Split] = field(default_factory=dict)
    splits: Annotated[tuple[Split, ...], Column(most=MAX_SPLITS)] = ()
    notes: tuple[str, ...] = ()
    expected: ExpectedRisk | None = None

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Name of an invalid field in a record read from a file, and what it must be; else None."""
        for index, parameter in enumerate(self.prior):
            if not LEAST_PRIOR <= parameter <= MOST_ROWS:
                return "prior", index, "a number above 0"
        if self.n_test is not None:
            for name in ("width", "n_assured", "assurance", "interval", "n_errors"):
                if getattr(self, name) is None:
                    return name, "there, as 'n_test' is"
            if self.n_errors is not None and self.n_errors > self.n_test:
                return "n_errors", f"{self.n_test} at most, the number of test rows"
        return None

    def __str__(self) -> str:
        text_lines = self._sentences
        if self.splits:
            text_lines += [] if self.n_test is None else [""]
            text_lines.append(f"{self.n} rows shared (measures expected over the test errors)")
            text_lines.append(tables.text_table(TABLE_HEAD, self._table_rows()))
        return "\n".join(text_lines + [f"note: {note}" for note in self.notes])

    @override
    def blocks(self) -> list[tables.Block]:
        sentences = tables.Block("", [""], [[each] for each in (*self._sentences, *self.notes)])
        shared = tables.Block("How the rows are shared", TABLE_HEAD, self._table_rows())
        return [block for block in (shared, sentences) if block.rows]

    @property
    def _sentences(self) -> list[str]:
        """Sentences that state the expected risk with all rows, and the planned test rows."""
        sentences = [] if self.expected is None else [str(self.expected)]
        if self.n_test is None:
            return sentences
        level_text = formats.format_percent(self.confidence_level)
        return [
            *sentences,
            (
                f"{self.n_test} test rows: after the {self.n_errors} errors expected the "
                f"{level_text} interval is {self.interval}, no wider than {self.width:.15g}"
            ),
            (
                f"{self.n_assured} test rows: no wider with probability {self.assurance:.15g}, "
                "whatever errors come"
            ),
        ]

    def _table_rows(self) -> list[list[str]]:
        """Return table rows for about nine of the splits, and for the best splits."""
        split_step = max(1, (len(self.splits) - 1) // 8)
        shown_splits = {*self.splits[::split_step], *self.splits[-1:], *self.best_by.values()}
        rows = []
        for split in (
            compared_split for compared_split in self.splits if compared_split in shown_splits
        ):
            best_measures_text = ", ".join(
                name for name, best_split in self.best_by.items() if best_split == split
            )
            rows.append(
                [
                    str(split.n_tuning),
                    str(split.n_test),
                    *map(formats.format_number, (split.error, split.width, split.ub)),
                    f"{split.above_half:.2e}",
                    formats.format_number(split.q2),
                    f"<- least {best_measures_text}" if best_measures_text else "",
                ]
            )
        return rows


def plan_sample(
    error: float | Mapping[int, float] | LearningCurve,
    *,
    width: float | None = None,
    n: int | None = None,
    confidence_level: float = 0.95,
    assurance: float = 0.9,
    prior: tuple[float, float] = (1, 1),
) -> SamplePlan:
    """Plan a test: the number of test rows for an interval width, or the division of `n` rows.

    The interval is that of a hold-out, the Beta posterior of the error (`tr.ErrorPosterior`), so
    that the numbers are exact: no normal distribution is assumed.

    Parameters
    ----------
    error : float, dict of int to float, or LearningCurve
        The expected error. A dict gives the error by the number of rows that tune and train the
        model; between the given numbers of rows the error is assumed to be linear in 1/rows, beyond
        them it is unknown. A learning curve of errors predicts the error by its fitted curve, up to
        four times the measured number of rows.
    width : float, optional
        The width of the interval for which test rows are planned.
    n : int, optional
        The number of rows to divide between tuning and testing. This needs a dict or a curve; with
        a single error all rows that are not test rows are left for tuning.
    confidence_level : float, default=0.95
        The nominal coverage of the interval and of the bound (ub).
    assurance : float, default=0.9
        The probability, at least .5, with which the interval is no wider than `width`.
    prior : tuple of float, default=(1, 1)
        The parameters of the Beta prior.

    Returns
    -------
    SamplePlan
        The numbers of test rows, and the compared divisions.

    See Also
    --------
    plan_development : Plan the number of rows to develop a regression model.
    plan_validation : Plan the number of rows for an external validation.
    learning_curve : Measure how the error falls with the number of rows.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_sample(0.15, width=0.05).n_test
    782
    >>> plan = tr.plan_sample({30: 0.25, 60: 0.21, 150: 0.19}, n=180)
    >>> plan.best.n_tuning, plan.best.n_test
    (76, 104)
    """
    curve = error if isinstance(error, LearningCurve) else None
    if isinstance(error, LearningCurve):
        error = _predict_errors(error, n)
    _check(error, width, n, confidence_level, assurance)
    ErrorPosterior(0, 0, prior)  # The constructor raises an error if the prior is invalid.
    plan_fields: dict[str, Any] = {
        "error": dict(error) if isinstance(error, Mapping) else float(error),
        "confidence_level": confidence_level,
        "prior": prior,
    }
    expected_error = float(error[max(error)] if isinstance(error, Mapping) else error)
    if width is not None:
        n_test = rows_for_width(expected_error, width, confidence_level, prior)
        n_errors = int(nearest_error_count(expected_error, n_test))
        plan_fields |= {
            "width": width,
            "n_test": n_test,
            "n_assured": rows_with_assurance(
                expected_error, width, confidence_level, prior, assurance
            ),
            "assurance": assurance,
            "n_errors": n_errors,
            "interval": ErrorPosterior(n_errors, n_test, prior).interval(confidence_level),
        }
    if curve is not None and n is not None and n <= MAX_EXTRAPOLATION_FACTOR * curve.sizes[-1]:
        plan_fields["expected"] = replace(curve, confidence_level=confidence_level).at(n)
    if n is not None:
        plan_fields |= _divide_rows(error, n, confidence_level, prior, plan_fields.get("n_test"))
    if curve is not None and n is not None and n > MAX_EXTRAPOLATION_FACTOR * curve.sizes[-1]:
        largest_predicted_size = math.floor(MAX_EXTRAPOLATION_FACTOR * curve.sizes[-1])
        curve_range_text = (
            f"the curve predicts errors for up to {largest_predicted_size} rows "
            f"({MAX_EXTRAPOLATION_FACTOR} times "
            "those it had)"
        )
        range_note = f"{curve_range_text}: what training on all {n} gives is not known."
        plan_fields["notes"] = (*plan_fields.get("notes", ()), range_note)
    return SamplePlan(**plan_fields)


def _predict_errors(curve: LearningCurve, n: Any) -> dict[int, float]:
    """Return the errors that a learning curve predicts, by the number of training rows.

    If n rows are to be divided, the sizes range up to n − 1 rows.
    """
    if curve.estimates[-1].scoring != ERROR_LOSS:
        raise Refusal(
            f"this learning curve is in '{curve.estimates[-1].scoring}', and tests are planned for "
            f"the share of errors: make it with {mention('scoring', ERROR_LOSS)}."
        )
    if curve.law is None:
        raise Refusal(f"this learning curve has no law to plan by: {curve.lacking}")
    least_size, largest_size = math.ceil(curve.sizes[0]), math.floor(curve.sizes[-1])
    if is_count(n):
        largest_size = max(
            least_size, min(int(n) - 1, math.floor(MAX_EXTRAPOLATION_FACTOR * curve.sizes[-1]))
        )
    training_sizes = sorted(
        {round(n_training) for n_training in np.geomspace(least_size, largest_size, N_CURVE_SIZES)}
    )
    return {n_training: min(1.0, curve.law.mean(n_training)) for n_training in training_sizes}


def _divide_rows(
    error: float | Mapping[int, float],
    n: int,
    confidence_level: float,
    prior: tuple[float, float],
    n_test: int | None,
) -> dict[str, Any]:
    """Divide n rows between tuning and testing; return the fields of the plan that this fills.

    With a learning curve many divisions are compared. With a single error, all rows that the width
    does not require for testing are used for tuning.
    """
    nested_note = (
        f"nested cross-validation needs no separate test rows: it tests all {n} rows with models "
        "that were tuned without them; it estimates the risk of the procedure, not of one model"
    )
    if isinstance(error, Mapping):
        splits = [
            _evaluate_split(
                n_tuning, n, _interpolate_error(error, n_tuning), confidence_level, prior
            )
            for n_tuning in _tuning_sizes(error, n)
        ]
        best_by_measure = {name: min(splits, key=attrgetter(name)) for name in SPLIT_MEASURES}
        plan_fields = {
            "n": n,
            "splits": tuple(splits),
            "best_by": best_by_measure,
            "best": best_by_measure["ub"],
        }
        return {**plan_fields, "notes": (nested_note,)}
    if n_test is None:
        raise Refusal(
            "a single error does not say what tuning gains: give the errors at several sizes, "
            "such as error={30: .25, 120: .2}, or the width that the interval shall have."
        )
    if n_test >= n:
        shortage_note = (
            f"the width takes {n_test} test rows and there are {n}: none is left to tune on"
        )
        return {"n": n, "notes": (shortage_note, nested_note)}
    split = _evaluate_split(n - n_test, n, float(error), confidence_level, prior)
    return {"n": n, "splits": (split,), "best": split, "notes": (nested_note,)}


def _evaluate_split(
    n_tuning: int, n: int, error: float, confidence_level: float, prior: tuple[float, float]
) -> Split:
    measures = expected_posterior_summary(error, n - n_tuning, confidence_level, prior)
    return Split(
        n_tuning,
        n - n_tuning,
        error,
        measures["width"],
        measures["ub"],
        measures["above_half"],
        measures["q2"],
    )


def _tuning_sizes(error: Mapping[int, float], n: int) -> list[int]:
    """Return up to 400 numbers of tuning rows that the learning curve covers."""
    smallest_size, largest_size = min(error), min(max(error), n - 1)
    if smallest_size > largest_size:
        raise Refusal(
            f"the errors are known from {smallest_size} training rows on, and {n} rows leave "
            f"{n - 1} of them at most: give the error at a smaller size."
        )
    return sorted(
        {
            round(n_tuning)
            for n_tuning in np.linspace(
                smallest_size, largest_size, min(largest_size - smallest_size + 1, MAX_SPLITS)
            )
        }
    )


def _interpolate_error(error: Mapping[int, float], n_tuning: int) -> float:
    """Return the error at a training size, interpolated linearly in 1/size between known sizes."""
    known_sizes = np.array(sorted(error, reverse=True), dtype=float)
    return float(
        np.interp(1 / n_tuning, 1 / known_sizes, [error[int(n_rows)] for n_rows in known_sizes])
    )


def _check(error: Any, width: Any, n: Any, confidence_level: float, assurance: float) -> None:
    errors = list(error.values()) if isinstance(error, Mapping) else [error]
    if not errors or not all(
        is_number(error_value) and 0 <= error_value <= 1 for error_value in errors
    ):
        raise BadArgument(
            f"{mention('error', error)}: an error is a share between 0 and 1, or a dict of such."
        )
    if any(
        0 < error_value < MIN_DISTANCE_FROM_0_AND_1
        or 0 < 1 - error_value < MIN_DISTANCE_FROM_0_AND_1
        for error_value in errors
    ):
        raise BadArgument(
            f"{mention('error', error)}: an error is 0, 1, or no nearer to either than "
            f"{MIN_DISTANCE_FROM_0_AND_1:g}."
        )
    if isinstance(error, Mapping) and not all(
        is_count(n_tuning) and n_tuning <= LARGEST_COUNT for n_tuning in error
    ):
        raise BadArgument(
            f"{mention('error', error)}: its keys are numbers of training rows, {LARGEST_COUNT:,} "
            "at most."
        )
    if width is None and n is None:
        raise UnknownName(
            f"say what to plan: {mention('width')} of the interval, or "
            f"{mention('n')} rows to share, or both."
        )
    if width is not None and not (
        is_number(width) and MIN_DISTANCE_FROM_0_AND_1 <= width <= 1 - MIN_DISTANCE_FROM_0_AND_1
    ):
        raise BadArgument(
            f"{mention('width', width)}: an interval of an error has a width between 0 and 1, no "
            f"nearer to either than {MIN_DISTANCE_FROM_0_AND_1:g}."
        )
    if n is not None:
        check_count("n", n, 2, "rows to share are 2 or more")
    check_level("confidence_level", confidence_level)
    if not is_number(assurance) or not 0.5 <= assurance <= 1 - MIN_DISTANCE_FROM_0_AND_1:
        raise UnknownName(
            f"{mention('assurance', assurance)}: use a probability from .5 up to 1 - "
            f"{MIN_DISTANCE_FROM_0_AND_1:.0e}."
        )
