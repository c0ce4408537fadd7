"""Changed labels of single rows, with which some fits of a plan are trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.rows import splitmix64
from truerisk.plan.extra import Extra


@frozen(eq=False)
class Flips(Extra):
    """Request for changed labels: in fit `fit[j]`, row `row[j]` has the class code `code[j]`."""

    fit: np.ndarray
    row: np.ndarray
    code: np.ndarray

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {"flips": "it learns the labels as they are, and no others in their place."}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Flips:
        is_selected = np.isin(self.fit, fits)
        new_fit_numbers = np.searchsorted(fits, self.fit[is_selected]).astype(np.int32)
        return replace(
            self, fit=new_fit_numbers, row=self.row[is_selected], code=self.code[is_selected]
        )

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {"flips.fit": self.fit, "flips.row": self.row, "flips.code": self.code}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Flips:
        return Flips(*(arrays[f"flips.{name}"].astype(np.int32) for name in ("fit", "row", "code")))

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> Any:
        return replace(self, fit=(self.fit + n_fits).astype(np.int32))

    @override
    def join(self, others: Sequence[Flips]) -> Any:
        all_requests = [self, *others]
        return replace(
            self,
            fit=np.concatenate([flip_request.fit for flip_request in all_requests]),
            row=np.concatenate([flip_request.row for flip_request in all_requests]),
            code=np.concatenate([flip_request.code for flip_request in all_requests]),
        )

    @override
    def map_to_rows(self, rows: np.ndarray) -> Flips:
        return replace(self, row=rows[self.row])

    @override
    def fit_keys(self, n_fits: int) -> np.ndarray:
        keys = np.zeros(n_fits, dtype=np.uint64)
        change_keys = splitmix64(self.row.astype(np.uint64) << np.uint64(20)) + self.code.astype(
            np.uint64
        )
        np.add.at(keys, self.fit, splitmix64(change_keys))
        return keys

    @override
    def labels(self, fit: int, labels: np.ndarray, names: np.ndarray | None = None) -> np.ndarray:
        is_of_fit = self.fit == fit
        if is_of_fit.any():
            labels = labels.copy()
            labels[self.row[is_of_fit]] = (
                self.code[is_of_fit] if names is None else names[self.code[is_of_fit]]
            )
        return labels


def get_label_flips(plan: Any, fit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose labels are changed in a fit of a plan, and their new codes."""
    label_flips = Flips.from_holder(plan)
    if label_flips is None:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    return label_flips.row[label_flips.fit == fit], label_flips.code[label_flips.fit == fit]
