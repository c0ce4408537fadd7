"""Do intervals of outcomes in time hold? `python -m benchmarks.calibration.survival [--sets N]`.

A Cox regression (of scikit-survival) of 6 columns, of which two carry something, on n rows that are
censored lightly (a quarter of them) or heavily (60 %). Each interval is held to the number of
the model of all rows on fresh rows: the orders, which depend on the censoring, on 3,000 rows that
are censored likewise, all else on 5,000 whose times are known. Then rows are drawn from a table of
7,874 people (flchain), of whom 72 % are censored, and the others are the fresh rows. In the last
cells a finished model of 200 rows is asked about few rows of others. An hour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import truerisk as tr
from benchmarks.calibration.validated import rate_cells
from benchmarks.machine import one_blas_thread
from truerisk.contracts import Request
from truerisk.data.data import Data
from truerisk.engines.running.answering import predict_all_rows
from truerisk.losses.loss_words import as_loss
from truerisk.results.interval import Interval
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.outcomes import Outcomes

__all__ = ["main"]

HORIZON, UNTIL, DAYS = 0.7, 0.8, 5000.0
DEVELOPED = 200
ORDERS = ("concordance", "uno")
AT_TIMES = (f"brier-at-{HORIZON:g}", f"auc-at-{HORIZON:g}", "integrated-brier")
LINE = ("slope", "in-the-large")


@dataclass(frozen=True)
class Cell:
    """n rows; `censoring` is the rate at which they are lost."""

    n: int
    censoring: float

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.n}, lost at a rate of {self.censoring:g}"

    def draw(self, n: int, rng: np.random.Generator, *, known: bool = False) -> tuple[Any, Any]:
        """Rows and outcomes, or with `known` the times of all events."""
        X = rng.standard_normal((n, 6))
        time = rng.exponential(np.exp(-0.8 * X[:, 0] - 0.4 * X[:, 1]))
        lost = np.full(n, np.inf) if known else rng.exponential(1 / self.censoring, n)
        lost = np.minimum(lost, 1e6 if known else 3.0)
        y = np.empty(n, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = time <= lost, np.minimum(time, lost)
        return X, y

    def fresh(self, rng: np.random.Generator) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Words, and the rows by which they are known."""
        yield ORDERS, self.draw(3_000, rng)
        yield AT_TIMES, self.draw(5_000, rng, known=True)

    def truth(self, model: Any, rng: np.random.Generator) -> dict[str, float]:
        """The numbers of a model on fresh rows, scores as scores."""
        numbers = {}
        for words, rows in self.fresh(rng):
            data = Data.check(*rows, task="survival")
            losses = {word: as_loss(loss_of(word), data) for word in words}
            asked = sorted({HORIZON, *(h for loss in losses.values() for h in loss.horizons)})
            data = replace(data, horizons=tuple(asked))
            response = next(iter(losses.values())).response
            answers = np.asarray(predict_all_rows(model, data, Request(response)))[None]
            for word, loss in losses.items():
                risk = float(loss.of_set(data, np.arange(data.n_rows), answers, None)[0])
                numbers[word] = loss.perfect - risk if loss.is_score else risk
        place = 1 + data.horizons.index(HORIZON)
        by_then = answers[0][:, -place:].sum(axis=1)
        at = data.at_horizon(HORIZON)
        outcomes = Outcomes.from_predictions(
            at.class_codes, np.clip(by_then, 0.001, 0.999), at.sample_weight
        )
        line = CalibrationLine.from_outcomes(outcomes).measures()
        benefit = float(net_benefits(outcomes, np.array([0.3]))[0][0])
        return {**numbers, **{word: line[word] for word in LINE}, "net benefit at .3": benefit}


@dataclass(frozen=True)
class Table(Cell):
    """n rows of flchain, whose times are told in 5000 days; the others are fresh."""

    rest: list[Any] = field(default_factory=list)

    def draw(self, n: int, rng: np.random.Generator, *, known: bool = False) -> tuple[Any, Any]:
        from sksurv.datasets import load_flchain

        people, outcome = load_flchain()
        X = people[["age", "kappa", "lambda", "flc.grp"]].to_numpy(float)
        X = np.column_stack([X, people["sex"] == "F"])
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = outcome["death"], outcome["futime"] / DAYS
        order = rng.permutation(len(X))
        self.rest[:] = [X[order[n:]], y[order[n:]]]
        return X[order[:n]], y[order[:n]]

    def fresh(self, rng: np.random.Generator) -> Iterator[tuple[tuple[str, ...], Any]]:
        few = [part[:3_000] for part in self.rest]
        yield ORDERS, few
        yield AT_TIMES, self.rest


@dataclass(frozen=True)
class Finished(Cell):
    """n rows of others, about which a model of `DEVELOPED` rows is asked: its C, and AUC."""

    def fresh(self, rng: np.random.Generator) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield ORDERS[:1], self.draw(3_000, rng)
        yield AT_TIMES[1:2], self.draw(5_000, rng, known=True)


def cox() -> Any:
    """A Cox regression of scikit-survival, which `pip install 'truerisk[survival]'` brings."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return CoxPHSurvivalAnalysis(alpha=0.1)


def loss_of(word: str) -> Any:
    """The integrated score until a time that does not depend on the rows."""
    return tr.losses.IntegratedBrier(UNTIL) if word == "integrated-brier" else word


CELLS = (
    *(Cell(n, rate) for rate in (0.2, 1.6) for n in (100, 200, 500)),
    *(Table(n, np.nan) for n in (200, 500)),
    *(Finished(30, 0.2), Finished(60, 0.2), Finished(60, 1.6)),
)


def intervals(X: Any, y: Any) -> Iterator[tuple[str, Interval | None]]:
    """What is said of a Cox regression, on the scales of the scores."""
    model = cox()
    scores = {word: loss_of(word) for word in ("uno", AT_TIMES[0], AT_TIMES[2])}
    search = tr.HonestSearchCV(model, None, scoring={"concordance": "concordance", **scores}).fit(
        X, y
    )
    yield "concordance", search.risk_.interval
    for word in scores:
        yield word, search.risk_.scores[word].interval
    asked = {"horizon": HORIZON, "replicates": 0, "thresholds": [0.3], "clip": 0.001}
    found = tr.validate(model, X, y, **asked)
    yield AT_TIMES[1], found.discrimination["auc"].interval
    for word in LINE:
        yield word, found.calibration[word].interval
    low, high = found.net_benefit.low, found.net_benefit.high
    yield "net benefit at .3", None if low is None else Interval(low[0], high[0], "", 0.95)


def intervals_finished(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Interval | None]]:
    """What is said of a model that is asked as it is."""
    found = tr.validate(model, X, y, prefit=True, horizon=HORIZON)
    yield "concordance", found.risk.interval
    yield AT_TIMES[1], found.discrimination["auc"].interval


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Draw the data sets of a cell and print how many intervals hold."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    held, widths, lost = defaultdict(list), defaultdict(list), []
    for _ in range(n_sets):
        X, y = cell.draw(cell.n, rng)
        lost.append(1 - y["event"].mean())
        finished = isinstance(cell, Finished)
        model = cox().fit(*(cell.draw(DEVELOPED, rng) if finished else (X, y)))
        truth = cell.truth(model, rng)
        for word, interval in intervals_finished(model, X, y) if finished else intervals(X, y):
            if interval is not None:
                held[word].append(truth[word] in interval)
                widths[word].append(interval.width)
    print(f"n = {cell.n}, {np.mean(lost):.0%} censored")
    for word, inside in held.items():
        width, n = np.mean(widths[word]), len(inside)
        print(f"  {word:17} covered {np.mean(inside):.3f} of {n}, width {width:.3f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=300)


if __name__ == "__main__":
    one_blas_thread()
    main()
