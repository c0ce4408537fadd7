"""Data sets on which a method has no value, by a stated rule and never in silence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.statistics.hierarchical import FEWEST_SETS, FEWEST_SPLITS
from truerisk.study.comparison.scores import Scores
from truerisk.study.comparison.terms import Terms

__all__ = ["Held", "hold"]

NAMED = 5


@dataclass(frozen=True, eq=False)
class Held:
    """The table that takes part; `for_ranks` is finite but for methods that rank last."""

    scores: Scores
    for_ranks: np.ndarray
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def no_splits(self) -> str | None:
        """Why single splits of data sets cannot be looked at; empty where none were given."""
        return why_no_splits(self.scores)


def why_no_splits(scores: Scores) -> str | None:
    """What the hierarchical test lacks: None where it has all, empty where nothing was given."""
    if all(splits is None for splits in scores.splits):
        return ""
    if len(scores.data_sets) < FEWEST_SETS:
        return f"it needs {FEWEST_SETS} data sets"
    for name, splits, correlation in zip(
        scores.data_sets, scores.splits, scores.correlation, strict=True
    ):
        if splits is None or len(splits) < FEWEST_SPLITS:
            return f"it needs {FEWEST_SPLITS} results of every method on '{name}'"
        if correlation is None:
            return f"how splits correlate on '{name}' is not known (correlation=)"
    return None


def hold(scores: Scores, terms: Terms) -> Held:
    """Apply the rule for missing cells; what it does is a note."""
    lacking = np.isnan(scores.values)
    oriented = terms.sign * scores.values
    if not lacking.any():
        return Held(scores, oriented, (), ())
    if terms.missing == "last":
        _refuse_strangers(scores)
        notes = (_last(scores, lacking),)
        return Held(scores, np.where(lacking, np.inf, oriented), (), notes)
    kept = np.flatnonzero(~lacking.any(1))
    left_out = tuple(scores.data_sets[i] for i in np.flatnonzero(lacking.any(1)))
    if len(kept) < 2:
        worst = int(lacking.sum(0).argmax())
        raise Refusal(
            f"only {len(kept)} of {len(scores.data_sets)} data sets have a value of every method; "
            f"'{scores.methods[worst]}' lacks most ({int(lacking[:, worst].sum())}): leave it out, "
            "or use missing='last'."
        )
    whole = scores.taken(kept)
    return Held(whole, oriented[kept], left_out, (_left_out(scores, lacking, left_out),))


def _left_out(scores: Scores, lacking: np.ndarray, left_out: tuple[str, ...]) -> str:
    lacked = ", ".join(
        f"{method} on {int(n)}"
        for method, n in zip(scores.methods, lacking.sum(0), strict=True)
        if n
    )
    return (
        f"{len(left_out)} of {len(scores.data_sets)} data sets take no part, as a method has no "
        f"value there ({lacked}): {_listed(left_out)}"
    )


def _last(scores: Scores, lacking: np.ndarray) -> str:
    cells = [
        f"{scores.methods[j]} on {scores.data_sets[i]}"
        for i, j in zip(*lacking.nonzero(), strict=True)
    ]
    return (
        f"{len(cells)} of {lacking.size} cells are missing and rank last (those of one data set "
        f"tied): {_listed(cells)}; differences of two methods are of the data sets on which both "
        "have values"
    )


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _refuse_strangers(scores: Scores) -> None:
    """Two methods need two data sets on which both have values."""
    there = (~np.isnan(scores.values)).astype(int)
    both = there.T @ there
    for a, b in zip(*np.triu_indices(len(scores.methods), 1), strict=True):
        if both[a, b] < 2:
            raise Refusal(
                f"'{scores.methods[a]}' and '{scores.methods[b]}' have values on "
                f"{both[a, b] or 'no'} common data set{'' if both[a, b] == 1 else 's'}: leave "
                "one of them out."
            )
