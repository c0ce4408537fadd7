"""How the experiments of document 002 report: methods by sizes, and who errs less than whom.

A quantity of the draws is `(replicate, size)`; sizes are numbers of training rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from truerisk.papers.bee_choosing import ORACLE
from truerisk.papers.experiment import Draws
from truerisk.papers.figures import MeansGrid, Panel, PaperTable, Series, mean_lines, printed
from truerisk.papers.statements import BELOW, Quantity, Statement

PERMUTATIONS = 10_000
SPLIT_UNIT = "training sets of each size"
STYLES = {
    "CV-5": "b--",
    "CV-10": "c--",
    "BEEp": "r--",
    "BEEi": "r-",
    "EBIC": "m:",
    "oracle": "g-",
}  # as in the document, where it has them

Known = Mapping[str, Sequence[float]]  # a reference per size


def size_tables(
    draws: Draws, sizes: Sequence[int], known: Known, n_known: int, foot: str = ""
) -> Iterator[PaperTable]:
    """Each size against an earlier run of the same recipe with `n_known` training sets."""
    for place, n in enumerate(sizes):
        values = {name: of[:, place] for name, of in draws.items()}
        reference = {
            name: (of[place], printed(values[name], n_known, 3)) for name, of in known.items()
        }
        title = f"n = {n}{foot}"
        yield PaperTable.of(title, f"{n_known} sets of this recipe", values, reference)


def beside(draws: Draws, sizes: Sequence[int], paper: Mapping[str, Sequence[str]]) -> PaperTable:
    """The document's numbers in the names: they are of another generator, and do not compare."""
    values = {
        f"{name}, n = {n} (document: {number})": draws[name][:, j]
        for name, every in paper.items()
        for j, (n, number) in enumerate(zip(sizes, every, strict=True))
        if number
    }
    return PaperTable.of("beside the document", "not comparable", values)


def under(draws: Draws, word: str, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The errors of a learner's choices by their names, without its word."""
    return {name: draws[f"{word} {name}"] for name in names}


def mean_grid(values: Draws, sizes: Sequence[int], title: str) -> MeansGrid:
    """Means by size, a row for each name."""
    rows = {name: of.T for name, of in values.items()}
    return MeansGrid.of(title, (f"n = {n}" for n in sizes), rows)


def by_size(name: str, values: np.ndarray, sizes: Sequence[int]) -> dict[str, np.ndarray]:
    """The same quantity once for each size."""
    return {f"{name}, n = {n}": of for n, of in zip(sizes, values.T, strict=True)}


# a learner, who of its choices errs less than whom, and places of the sizes
Less = tuple[str, str, str, *tuple[int, ...]]


def less(draws: Draws, sizes: Sequence[int], *claims: Less, foot: str = "") -> Iterator[Statement]:
    """Whether one choice errs less than another at some sizes, over the same training sets.

    The p-value of a paired permutation test, one-sided, stands beside it: the document's test.
    """
    for learner, lower, higher, *places in claims:
        low, high = (draws[f"{learner} {name}".strip()] for name in (lower, higher))
        head = f"{learner}: " if learner else ""
        for place in places:
            gaps = (high - low)[:, place]
            yield Statement.of(
                f"{head}{lower} lies below {higher} at n = {sizes[place]}{foot}",
                Quantity.mean(f"{higher} − {lower}", gaps),
                remark=f"paired permutation test, one-sided: p = {permutation_p(gaps):.4f}",
            )


def spread_gaps(
    draws: Draws, sizes: Sequence[int], text: str, name: str, *others: str
) -> Iterator[Quantity]:
    """The standard deviation of one choice's errors, less the smallest of others', by size."""

    def gap(every: np.ndarray) -> float:
        first, *rest = every.std(axis=0, ddof=1)
        return float(first - min(rest))

    every = np.stack([draws[one] for one in (name, *others)], axis=1)
    for j, n in enumerate(sizes):
        yield Quantity.of(f"{text}, n = {n}", gap, every[:, :, j], BELOW)


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
    short = draws[key]
    unknown, n_short = np.count_nonzero(np.isnan(short)), np.nansum(short)
    if unknown:
        return (
            f"NOT KNOWN of {unknown} of {short.size} runs whether a path stopped short: they were "
            f"drawn in threads, where warnings are not heard. Of the others {n_short:g} have one "
            "that did."
        )
    if not n_short:
        return f"every path converged at every penalty, in all folds of {short.size} runs."
    return (
        f"NOT CONVERGED: in {n_short:g} of {short.size} runs a path stopped short at "
        "some penalty, in a fold or on all rows; its errors are those of where it stopped."
    )
