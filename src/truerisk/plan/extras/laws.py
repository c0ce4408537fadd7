"""Training sets drawn at random by a law, for which expected losses are requested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.rows import mixed
from truerisk.plan.blocks import ALL, Blocks, RowSets
from truerisk.plan.extra import Extra
from truerisk.plan.plan import Plan

LAWS = ("subsets", "bootstraps")


@frozen
class Law:
    """Law by which `size` rows are drawn: "subsets" without replacement, "bootstraps" with it."""

    kind: str
    size: int


@frozen(eq=False)
class Laws(Extra):
    """Training sets drawn at random: fit `fit[j]` sees `size[j]` rows drawn by `LAWS[kind[j]]`.

    The answer of such a fit for row i is the expected loss of row i over all draws that do not
    contain i, with the probabilities of the law.
    """

    fit: np.ndarray
    kind: np.ndarray
    size: np.ndarray

    draws = True

    def __iter__(self) -> Iterator[tuple[int, Law]]:
        """Yield every drawn fit, ascending, with its law."""
        for j in np.argsort(self.fit, kind="stable").tolist():
            yield int(self.fit[j]), Law(LAWS[int(self.kind[j])], int(self.size[j]))

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {"laws": "it knows no closed form for train sets drawn at random."}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Laws | None:
        mine = np.isin(self.fit, fits)
        place = np.searchsorted(fits, self.fit[mine]).astype(np.int32)
        return Laws(place, self.kind[mine], self.size[mine]) if mine.any() else None

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {"laws.fit": self.fit, "laws.kind": self.kind, "laws.size": self.size}

    @classmethod
    @override
    def read(cls, arrays: Mapping[str, np.ndarray]) -> Laws:
        fit, kind, size = (arrays[f"laws.{name}"] for name in ("fit", "kind", "size"))
        return cls(fit.astype(np.int32), kind.astype(np.int8), size.astype(np.int32))

    @override
    def after(self, n_fits: int, n_questions: int) -> Laws:
        return Laws((self.fit + n_fits).astype(np.int32), self.kind, self.size)

    @override
    def joined(self, others: Sequence[Laws]) -> Laws:
        every = [self, *others]
        return Laws(
            np.concatenate([one.fit for one in every]),
            np.concatenate([one.kind for one in every]),
            np.concatenate([one.size for one in every]),
        )

    @override
    def fit_keys(self, n_fits: int) -> np.ndarray:
        keys = np.zeros(n_fits, dtype=np.uint64)
        np.add.at(keys, self.fit, mixed(mixed(self.size) + self.kind.astype(np.uint64)))
        return keys

    @override
    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        sizes = sizes.copy()
        sizes[self.fit] = self.size
        return sizes

    @override
    def without_row(self, fit: np.ndarray) -> np.ndarray:
        return np.isin(fit, self.fit)


def law_of(plan: Plan, fit: int) -> Law | None:
    """Return the law by which the training set of a fit is drawn, or None if it is fixed."""
    laws = Laws.from_holder(plan)
    if laws is None:
        return None
    at = np.flatnonzero(laws.fit == fit)
    return Law(LAWS[int(laws.kind[at[0]])], int(laws.size[at[0]])) if len(at) else None


def draw_every(n_rows: int, kind: str, size: int) -> Plan:
    """Plan one fit that stands for all training sets that can be drawn.

    Its answer for a row is the mean loss over the training sets without that row.

    >>> law_of(draw_every(5, "subsets", 3), 0)
    Law(kind='subsets', size=3)
    """
    zero = np.zeros(1, np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(2, np.int64)
    return Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows])),
        train=RowSets(np.full(1, ALL, np.int32), *no_minus),
        test=RowSets(zero, *no_minus),
        fit=zero,
        extra=Laws(zero, np.array([LAWS.index(kind)], np.int8), np.array([size], np.int32)),
    )
