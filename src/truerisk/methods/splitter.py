"""Methods that use a scikit-learn splitter, or a list of (train, test) row numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Streams
from truerisk.core.arguments import as_array, is_count, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, describe_error, is_failure
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods.parts.averages import Averaged
from truerisk.plan.builder import plan_from_splits, to_row_numbers
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target


@frozen(eq=False)
class Splitter(Averaged):
    """Cross-validation with the splits that a scikit-learn splitter draws by its own seed.

    A number has the same meaning as `cv` in scikit-learn: that many folds of rows in their order,
    stratified if y holds classes.

    Parameters
    ----------
    splitter : splitter or int
        An object with ``split(X, y, groups)``, or a number of folds.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.GivenSplits : Given pairs of training and test rows.
    truerisk.methods.KFold : K-fold cross-validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.model_selection import ShuffleSplit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> method = tr.methods.Splitter(ShuffleSplit(10, random_state=0))
    >>> tr.estimate_risk(GaussianNB(), X, y, cv=method).n_fits
    10
    """

    splitter: Any
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    has_given_splits: ClassVar[bool] = True
    bias = "pessimistic by what the training sets lack"

    def __post_init__(self) -> None:
        check_average(self.average)
        if isinstance(self.splitter, Integral) and not isinstance(self.splitter, bool):
            if self.splitter < 2:
                raise BadArgument(f"{self.splitter} is no number of folds: give two at least.")
            return
        if not callable(getattr(self.splitter, "split", None)) or isinstance(self.splitter, str):
            raise BadArgument(
                f"{mention('splitter', self.splitter)} has no split(X, y, groups): give a splitter "
                "of scikit-learn, such as ShuffleSplit()."
            )

    @property
    def has_folds(self) -> bool:  # type: ignore[override]
        """True unless the splitter is leave-one-out.

        Methods that leave out each pair of folds would need n (n − 1)/2 fits for leave-one-out.
        """
        from sklearn.model_selection import LeaveOneOut

        return type(self.splitter) is not LeaveOneOut

    @property
    def goes_forward(self) -> bool:
        """True if the splitter is scikit-learn's TimeSeriesSplit."""
        from sklearn.model_selection import TimeSeriesSplit

        return type(self.splitter) is TimeSeriesSplit

    @property
    @override
    def n_parts(self) -> int:
        return int(self.splitter.n_splits) + 1 if self.goes_forward else 2

    @property
    @override
    def name(self) -> str:
        if is_count(self.splitter):
            return f"{self.splitter} unshuffled folds"
        return escape_and_truncate(_short_repr(self.splitter), 80)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        from sklearn.model_selection import check_cv

        is_classifier = data.task == "classification"
        try:
            splitter = check_cv(self.splitter, data.y, classifier=is_classifier)
            # Another note reports groups that the splitter ignores, with the number of rows.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The groups parameter is ignored")
                pairs = list(splitter.split(data.X, data.y, data.groups))
        except BaseException as error:  # A user's splitter may raise anything.
            if not is_failure(error):
                raise
            raise BadData(
                f"{'' if is_count(self.splitter) else 'the splitter '}{self.name} cannot split "
                f"these rows: {describe_error(error)}"
            ) from error
        return plan_from_splits(data.n_rows, _check_row_numbers(pairs, data.n_rows, self.name))

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)


@frozen(eq=False)
class GivenSplits(Averaged):
    """Cross-validation with given (train, test) pairs of row numbers.

    Within an outer split the pairs are restricted to the outer training rows. A pair without test
    rows or without training rows is skipped.

    Parameters
    ----------
    pairs : sequence of (train, test)
        Row numbers, or masks, of the training and the test rows of each split.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Splitter : Splits of a scikit-learn splitter.
    truerisk.methods.KFold : K-fold cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> even = np.arange(60) % 2 == 0
    >>> method = tr.methods.GivenSplits([(even, ~even), (~even, even)])
    >>> tr.estimate_risk(GaussianNB(), X, y, cv=method).method
    '2 given splits'
    """

    pairs: tuple[tuple[Any, Any], ...]
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    has_folds: ClassVar[bool] = True
    has_given_splits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)
        given_pairs: Any = self.pairs
        if not isinstance(given_pairs, Iterable) or isinstance(given_pairs, str):
            raise BadArgument(
                f"{mention('pairs', given_pairs)}: give a list of (train, test) pairs of row "
                "numbers."
            )
        pairs = tuple(
            _check_pair(split_number, pair) for split_number, pair in enumerate(given_pairs)
        )
        if not pairs:
            raise BadArgument("the list of splits is empty.")
        object.__setattr__(self, "pairs", pairs)

    @property
    @override
    def name(self) -> str:
        return f"{len(self.pairs)} given splits"

    @property
    @override
    def bias(self) -> str:
        if any(
            np.isin(to_row_numbers(test), to_row_numbers(train)).any() for train, test in self.pairs
        ):
            return "optimistic: models are tested on rows that they were trained on"
        return Splitter.bias

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        pairs = [(to_row_numbers(train), to_row_numbers(test)) for train, test in self.pairs]
        if data.row_ids is None:
            for split_number, pair in enumerate(self.pairs):
                for rows_or_mask in pair:
                    mask = np.asarray(rows_or_mask)
                    if mask.dtype == bool and len(mask) != data.n_rows:
                        raise BadData(
                            f"split {split_number}: a mask of {len(mask)} entries for "
                            f"{data.n_rows} rows."
                        )
        if data.row_ids is not None:
            pairs = [
                (_rows_in_subset(train, data.row_ids), _rows_in_subset(test, data.row_ids))
                for train, test in pairs
            ]
            pairs = [(train, test) for train, test in pairs if len(train) and len(test)]
        return plan_from_splits(data.n_rows, _check_row_numbers(pairs, data.n_rows, self.name))

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)


def _short_repr(splitter: Any) -> str:
    """Return the splitter's repr; for scikit-learn's splitters, omit arguments None and False.

    >>> from sklearn.model_selection import RepeatedKFold
    >>> _short_repr(RepeatedKFold(n_splits=3))
    'RepeatedKFold(n_repeats=10, n_splits=3)'
    """
    from sklearn import model_selection

    repr_text = " ".join(str(splitter).split())
    if type(splitter) is not getattr(model_selection, type(splitter).__name__, None):
        return repr_text
    return re.sub(r", \)$", ")", re.sub(r"\b\w+=(None|False)(, |(?=\)$))", "", repr_text))


def _check_pair(split_number: int, given_pair: Any) -> tuple[Any, Any]:
    try:
        train, test = given_pair
        _ = [
            len(as_array(rows_or_mask)) for rows_or_mask in given_pair
        ]  # `len` raises an error for a single number.
    except (TypeError, ValueError):
        raise BadArgument(
            f"split {split_number} is no (train, test) pair of row numbers: "
            f"{repr_on_one_line(given_pair)}."
        ) from None
    return train, test


def _rows_in_subset(rows: np.ndarray, row_ids: np.ndarray) -> np.ndarray:
    """Convert row numbers of the whole data to row numbers of a subset, omitting absent rows.

    `row_ids` holds the subset's row numbers in the whole data, in ascending order.
    """
    present_rows = rows[np.isin(rows, row_ids)]
    return np.searchsorted(row_ids, present_rows)


def _check_row_numbers(
    pairs: list[tuple[Any, Any]], n_rows: int, method_name: str
) -> list[tuple[Any, Any]]:
    if not pairs:
        raise BadData(f"{method_name} leaves no split with both training and test rows.")
    checked_pairs = []
    for split_number, pair in enumerate(pairs):
        train, test = (to_row_numbers(rows_or_mask) for rows_or_mask in pair)
        for role, rows in (("training", train), ("test", test)):
            if not len(rows):
                raise BadData(f"split {split_number} of {method_name} has no {role} rows.")
            has_row_numbers = rows.ndim == 1 and rows.dtype.kind in "iu"
            if not has_row_numbers or rows.min() < 0 or rows.max() >= n_rows:
                raise BadData(
                    f"split {split_number} of {method_name}: its {role} rows are not row "
                    f"numbers 0 … {n_rows - 1}."
                )
        checked_pairs.append((train, test))
    return checked_pairs
