"""A race among candidates: folds come one after the other, and who cannot win is asked no more.

After some folds candidate c has lost δ more than the best one, per unit of weight, on rows that
weigh W. Of all rows, that weigh W + R, it will then have lost about as much, and a difference of 0
lies z = δ √(W + R) / √(V R) standard deviations away from that: V is the variance of δ, and of the
rows that are left the same is expected. The best one itself, and who ties with it, has z = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from truerisk.core.answers import Answers, filled
from truerisk.core.losses import RowLoss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.set_risks import row_losses

__all__ = ["Race", "hopeless", "raced"]

LEAST = 1.75  # standard deviations; the price of a wrong farewell is higher early than late …
MORE = 1.0  # … and so is what it spares: this is added in proportion to the rows that were seen
UNSEEN = 2  # rows that differ by the usual amount are taken to be among those seen besides

AskSome = Callable[[np.ndarray], Answers]
"""Answers to candidate c in fit f where the array says so."""


@dataclass(eq=False)
class Race:
    """One race over the questions `order` of a plan, each weighing its rows; who is `alive`."""

    order: np.ndarray
    alive: np.ndarray
    total: float
    losses: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    groups: list[np.ndarray] = field(default_factory=list)

    def see(self, losses: np.ndarray, weights: np.ndarray, groups: np.ndarray | None) -> None:
        """The losses of all candidates on the rows of the next question."""
        self.losses.append(losses)
        self.weights.append(weights)
        if groups is not None:
            self.groups.append(groups)
        at = np.flatnonzero(self.alive)
        seen = np.concatenate([part[at] for part in self.losses], axis=1)
        groups = np.concatenate(self.groups) if self.groups else None
        self.alive[at[hopeless(seen, np.concatenate(self.weights), self.total, groups)]] = False


def raced(
    ask: AskSome, plan: Plan, races: Sequence[np.ndarray], n: int, seen: Seen
) -> tuple[Answers, np.ndarray]:
    """Answers of n candidates, and who reached the end of each race, of several run side by side.

    `races` are the questions of each one in its order. All races ask their next question together,
    so that a fit that serves two of them is made once.
    """
    running = [Race(order, np.ones(n, dtype=bool), float(seen.of(order).sum())) for order in races]
    parts: list[Answers] = []
    made = np.zeros((n, plan.n_fits), dtype=bool)
    for turn in range(max(len(order) for order in races)):
        asked = np.zeros_like(made)
        going = [race for race in running if turn < len(race.order)]
        for race in going:
            asked[race.alive, plan.fit[race.order[turn]]] = True
        asked &= ~made
        if asked.any():
            parts = [filled([*parts, ask(asked)])]
            made |= asked
        for race in going:
            if turn + 1 < len(race.order):
                race.see(*seen.on(parts[0], int(race.order[turn])))
    return parts[0], np.array([race.alive for race in running])


@dataclass(frozen=True, eq=False)
class Seen:
    """What a race sees of answers: losses of rows, and what these weigh in the risk."""

    data: Data
    loss: RowLoss
    plan: Plan
    weights: np.ndarray

    def of(self, questions: np.ndarray) -> np.ndarray:
        """The weights of the rows of some questions."""
        offsets = self.plan.test_offsets
        return np.concatenate([self.weights[offsets[q] : offsets[q + 1]] for q in questions])

    def on(
        self, answers: Answers, question: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Losses, weights and groups of the rows of one question; NaN where nothing is known."""
        asked = np.array([question])
        rows = self.plan.test_rows(question)[0]
        groups = None if self.data.clusters is None else self.data.clusters[rows]
        return row_losses(answers.only(asked), self.data, self.loss), self.of(asked), groups


def hopeless(
    losses: np.ndarray, weights: np.ndarray, total: float, groups: np.ndarray | None = None
) -> np.ndarray:
    """Which candidates will in all likelihood not be the best on rows that weigh `total`.

    `losses[c]` are those of the rows seen so far. Rows of a group are added up first. Where a fit
    failed, no risk can come of it; where all have failed, none is better.

    >>> errors = np.array([[0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0]])
    >>> hopeless(errors, np.ones(6), 12.0).tolist()
    [False, True, False]
    """
    failed = np.isnan(losses).any(axis=1)
    if failed.all():
        return np.zeros(len(losses), dtype=bool)
    seen = float(weights.sum())
    sums = np.where(failed, np.inf, losses @ weights)
    more = losses - losses[int(sums.argmin())]
    mean = more @ weights / seen
    amounts = _by_group(weights * more, groups)
    shifts = _by_group(weights, groups)
    spread = ((amounts - mean[:, None] * shifts) ** 2).sum(axis=1)
    unlike = amounts[~failed]
    unlike = unlike[unlike != 0]
    spread += UNSEEN * float((unlike**2).mean()) if len(unlike) else 0.0
    variance = spread / seen**2
    with np.errstate(divide="ignore", invalid="ignore"):
        away = mean * np.sqrt(total / (variance * (total - seen)))
    found: np.ndarray = failed | (away > LEAST + MORE * seen / total)
    return found


def _by_group(amounts: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    if groups is None:
        return amounts
    order = np.argsort(groups, kind="stable")
    starts = np.unique(groups[order], return_index=True)[1]
    return np.add.reduceat(amounts[..., order], starts, axis=-1)
