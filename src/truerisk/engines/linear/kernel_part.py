"""Kernel ridge on one train set: its kernel decomposed, all penalties answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.engines.linear.fit import DOUBT, Manner, scales
from truerisk.kernels.spectral import EPS, Spectrum, answers_at, doubts_at, from_product, longest

__all__ = ["KernelPart", "kernel_of", "rounding_of"]

MANNER = Manner(penalised=True, intercept=False)


def kernel_of(setting: Mapping[str, Any], X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
    """The kernel of rows X with rows Y (None: with themselves), as KernelRidge computes it."""
    from sklearn.metrics.pairwise import pairwise_kernels

    given = {name: setting[name] for name in ("gamma", "degree", "coef0")}
    return pairwise_kernels(X, Y, metric=setting["kernel"], filter_params=True, **given)


def rounding_of(setting: Mapping[str, Any], *tables: np.ndarray) -> float:
    """How far an element of the kernel may be off, over EPS: squared distances lose what is far."""
    gamma = 1.0 / tables[0].shape[1] if setting["gamma"] is None else float(setting["gamma"])
    lengths = [np.einsum("ij,ij->i", X, X) for X in tables]
    square = max(float(squares.max(initial=0.0)) for squares in lengths)
    if setting["kernel"] == "linear":
        return square
    if setting["kernel"] in ("poly", "polynomial"):
        degree = float(setting["degree"])
        return float(max(degree, 1.0) * (gamma * square + abs(setting["coef0"])) ** degree)
    return 1.0 + 4.0 * gamma * square


@dataclass(frozen=True, eq=False)
class KernelPart:
    """A fit's kernel, targets and weights; `across` is the kernel of what is asked with its rows.

    `n_given` counts copies and rows of weight 0, which are not among the rows here.
    """

    inside: np.ndarray
    Y: np.ndarray
    root: np.ndarray
    n_given: int
    rounding: float
    across: np.ndarray

    @classmethod
    def of_rows(
        cls,
        setting: Mapping[str, Any],
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        asked: np.ndarray,
    ) -> KernelPart:
        """From the rows themselves."""
        kept = weights > 0
        X, Y = X[kept], y[kept].reshape(int(kept.sum()), -1)
        rounding = rounding_of(setting, X, asked)
        inside, across = kernel_of(setting, X, None), kernel_of(setting, asked, X)
        return cls(inside, Y, np.sqrt(weights[kept]), len(weights), rounding, across)

    @cached_property
    def spectrum(self) -> Spectrum:
        product = self.inside * np.multiply.outer(self.root, self.root)
        noise = self.rounding * float((self.root**2).max())
        return from_product(product, self.targets, noise=noise, dual=True)

    @cached_property
    def targets(self) -> np.ndarray:
        return self.Y * self.root[:, None]

    @cached_property
    def scale(self) -> np.ndarray:
        total = float(self.root @ self.root)
        return scales(self.targets, np.zeros(self.Y.shape[1]), total)

    def factors(self, penalties: np.ndarray) -> np.ndarray:
        """At which penalties a Cholesky factor exists beyond doubt."""
        values = self.spectrum.values
        smallest = min(float(values.min(initial=0.0)), 0.0)
        largest = float(np.abs(values).max(initial=0.0))
        return MANNER.works_on(smallest, largest, self.n_given, penalties)

    def own_doubts(self, penalties: np.ndarray) -> np.ndarray:
        """Rounding of the kernel of the rows asked about, times the solution."""
        solved = longest((self.spectrum.right / self.scale).T, self.spectrum, penalties)
        return EPS * self.rounding * float(self.root.max()) * solved

    def answers(self, across: np.ndarray, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`(penalty, row, target)`, and at which penalties rounding could move one of them."""
        sure = self.factors(penalties)
        found = np.zeros((len(penalties), len(across), self.Y.shape[1]))
        if sure.any():
            left = (across * self.root) @ self.spectrum.vectors
            kept = penalties[sure]
            doubts = doubts_at(left, 0.0, self.spectrum, kept, self.scale)
            doubts += self.own_doubts(kept)
            found[sure] = answers_at(left, self.spectrum, kept)
            sure[sure] = doubts <= DOUBT
        return found, ~sure
