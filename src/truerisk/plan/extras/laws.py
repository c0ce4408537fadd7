"""Training sets drawn at random from a distribution, for which expected losses are requested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.rows import splitmix64
from truerisk.plan.blocks import ALL, Blocks, RowSets
from truerisk.plan.extra import Extra
from truerisk.plan.plan import Plan

DISTRIBUTION_NAMES = ("subsets", "bootstraps")


@frozen
class SampleDistribution:
    """Distribution of a training set of `size` rows, drawn with or without replacement.

    The kind "subsets" draws without replacement, the kind "bootstraps" with replacement.
    """

    kind: str
    size: int


@frozen(eq=False)
class Laws(Extra):
    """Request for random training sets: `size[j]` rows for fit `fit[j]`, drawn as `kind[j]` says.

    `kind[j]` is an index in `DISTRIBUTION_NAMES`. The result of such a fit for row i is the
    expected loss of row i over all draws that do not contain i, with the probabilities of the
    distribution.
    """

    fit: np.ndarray
    kind: np.ndarray
    size: np.ndarray

    draws_training_sets = True

    def __iter__(self) -> Iterator[tuple[int, SampleDistribution]]:
        """Yield every fit whose training set is drawn, ascending, with its distribution."""
        for j in np.argsort(self.fit, kind="stable").tolist():
            yield (
                int(self.fit[j]),
                SampleDistribution(DISTRIBUTION_NAMES[int(self.kind[j])], int(self.size[j])),
            )

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {"laws": "it knows no closed form for train sets drawn at random."}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Laws | None:
        is_selected = np.isin(self.fit, fits)
        new_fit_numbers = np.searchsorted(fits, self.fit[is_selected]).astype(np.int32)
        return (
            Laws(new_fit_numbers, self.kind[is_selected], self.size[is_selected])
            if is_selected.any()
            else None
        )

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {"laws.fit": self.fit, "laws.kind": self.kind, "laws.size": self.size}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Laws:
        fits, kinds, sizes = (arrays[f"laws.{name}"] for name in ("fit", "kind", "size"))
        return cls(fits.astype(np.int32), kinds.astype(np.int8), sizes.astype(np.int32))

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> Laws:
        return Laws((self.fit + n_fits).astype(np.int32), self.kind, self.size)

    @override
    def join(self, others: Sequence[Laws]) -> Laws:
        all_requests = [self, *others]
        return Laws(
            np.concatenate([law_request.fit for law_request in all_requests]),
            np.concatenate([law_request.kind for law_request in all_requests]),
            np.concatenate([law_request.size for law_request in all_requests]),
        )

    @override
    def fit_keys(self, n_fits: int) -> np.ndarray:
        keys = np.zeros(n_fits, dtype=np.uint64)
        np.add.at(keys, self.fit, splitmix64(splitmix64(self.size) + self.kind.astype(np.uint64)))
        return keys

    @override
    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        sizes = sizes.copy()
        sizes[self.fit] = self.size
        return sizes

    @override
    def is_row_left_out(self, fit: np.ndarray) -> np.ndarray:
        return np.isin(fit, self.fit)


def distribution_of_fit(plan: Plan, fit: int) -> SampleDistribution | None:
    """Return the distribution of the training set of a fit, or None if the set is fixed."""
    law_request = Laws.from_holder(plan)
    if law_request is None:
        return None
    fit_positions = np.flatnonzero(law_request.fit == fit)
    return (
        SampleDistribution(
            DISTRIBUTION_NAMES[int(law_request.kind[fit_positions[0]])],
            int(law_request.size[fit_positions[0]]),
        )
        if len(fit_positions)
        else None
    )


def plan_all_draws(n_rows: int, distribution_name: str, sample_size: int) -> Plan:
    """Plan one fit that stands for every training set that can be drawn from a distribution.

    Its result for a row is the mean loss over the training sets without that row.

    >>> distribution_of_fit(plan_all_draws(5, "subsets", 3), 0)
    SampleDistribution(kind='subsets', size=3)
    """
    zero_array = np.zeros(1, np.int32)
    no_removed_blocks = np.empty(0, np.int32), np.zeros(2, np.int64)
    return Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows])),
        train=RowSets(np.full(1, ALL, np.int32), *no_removed_blocks),
        test=RowSets(zero_array, *no_removed_blocks),
        fit=zero_array,
        extra=Laws(
            zero_array,
            np.array([DISTRIBUTION_NAMES.index(distribution_name)], np.int8),
            np.array([sample_size], np.int32),
        ),
    )
