"""Fits that see more than rows as they are: replaced labels, drawn train sets, moved points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["LAWS", "Flips", "Law", "Laws", "Moves"]


@dataclass(frozen=True, eq=False)
class Flips:
    """Label replacements: in fit `fit[j]`, row `row[j]` is shown with the class code `code[j]`."""

    fit: np.ndarray
    row: np.ndarray
    code: np.ndarray


LAWS = ("subsets", "bootstraps")


@dataclass(frozen=True)
class Law:
    """`size` rows drawn at random: "subsets" without replacement, "bootstraps" with it."""

    kind: str
    size: int


@dataclass(frozen=True, eq=False)
class Laws:
    """Train sets drawn at random: fit `fit[j]` sees `size[j]` of its rows by `LAWS[kind[j]]`.

    What is asked of such a fit is answered by expected losses: that of row i over all draws that
    do not hold i, each as likely as the law has it.
    """

    fit: np.ndarray
    kind: np.ndarray
    size: np.ndarray

    def __iter__(self) -> Iterator[tuple[int, Law]]:
        """Every drawn fit, ascending, with its law."""
        for j in np.argsort(self.fit, kind="stable").tolist():
            yield int(self.fit[j]), Law(LAWS[int(self.kind[j])], int(self.size[j]))

    def of(self, fit: int) -> Law | None:
        """The law of a fit, None where its train set is as it stands."""
        at = np.flatnonzero(self.fit == fit)
        return Law(LAWS[int(self.kind[at[0]])], int(self.size[at[0]])) if len(at) else None


@dataclass(frozen=True, eq=False)
class Moves:
    """Questions about points drawn around rows: question `question[j]`, ascending, by `seed[j]`.

    Row i is moved by a Gaussian whose standard deviation in column k is
    `row_scale[i] * column_scale[k]`. All candidates are asked about the same points.
    """

    question: np.ndarray
    seed: np.ndarray
    row_scale: np.ndarray
    column_scale: np.ndarray

    def of(self, question: int, rows: np.ndarray) -> np.ndarray | None:
        """By how much each of the rows is moved, None where a question is about the rows."""
        at = np.flatnonzero(self.question == question)
        if not len(at):
            return None
        noise = np.random.default_rng(int(self.seed[at[0]])).standard_normal(
            (len(self.row_scale), len(self.column_scale))
        )
        return noise[rows] * self.row_scale[rows, None] * self.column_scale

    def only(self, questions: np.ndarray) -> Moves | None:
        """The moves of these questions, which are numbered 0, 1, ... in the new plan."""
        places = np.flatnonzero(np.isin(questions, self.question)).astype(np.int32)
        if not len(places):
            return None
        at = np.searchsorted(self.question, questions[places])
        return Moves(places, self.seed[at], self.row_scale, self.column_scale)
