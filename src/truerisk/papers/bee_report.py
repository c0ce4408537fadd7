"""How the experiments of document 002 report: methods by sizes, and who errs less than whom.

A quantity of the draws is `(replicate, size)`; sizes are numbers of training rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from truerisk.papers.bee_choosing import ORACLE
from truerisk.papers.experiment import Draws
from truerisk.papers.figures import MeansGrid, Panel, PaperTable, Series, mean_lines, printed
from truerisk.papers.statements import BELOW, Quantity, Statement

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
    values = {name: draws[name][:, place] for name in names}
    reference = {
        name: (known[name][place], printed(errors, n_known, 3))
        for name, errors in values.items()
        if name in known
    }
    return PaperTable.of(title, f"{n_known} sets of this recipe", values, reference)


def beside(draws: Draws, sizes: Sequence[int], paper: Mapping[str, Sequence[str]]) -> PaperTable:
    """The document's numbers in the names: they are of another generator, and do not compare."""
    values = {
        f"{name}, n = {n} (document: {number})": draws[name][:, j]
        for name, every in paper.items()
        for j, (n, number) in enumerate(zip(sizes, every, strict=True))
        if number
    }
    return PaperTable.of("beside the document", "not comparable", values)


def mean_grid(values: Draws, sizes: Sequence[int], title: str) -> MeansGrid:
    """Means by size, a row for each name."""
    rows = {name: of.T for name, of in values.items()}
    return MeansGrid.of(title, (f"n = {n}" for n in sizes), rows)


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
    low, high = (draws[f"{learner} {name}".strip()][:, place] for name in (lower, higher))
    gaps = high - low
    head = f"{learner}: " if learner else ""
    return Statement.of(
        head + text.format(lower=lower, higher=higher, n=n_rows),
        Quantity.mean(f"{higher} − {lower}", gaps),
        remark=f"paired permutation test, one-sided: p = {permutation_p(gaps):.4f}",
    )


def spread_gap(name: str, errors: np.ndarray, others: Sequence[np.ndarray]) -> Quantity:
    """The standard deviation of one choice's errors, less the smallest of others'."""

    def gap(every: np.ndarray) -> float:
        first, *rest = every.std(axis=0, ddof=1)
        return float(first - min(rest))

    return Quantity.of(name, gap, np.column_stack([errors, *others]), BELOW)


def permutation_p(gaps: np.ndarray) -> float:
    """One-sided: how often signs drawn at random make the mean gap at least as large."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PERMUTATIONS, len(gaps)))
    at_least = (signs @ gaps >= gaps.sum() - 1e-12).sum()
    return float((at_least + 1) / (PERMUTATIONS + 1))


def error_panels(values: Draws, sizes: Sequence[int], title: str) -> tuple[Panel, Panel]:
    """Mean errors along the number of training rows, and what each choice adds to the oracle's.

    The latter are differences on the same training sets: how the sets differ is not in their bands.
    """
    paired = {n: of - values[ORACLE] for n, of in values.items() if n != ORACLE}

    def panel(title: str, label: str, of: Draws) -> Panel:
        lines = mean_lines(np.array(sizes), of, (STYLES.get(name, "k-") for name in of))
        return Panel(title, "training rows", label, lines)

    return panel(title, "error", values), panel(f"{title}: beyond the oracle", "difference", paired)


def shaded(
    ours: Mapping[str, np.ndarray],
    paper: Mapping[str, Sequence[str]],
    sizes: Sequence[int],
    title: str,
) -> tuple[Panel, Panel]:
    """Mean errors as shades beside the printed ones: a row for each choice, a column for each size.

    What is not legible in the document is not a number.
    """
    theirs = {n: [float(of.split()[0] if of else "nan") for of in row] for n, row in paper.items()}
    means = {name: ours[name].mean(axis=0) for name in paper}

    def panel(text: str, values: Mapping[str, Sequence[float] | np.ndarray]) -> Panel:
        rows = (Series(name, np.arange(len(sizes)), np.array(of)) for name, of in values.items())
        columns = tuple(f"n = {n}" for n in sizes)
        return Panel(text, "", "mean error", tuple(rows), "shades", columns)

    return panel(title, means), panel(f"{title}, the document's", theirs)


def convergence_note(draws: Draws, key: str) -> str:
    """In how many runs a path stopped short at some penalty."""
    short = np.asarray(draws[key])
    if not short.any():
        return f"every path converged at every penalty, in all folds of {short.size} runs."
    return (
        f"NOT CONVERGED: in {np.count_nonzero(short)} of {short.size} runs a path stopped short at "
        "some penalty, in a fold or on all rows; its errors are those of where it stopped."
    )
