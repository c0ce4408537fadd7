"""How the experiments of document 002 report: methods by sizes, and who errs less than whom.

A quantity of the draws is `(replicate, size)`; sizes are numbers of training rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from truerisk.papers.experiment import Draws
from truerisk.papers.figures import Panel, mean_line
from truerisk.papers.report import (
    MeansGrid,
    PaperTable,
    Row,
    mean_and_error,
    mean_row,
)
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = [
    "beside",
    "convergence_note",
    "error_panel",
    "less",
    "mean_grid",
    "permutation_p",
    "size_table",
    "spread_gap",
]

PERMUTATIONS = 10_000
STYLES = {
    "CV-5": "b--",
    "CV-10": "c--",
    "BEEp": "r--",
    "BEEi": "r-",
    "EBIC": "m:",
    "oracle": "g-",
}  # as in the document, where it has them

Known = Mapping[str, Sequence[float]]  # a reference per size


def size_table(
    draws: Draws, names: Sequence[str], place: int, title: str, known: Known, n_known: int
) -> PaperTable:
    """One size against an earlier run of the same recipe with `n_known` training sets."""
    rows = []
    for name in names:
        errors = draws[name][:, place]
        if name not in known:
            rows.append(mean_row(name, errors))
            continue
        spread = float(errors.std(ddof=1)) if len(errors) > 1 else 0.0
        rounding = float(np.hypot(spread / np.sqrt(n_known), 0.0005))
        rows.append(mean_row(name, errors, known[name][place], rounding))
    return PaperTable(title, f"{n_known} sets of this recipe", tuple(rows))


def beside(draws: Draws, sizes: Sequence[int], printed: Mapping[str, Sequence[str]]) -> PaperTable:
    """The document's numbers in the names: they are of another generator, and do not compare."""
    rows: list[Row] = [
        mean_row(f"{name}, n = {n} (document: {told})", draws[name][:, j])
        for name, every in printed.items()
        for j, (n, told) in enumerate(zip(sizes, every, strict=True))
        if told
    ]
    return PaperTable("beside the document", "not comparable", tuple(rows))


def mean_grid(
    draws: Draws, names: Mapping[str, str], sizes: Sequence[int], title: str
) -> MeansGrid:
    """Means by size; `names` gives each line the quantity of the draws behind it."""
    rows = tuple(
        (name, tuple(mean_and_error(draws[key][:, j]) for j in range(len(sizes))))
        for name, key in names.items()
    )
    return MeansGrid(title, tuple(f"n = {n}" for n in sizes), rows)


def less(
    draws: Draws,
    lower: str,
    higher: str,
    place: int,
    n_rows: int,
    *,
    learner: str = "",
    text: str = "{lower} lies below {higher} at n = {n}",
) -> Statement:
    """Whether one choice errs less than another at a size, over the same training sets.

    The p-value of a paired permutation test, one-sided, stands beside it: the document's test.
    """
    found = [draws[f"{learner} {name}".strip()][:, place] for name in (lower, higher)]
    gaps = found[1] - found[0]
    head = f"{learner}: " if learner else ""
    return Statement(
        head + text.format(lower=lower, higher=higher, n=n_rows),
        (Quantity.mean(f"{higher} − {lower}", gaps),),
        f"paired permutation test, one-sided: p = {permutation_p(gaps):.4f}",
    )


def spread_gap(name: str, errors: np.ndarray, others: Sequence[np.ndarray]) -> Quantity:
    """The standard deviation of one choice's errors, less the smallest of others'."""

    def gap(every: np.ndarray) -> float:
        first, *rest = every.std(axis=0, ddof=1)
        return float(first - min(rest))

    return Quantity.of(name, gap, np.column_stack([errors, *others]), Claim.below())


def permutation_p(gaps: np.ndarray) -> float:
    """One-sided: how often signs drawn at random make the mean gap at least as large."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PERMUTATIONS, len(gaps)))
    at_least = (signs @ gaps >= gaps.sum() - 1e-12).sum()
    return float((at_least + 1) / (PERMUTATIONS + 1))


def error_panel(draws: Draws, names: Mapping[str, str], sizes: Sequence[int], title: str) -> Panel:
    """Mean errors along the number of training rows."""
    lines = tuple(
        mean_line(name, np.array(sizes), draws[key], STYLES.get(name, "k-"))
        for name, key in names.items()
    )
    return Panel(title, "training rows", "error", lines)


def convergence_note(draws: Draws, key: str) -> str:
    """In how many runs a path stopped short at some penalty."""
    told = np.asarray(draws[key])
    if not told.any():
        return f"every path converged at every penalty, in all folds of {told.size} runs."
    return (
        f"NOT CONVERGED: in {np.count_nonzero(told)} of {told.size} runs a path stopped short at "
        "some penalty, in a fold or on all rows; its errors are those of where it stopped."
    )
