"""What models answered about rows they had not seen, row by row: for whoever computes further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.core.answers import Answers, Response
from truerisk.core.table.data import Data

__all__ = ["AnsweredRows"]

OF_ROWS: tuple[Response, ...] = ("label", "probability", "score", "value")


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Answers to one plan of every line in it, or of one `candidate`, beside the truth.

    `told` are the answers and those that were asked for besides; `truth` is y, and `classes` are
    its labels in the order of their codes, None for numbers. `times` are those of all rows, if they
    had any; `placed` says whether they had places.
    """

    told: tuple[Answers, ...]
    truth: np.ndarray
    classes: np.ndarray | None
    candidate: int = 0
    times: np.ndarray | None = None
    placed: bool = False

    @classmethod
    def of(cls, answers: Answers | None, data: Data) -> AnsweredRows | None:
        """None where rows were not answered one by one: by a scorer, or for drawn train sets."""
        if answers is None:
            return None
        known = {one.response: one for one in (*answers.also, answers)}
        told = tuple(known[response] for response in OF_ROWS if response in known)
        truth = data.y if data.classes is None else data.classes[data.codes]
        if not told:
            return None
        placed = data.block is not None
        return cls(told, np.asarray(truth), data.classes, times=data.time, placed=placed)

    @property
    def n_lines(self) -> int:
        """Of how many candidates there are answers."""
        return self.told[0].n_candidates

    def line(self, candidate: int) -> AnsweredRows:
        """The answers of one candidate."""
        return replace(self, candidate=candidate)

    def columns(self) -> dict[str, list[Any]]:
        """Row, fold, truth and answers of every test, in the order of the rows."""
        plan = self.told[0].plan
        rows, _ = plan.positions
        question: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
        order = np.lexsort((plan.fold[question], plan.repeat[question], rows))
        found: dict[str, np.ndarray] = {"row": np.asarray(rows), "fold": plan.fold[question]}
        if len(np.unique(plan.repeat)) > 1:
            found["repeat"] = plan.repeat[question]
        found |= dict(_columns("truth", self.truth[rows]))
        for one in self.told:
            found |= self._answers(one)
        order = order[self.unseen[order]]
        return {name: values[order].tolist() for name, values in found.items()}

    @property
    def unseen(self) -> np.ndarray:
        """Which answers are of a model that did not see the row: a bootstrap asks others, too."""
        plan = self.told[0].plan
        seen = [plan.seen(q) & ~plan.without_row[q] for q in range(plan.n_questions)]
        return ~np.concatenate(seen)

    def _answers(self, one: Answers) -> dict[str, np.ndarray]:
        values = one.values[self.candidate]
        told = np.repeat(one.answered[self.candidate], one.plan.test_sizes)
        if one.response == "label":
            assert self.classes is not None
            labels: np.ndarray = self.classes.astype(object)[values]
            labels[~told | (values < 0)] = None
            return {"label": labels}
        if one.response == "probability":
            assert self.classes is not None
            each = zip(self.classes.tolist(), values.T, strict=True)
            return {f"probability_{label}": shares for label, shares in each}
        return dict(_columns(one.response, values))


def _columns(name: str, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """One column, or one of each target."""
    if values.ndim == 1:
        yield name, values
        return
    for place, column in enumerate(values.T):
        yield f"{name}_{place}", column
