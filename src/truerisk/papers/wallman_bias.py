"""Wallman §5.3: why the error of a chosen classifier is too small, by equations 5 to 7."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.statistics.selection_bias import SelectionBias
from truerisk.core.table.data import Data
from truerisk.datasets.simple import make_simple
from truerisk.methods.kfold import LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
from truerisk.papers.evaluating import answered, evaluated, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.report import Findings, MeansGrid, PaperTable, Row
from truerisk.papers.statements import ABOVE, Claim, Quantity, Statement

__all__ = ["WallmanBias", "wallman_bias"]

PER_CLASS = 25
TEST_PER_CLASS = 2000
N = 2 * PER_CLASS
KS = range(1, N - 1)  # leave-one-out trains on 49 rows: beyond that no k differs
NEAR = 0.05  # of the true error: what counts as unbiased
OFTEN = 20  # choices of a k from which its own numbers are told
EDGES = np.arange(0, 0.52, 0.02)


class WallmanBias(Experiment):
    """Leave-one-out of every k on 50 rows; the least error wins, the lowest k among equals."""

    word: ClassVar[str] = "wallman-bias"
    title: ClassVar[str] = "Wallman (2005), §5.3: why does the bias occur?"
    document: ClassVar[str] = (
        f"{PER_CLASS} + {PER_CLASS} points of the 'simple' problem, every k from 1 to {KS[-1]}; "
        "equations 5 to 7 in means"
    )
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 30

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("wallman bias", seed, number)
        parts = [
            make_simple((n, n), shuffle=False, random_state=rng)
            for n in (PER_CLASS, TEST_PER_CLASS)
        ]
        X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
        sample, loss = _data(X[:N], y[:N]), ZeroOne()
        whole = _data(X, y)
        told = evaluated(LeaveOneOut(), _family(), sample, loss, 0)
        fresh = answered(_family(), whole, loss, _on_fresh_rows())
        return {
            "estimates": values_of(told),
            "chosen": np.array(int(values_of(told).argmin())),
            "true": split_risks(fresh, whole, loss).ravel(),
        }

    def findings(self, draws: Draws) -> Findings:
        why = SelectionBias(draws["estimates"], draws["chosen"], draws["true"])
        return Findings(
            tables=(_means(why), _by_candidate(why)),
            claims=_claims(why),
            notes=NOTES,
            figures=(_figure(why),),
        )


@lru_cache(maxsize=1)
def _family() -> Family:
    from sklearn.neighbors import KNeighborsClassifier

    return Family.of(KNeighborsClassifier(), {"n_neighbors": KS})


@lru_cache(maxsize=1)
def _on_fresh_rows() -> Plan:
    """One fit on the sample, asked about all other rows."""
    builder = PlanBuilder(N + 2 * TEST_PER_CLASS)
    sample = builder.block(np.arange(N))
    builder.ask((sample, ()), (builder.block(np.arange(N, N + 2 * TEST_PER_CLASS)), ()))
    return builder.build()


def _data(X: np.ndarray, y: np.ndarray) -> Data:
    return Data(X, y, "classification", np.array([0, 1]), y)


def _means(why: SelectionBias) -> PaperTable:
    """The means of the mixtures, with their standard errors over data sets."""
    rows = [
        Row(name, told.mean, np.inf if told.std_error is None else told.std_error)
        for name, told in (
            ("reported, equation 6", why.reported),
            ("unselected, equation 7", why.unselected),
            ("true, equation 5", why.true),
            ("true, of those taken", why.true_of_chosen),
        )
        if told is not None
    ]
    return PaperTable("mean errors", "document", tuple(rows))


def _by_candidate(why: SelectionBias) -> MeansGrid:
    """The candidates that are taken most often, and what the taking does to their estimates."""
    often = np.sort(np.argsort(-why.shares, kind="stable")[:8])
    rows = []
    for name, every in (
        ("α", [why.chosen == n for n in often]),
        ("estimates when taken", [why.estimates[why.chosen == n, n] for n in often]),
        ("all estimates", [why.estimates[:, n] for n in often]),
        ("true", [_true(why)[:, n] for n in often]),
    ):
        rows.append((name, tuple(_mean(values) for values in every)))
    return MeansGrid("by candidate", tuple(f"k = {KS[n]}" for n in often), tuple(rows))


def _mean(values: np.ndarray) -> tuple[float, float]:
    spread = float(values.std(ddof=1)) if len(values) > 1 else np.inf
    return float(values.mean()) if len(values) else np.nan, spread / np.sqrt(max(len(values), 1))


def _true(why: SelectionBias) -> np.ndarray:
    assert why.true_risks is not None
    return why.true_risks


def _claims(why: SelectionBias) -> tuple[Statement, ...]:
    rows = np.column_stack([why.chosen, why.estimates, _true(why)])
    times = np.bincount(why.chosen, minlength=len(KS))
    often = np.flatnonzero(times >= min(OFTEN, times.max()))
    near = Claim.near(0.0, NEAR * float(why.true.mean) if why.true is not None else 0.0)

    def gap(of: str, less: str, claim: Claim = near) -> Quantity:
        def statistic(some: np.ndarray) -> float:
            told = _mixtures(some)
            return told[of] - told[less]

        return Quantity.of(f"{of} − {less}", statistic, rows, claim)

    return (
        Statement(
            "a distribution of the lowest estimates is biased: the errors that P reports (6) lie "
            "below the true ones",
            (gap("true (5)", "reported (6)", ABOVE),),
        ),
        Statement(
            "this holds for each classifier: the estimates by which it is taken lie below all of "
            f"its estimates (those taken {OFTEN} times or more)",
            tuple(_lucky(rows, int(n)) for n in often),
        ),
        Statement(
            "all estimates of the same classifiers (7) are unbiased: within a twentieth of the "
            "true errors",
            (gap("unselected (7)", "true (5)"),),
        ),
        Statement(
            "the true errors of all classifiers, weighed by α (5), are those of P: within a "
            "twentieth",
            (gap("true of those taken", "true (5)"),),
        ),
    )


def _mixtures(rows: np.ndarray) -> dict[str, float]:
    """The means of the mixtures, of some of the data sets."""
    chosen, n = rows[:, 0].astype(int), len(KS)
    why = SelectionBias(rows[:, 1 : n + 1], chosen, rows[:, n + 1 :])
    assert why.true is not None
    assert why.true_of_chosen is not None
    return {
        "reported (6)": why.reported.mean,
        "unselected (7)": why.unselected.mean,
        "true (5)": why.true.mean,
        "true of those taken": why.true_of_chosen.mean,
    }


def _lucky(rows: np.ndarray, n: int) -> Quantity:
    def statistic(some: np.ndarray) -> float:
        taken = some[some[:, 0] == n, n + 1]
        return float(some[:, n + 1].mean() - taken.mean()) if len(taken) else np.nan

    return Quantity.of(f"k = {KS[n]}: all − when taken", statistic, rows)


def _figure(why: SelectionBias) -> Panels:
    """The three distributions, and the candidates one by one."""
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    lines = []
    for name, told, style in (
        ("reported, p_a (6)", why.reported, "C0-"),
        ("unselected, p_b (7)", why.unselected, "C1--"),
        ("true, p (5)", why.true, "k:"),
    ):
        assert told is not None
        # estimates are multiples of 1/50: a bin each, its edges between them
        share, _ = np.histogram(told.values + EDGES[1] / 2, EDGES, weights=told.weights)
        lines.append(Series(name, middles - EDGES[1] / 2, share, style))
    ks = np.array(KS, dtype=float)
    seen = np.array([np.count_nonzero(why.chosen == n) >= OFTEN for n in range(len(KS))])
    when = [why.estimates[why.chosen == n, n].mean() for n in np.flatnonzero(seen)]
    by_k = (
        mean_line("all estimates", ks, why.estimates, "C1--"),
        mean_line("true errors", ks, _true(why), "k:"),
        Series(f"estimates when taken ({OFTEN} times or more)", ks[seen], np.array(when), "C0o"),
    )
    panels = (
        Panel("errors of the choice", "error", "share", tuple(lines)),
        Panel("classifier by classifier", "k", "mean error", by_k),
        Panel("how often each is taken", "k", "α", (Series("", ks, why.shares),), kind="bars"),
    )
    return Panels("wallman-bias", panels, columns=3)


NOTES = (
    (
        "the document describes a thought experiment with three classifiers and prints no numbers; "
        "here the classifiers are those of its §3.4, nearest neighbours with every k."
    ),
    (
        "leave-one-out of classes of equal size is pessimistic for large k, since the row that is "
        "left out makes its own class the smaller one: all estimates (7) lie a little above."
    ),
)

wallman_bias = WallmanBias()
