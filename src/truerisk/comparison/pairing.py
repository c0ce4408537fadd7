"""Pair the losses of two learners on the same splits; raise Refusal if they cannot be paired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from truerisk.core.arguments import as_array, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.results.evaluation import Influences
from truerisk.results.results import RiskEstimate

PairedInput = Literal["splits", "rows", "influences", "halves"]

HOW_TO_PAIR = (
    "give two estimates made on the same splits, which carry them; or losses of rows with "
    "folds= (the fold that tested each row); or one list of losses (or one risk) per split with "
    "n_train= and n_test="
)


@frozen(eq=False)
class PairedLosses:
    """Losses of two learners, a and b, on the same rows of the same splits.

    `split_differences` are the differences a − b of the mean losses per split, with their
    `repetition_numbers`, `n_train` and `n_test`. `rows` are the two losses of rows that were tested
    once. `values` are the two risks and `influences` the influence of each row on them. Row r of
    `half_differences` holds the differences in the two halves of repetition r. Differences far
    below `loss_scale`, the largest mean loss of a split, are rounding errors.
    """

    loss: str | None = None
    split_differences: np.ndarray | None = None
    repetition_numbers: np.ndarray | None = None
    n_train: np.ndarray | None = None
    n_test: np.ndarray | None = None
    rows: tuple[np.ndarray, np.ndarray] | None = None
    is_one_model: bool = False
    loss_scale: float = 1.0
    why_no_rows: str = "there are no losses of rows that were each tested once."
    values: tuple[float, float] = (0.0, 0.0)
    influences: tuple[Influences, Influences] | None = None
    half_differences: np.ndarray | None = None

    def require_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `n_train` and `n_test`; raise if the sizes of the splits are unknown."""
        if self.n_train is None or self.n_test is None:
            raise Refusal(f"this test needs the sizes of the splits: {HOW_TO_PAIR}.")
        return self.n_train, self.n_test

    def require_splits(self) -> tuple[np.ndarray, float]:
        """Return the loss differences per split, and n_test/n_train; raise if a size is unknown."""
        n_train, n_test = self.require_sizes()
        if self.split_differences is None:
            raise Refusal(f"this test needs the sizes of the splits: {HOW_TO_PAIR}.")
        if len(self.split_differences) < 2:
            raise Refusal(
                f"one split has no spread over splits: use {mention('test', 'mcnemar')} on its "
                "rows, or compare on several splits."
            )
        return self.split_differences, float(n_test.mean() / n_train.mean())

    def require_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the two losses of rows that were each tested once; raise if there are none."""
        if self.rows is None:
            raise Refusal(f"this test needs one loss per row: {self.why_no_rows}")
        return self.rows


def pair_losses(
    a: Any,
    b: Any,
    *,
    folds: Any = None,
    n_train: Any = None,
    n_test: Any = None,
    input_kind: PairedInput = "splits",
) -> PairedLosses:
    """Return the paired losses that a test needs, from two estimates or two arrays of losses."""
    estimate_flags = {isinstance(a, RiskEstimate), isinstance(b, RiskEstimate)}
    if estimate_flags == {True, False}:
        raise UnknownName("compare two estimates, or the losses of both, not one of each.")
    if estimate_flags == {False}:
        _refuse_different_rows(a, b)
        return _pairs_from_arrays(a, b, folds, n_train, n_test, input_kind)
    if not (folds is None and n_train is None and n_test is None):
        raise UnknownName("estimates carry their splits: leave out folds, n_train and n_test.")
    refuse_unpairable(a, b)
    pair_function = {"influences": _pairs_from_influences, "halves": _halves_from_estimates}.get(
        input_kind, _of_splits
    )
    return pair_function(a, b)


def _refuse_different_rows(a: Any, b: Any) -> None:
    """Raise if two series of losses have indices that show that their rows differ.

    Losses are paired by position.
    """
    index_a, index_b = (getattr(losses, "index", None) for losses in (a, b))
    # The `index` of a list is a method, and not an index of rows.
    if index_a is None or index_b is None or callable(index_a) or callable(index_b):
        return
    row_names_a, row_names_b = np.asarray(index_a), np.asarray(index_b)
    if len(row_names_a) == len(row_names_b) and (row_names_a != row_names_b).any():
        row = int((row_names_a != row_names_b).argmax())
        raise BadArgument(
            f"the losses are of different rows: entry {row} is row "
            f"{repr_on_one_line(row_names_a.tolist()[row])} of a, and "
            f"{repr_on_one_line(row_names_b.tolist()[row])} of b. Put them in one order, such as "
            "b.loc[a.index], or give arrays."
        )


def _pairs_from_influences(a: RiskEstimate, b: RiskEstimate) -> PairedLosses:
    for estimate in (a, b):
        if estimate.influences is None:
            raise Refusal(_why_no_influences(estimate))
    if not np.array_equal(a.influences.rows, b.influences.rows):  # type: ignore[union-attr]
        raise Refusal("the two estimates tested different rows: their losses are not paired.")
    values = float(a.loss_value or 0.0), float(b.loss_value or 0.0)
    influences = a.influences, b.influences
    scale = max(map(abs, values))
    return PairedLosses(
        loss=a.named_scoring,
        values=values,
        influences=influences,  # type: ignore[arg-type]
        loss_scale=scale,
    )


def _why_no_influences(a: RiskEstimate) -> str:
    """Return why the influence of single rows on an estimate is unknown."""
    if a.ordered:
        return f"'{a.method}' tests rows in the order of time: no formula for its splits is known."
    if a.losses is not None and (a.splits is None or a.splits[:, 2].sum() > len(a.losses)):
        return (
            f"'{a.method}' tests rows repeatedly: use {mention('test', 'nadeau-bengio')} or "
            "'bayes', or test by pairs of one drawing of the folds."
        )
    return (
        f"this estimate ('{a.method}', loss '{a.scoring}') does not hold the effect of single rows "
        "on it: it was read from a file, or the method or the loss cannot tell. Use HonestSearchCV "
        f"or tr.assess with {mention('outer', 'pairs')}, and a loss such as 'zero-one', 'brier', "
        "'log', 'auc' or 'f1'."
    )


def _halves_from_estimates(a: RiskEstimate, b: RiskEstimate) -> PairedLosses:
    if "paired-halves" not in a.method or a.splits is None:
        raise Refusal(
            f"SHARP needs repeated halves of the rows, and '{a.method}' has none: estimate both "
            f"with {mention('cv', 'paired-halves')} (searches: "
            "outer=tr.methods.PairedHalves(pairs=30)), or give the risks in the halves of each "
            "repetition, two arrays (repetitions, 2)."
        )
    assert a.split_risks is not None
    assert b.split_risks is not None
    repetition_numbers, differences = a.splits[:, 0], a.split_risks - b.split_risks
    means = [
        differences[repetition_numbers == repetition_number].mean()
        for repetition_number in range(1, int(repetition_numbers.max()) + 1)
    ]
    return PairedLosses(
        loss=a.named_scoring,
        half_differences=_check_repetitions(np.array(means).reshape(-1, 2)),
        loss_scale=_largest_loss(a.split_risks, b.split_risks),
    )


def _halves_from_arrays(a: Any, b: Any) -> PairedLosses:
    losses_a, losses_b = _finite_losses(a, "a"), _finite_losses(b, "b")
    if not losses_a.shape == losses_b.shape == (len(losses_a), 2):
        raise Refusal(
            f"a has shape {losses_a.shape} and b {losses_b.shape}: SHARP takes the risks in the "
            "two halves of each repetition, two arrays (repetitions, 2)."
        )
    return PairedLosses(
        half_differences=_check_repetitions(losses_a - losses_b),
        loss_scale=_largest_loss(losses_a, losses_b),
    )


def _check_repetitions(half_differences: np.ndarray) -> np.ndarray:
    if len(half_differences) < 2:
        raise Refusal("SHARP needs two repetitions of the halves at least; 30 are usual.")
    return half_differences


def _of_splits(a: RiskEstimate, b: RiskEstimate) -> PairedLosses:
    if a.losses is None or b.losses is None or a.split_risks is None or b.split_risks is None:
        auc_hint = " Areas of two fixed rules compare by tr.RocCurve.minus (DeLong)."
        remedy = f"Use {mention('test', 'paired-cv')}, which needs none."
        if a.influences is None or b.influences is None:
            remedy = (
                "Nor is the effect of single rows on the score known: the method or the loss "
                "cannot tell it, or the estimate was read from a file, which does not hold it."
            )
        raise Refusal(
            f"'{a.method}' with loss '{a.scoring}' has no losses of single rows to pair. {remedy}"
            f"{auc_hint if 'auc' in a.scoring.lower() else ''}"
        )
    if not np.array_equal(np.asarray(a.loss_rows), np.asarray(b.loss_rows)):
        raise Refusal("the two estimates tested different rows: their losses are not paired.")
    splits = a.splits
    if splits is None or len(splits) != len(a.split_risks):
        raise Refusal(f"'{a.method}' does not say which sizes its splits have: nothing to compare.")
    if a.ordered:
        raise Refusal(
            f"'{a.method}' tests rows in the order of time: no formula for its splits is known."
        )
    # The formulas require test sets that are disjoint from the training set, and not larger.
    if (splits[:, 1] + splits[:, 2] > a.n_rows).any():
        raise Refusal(f"'{a.method}' trains on drawn copies: no formula for its splits is known.")
    if (splits[:, 2] > splits[:, 1] + 1).any():  # Halves of an odd number of rows differ by one.
        raise Refusal(
            f"'{a.method}' tests more rows than it trains on, and test sets overlap: no formula is "
            "known for its splits."
        )
    reason = _why_no_rows(a, a.losses, splits)
    return PairedLosses(
        loss=a.named_scoring,
        split_differences=a.split_risks - b.split_risks,
        repetition_numbers=splits[:, 0],
        n_train=splits[:, 1],
        n_test=splits[:, 2],
        rows=(a.losses, b.losses) if reason is None else None,
        is_one_model=a.target == "Err_XY",
        loss_scale=_largest_loss(a.split_risks, b.split_risks),
        why_no_rows=reason or "",
    )


def refuse_unpairable(a: RiskEstimate, b: RiskEstimate) -> None:
    """Raise Refusal unless both estimates have a value for the same loss, data and splits."""
    if a.value is None or b.value is None:
        raise Refusal("an estimate without a value (a fit failed) cannot be compared.")
    if (a.scoring, a.positive) != (b.scoring, b.positive):
        raise Refusal(
            f"losses differ ({a.named_scoring}, {b.named_scoring}): their difference has no "
            "meaning."
        )
    if a.data_fingerprint != b.data_fingerprint:
        raise Refusal(
            "the two estimates are of different data (their fingerprints differ). If the rows are "
            "the same and only the columns differ, pass the losses: compare(a.losses, b.losses, "
            "folds=...)."
        )
    if a.plan_fingerprint != b.plan_fingerprint:
        raise Refusal(
            f"the two estimates were made on different splits ('{a.method}', seed {a.seed}; "
            f"'{b.method}', seed {b.seed}): use the same method and seed for both, or tr.assess, "
            "which tests all learners on the same splits."
        )


def _why_no_rows(a: RiskEstimate, losses: np.ndarray, splits: np.ndarray) -> str | None:
    """Return why the losses of rows are not independent trials, or None if they may be so."""
    if splits[:, 2].sum() != len(losses):
        return f"'{a.method}' tests rows repeatedly; use 'holdout' or one K-fold."
    if a.n_groups is not None or (a.interval is not None and "grouped" in a.interval.method):
        return "rows of one group depend on each other."
    value = a.loss_value
    if a.weighted or value is None or not np.isclose(losses.mean(), value, 1e-9, 0):
        return "the rows have weights, or folds of unequal size count alike."
    return None


def _pairs_from_arrays(
    a: Any, b: Any, folds: Any, n_train: Any, n_test: Any, input_kind: PairedInput
) -> PairedLosses:
    if input_kind == "influences":
        raise Refusal(
            "losses alone do not show how they change when training rows are left out: give two "
            "estimates or searches that were tested by pairs, or use "
            f"{mention('test', 'nadeau-bengio')}."
        )
    if input_kind == "halves":
        if not (folds is None and n_train is None and n_test is None):
            raise UnknownName("SHARP looks at halves alone: leave out folds, n_train and n_test.")
        return _halves_from_arrays(a, b)
    if folds is not None:
        if n_train is not None or n_test is not None:
            raise UnknownName("folds= says the sizes of the splits: leave out n_train and n_test.")
        return _pairs_from_folds(_finite_losses(a, "a"), _finite_losses(b, "b"), np.asarray(folds))
    losses_a, losses_b = _losses_by_split(a, "a"), _losses_by_split(b, "b")
    n_losses_by_split = (
        [len(split_losses) for split_losses in losses_a],
        [len(split_losses) for split_losses in losses_b],
    )
    if n_losses_by_split[0] != n_losses_by_split[1]:
        raise Refusal(
            f"a has {_shape_text(n_losses_by_split[0])} and b {_shape_text(n_losses_by_split[1])}: "
            "losses pair only on the same rows of the same splits."
        )
    if input_kind == "rows":
        if n_train is not None or n_test is not None:
            raise UnknownName(
                "this test looks at rows, not at splits: leave out n_train and n_test."
            )
        return PairedLosses(rows=(np.concatenate(losses_a), np.concatenate(losses_b)))
    if all(n_losses == 1 for n_losses in n_losses_by_split[0]) and n_test is None:
        raise Refusal(f"the sizes of the splits are not known: {HOW_TO_PAIR}.")
    if n_train is None:
        raise Refusal(f"the number of training rows per split is not known: {HOW_TO_PAIR}.")
    _refuse_losses_of_rows(losses_a, losses_b, n_train, n_test)
    test_sizes = (
        np.array(n_losses_by_split[0])
        if n_test is None
        else _sizes(n_test, len(losses_a), "n_test")
    )
    if (
        n_test is not None
        and max(n_losses_by_split[0]) > 1
        and (test_sizes != n_losses_by_split[0]).any()
    ):
        raise BadData("n_test contradicts the number of losses per split.")
    means = np.array(
        [[split_losses.mean() for split_losses in losses] for losses in (losses_a, losses_b)]
    )
    return PairedLosses(
        split_differences=means[0] - means[1],
        loss_scale=_largest_loss(*means),
        n_train=_sizes(n_train, len(losses_a), "n_train"),
        n_test=test_sizes,
    )


def _refuse_losses_of_rows(
    losses_a: list[np.ndarray], losses_b: list[np.ndarray], n_train: Any, n_test: Any
) -> None:
    """Raise if losses that were given as one per split look like losses of single rows.

    A flat list of zeros and ones, as long as there are rows, holds losses of rows.
    """
    if np.size(n_train) > 1 or np.size(n_test) > 1 or max(map(len, losses_a)) > 1 or n_test == 1:
        return
    n_train, n_test = (
        int(_sizes(n, 1, argument_name)[0])
        for n, argument_name in ((n_train, "n_train"), (n_test, "n_test"))
    )
    if len(losses_a) == n_train + n_test and np.isin([*losses_a, *losses_b], (0, 1)).all():
        raise Refusal(f"these look like losses of rows, not risks of splits: {HOW_TO_PAIR}.")


def _pairs_from_folds(a: np.ndarray, b: np.ndarray, folds: np.ndarray) -> PairedLosses:
    """Return the splits of K-fold cross-validation from losses `(n,)` or `(repeats, n)`."""
    if not a.shape == b.shape == folds.shape or folds.ndim > 2:
        raise Refusal(
            f"a has shape {a.shape}, b {b.shape} and folds {folds.shape}: give one loss and one "
            "fold number per row (and repetition)."
        )
    if folds.dtype.kind == "f" and not (np.isfinite(folds) & (folds == np.round(folds))).all():
        raise BadData("folds holds numbers that are not whole, or missing: number the folds.")
    splits = []
    for repeat, (differences, labels) in enumerate(
        zip(np.atleast_2d(a - b), np.atleast_2d(folds), strict=True)
    ):
        _, fold_codes = np.unique(labels, return_inverse=True)
        fold_sizes = np.bincount(fold_codes)
        if len(fold_sizes) < 2:
            raise BadData("folds holds a single fold: nothing was left to train on.")
        for mean, fold_size in zip(
            np.bincount(fold_codes, differences) / fold_sizes, fold_sizes, strict=True
        ):
            splits.append((mean, repeat, len(differences) - fold_size, fold_size))
    means, repeats, train_sizes, test_sizes = (
        np.array(column) for column in zip(*splits, strict=True)
    )
    is_tested_once = folds.ndim == 1 or len(folds) == 1
    return PairedLosses(
        split_differences=means,
        repetition_numbers=repeats,
        n_train=train_sizes,
        n_test=test_sizes,
        loss_scale=_largest_loss(a, b),
        rows=(np.ravel(a), np.ravel(b)) if is_tested_once else None,
        why_no_rows="rows were tested once per repetition; give one repetition alone.",
    )


def _largest_loss(a: np.ndarray, b: np.ndarray) -> float:
    return float(max(np.abs(a).max(), np.abs(b).max()))


def _finite_losses(values: Any, name: str) -> np.ndarray:
    try:
        losses = as_array(values, np.float64)
    except ValueError as error:
        raise BadData(f"{name} is no array of losses: {error}") from None
    if not losses.size or not np.isfinite(losses).all():
        raise BadData(f"{name} holds no losses, or some that are not finite.")
    return losses


def _losses_by_split(values: Any, name: str) -> list[np.ndarray]:
    """Return the losses of each split; a flat list holds one loss (or risk) per split."""
    is_ragged = (
        isinstance(values, Sequence)
        and len({_finite_losses(split_losses, name).size for split_losses in values}) > 1
    )
    if is_ragged:
        return [_finite_losses(split_losses, name).ravel() for split_losses in values]
    losses = _finite_losses(values, name)
    if losses.ndim > 2:
        raise BadData(f"{name} has shape {losses.shape}: give losses per split and row.")
    return list(losses.reshape(len(np.atleast_1d(losses)), -1))


def _sizes(sizes_argument: Any, n: int, name: str) -> np.ndarray:
    split_sizes = np.asarray(sizes_argument)
    if split_sizes.ndim == 0:
        split_sizes = np.full(n, split_sizes)
    if split_sizes.shape != (n,) or split_sizes.dtype.kind not in "iu" or (split_sizes < 1).any():
        raise BadData(f"{name} is a number of rows, or one for each of {n} splits.")
    return split_sizes


def _shape_text(n_losses_by_split: list[int]) -> str:
    if max(n_losses_by_split) == 1:
        return f"{len(n_losses_by_split)} losses"
    return (
        f"{len(n_losses_by_split)} splits of {min(n_losses_by_split)} to "
        f"{max(n_losses_by_split)} losses"
    )
