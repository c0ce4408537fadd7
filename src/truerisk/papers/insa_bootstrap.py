"""The lecture's bootstrap samples of one data set, and the error estimates that they give."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import Squared
from truerisk.core.plan.builder import PlanBuilder
from truerisk.methods.bootstrap import Bootstrap, Kind
from truerisk.methods.parts.set_risks import split_risks
from truerisk.methods.single_fit import Apparent
from truerisk.papers.evaluating import answered, evaluated, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.lecture import data_of
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["InsaBootstrap", "insa_bootstrap"]

N, N_TEST = 50, 1000
SAMPLES = 50
NOISE = 0.5
LEAF = 3  # rows of a leaf, at least
KINDS: tuple[Kind, ...] = ("bootstrap", "oob", ".632")
OUT = 0.368
FINE = np.linspace(-1, 1, 401)
SHOWN = 2  # samples that are drawn
NEAR = 0.01


class InsaBootstrap(Experiment):
    """Trees on 50 rows of a sine with noise, and on 50 bootstrap samples of them."""

    word: ClassVar[str] = "insa-bootstrap"
    title: ClassVar[str] = "INSA lecture: bootstrap samples, and the error estimates made of them"
    document: ClassVar[str] = (
        f"{N} rows of sin(4x + 1) with noise, regression trees with {LEAF} rows in a leaf, "
        f"{SAMPLES} samples"
    )
    replicates: ClassVar[int] = 200
    quick: ClassVar[int] = 20

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("insa bootstrap", seed, number)
        x = rng.uniform(-1, 1, N + N_TEST)
        y = np.sin(4 * x + 1) + NOISE * rng.standard_normal(len(x))
        data, loss = data_of(x[:N], y[:N]), Squared()
        rows = rng.integers(N, size=(SAMPLES, N))
        found: dict[str, float] = {
            kind: values_of(evaluated(Bootstrap(kind, samples=rows), _tree(), data, loss, 0))[0]
            for kind in KINDS
        }
        found["training"] = values_of(evaluated(Apparent(), _tree(), data, loss, 0))[0]
        true, lines = _on_fresh_rows(x, y, rows)
        missed = np.mean([1 - len(np.unique(one)) / N for one in rows])
        return {
            **{name: np.array(value) for name, value in found.items()},
            "true": true[0],
            "true of samples": true[1:].mean(),
            "missed": np.array(missed),
            "x": x[:N],
            "y": y[:N],
            "rows": rows[:SHOWN],
            "lines": lines[: SHOWN + 1],
        }

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_errors(draws),),
            claims=_claims(draws),
            notes=(
                "the lecture draws one data set and two samples of it, and prints no numbers.",
                (
                    "the same samples serve all three estimates; the true error is measured on "
                    f"{N_TEST} fresh rows."
                ),
            ),
            figures=(_figure(draws),),
        )


@lru_cache(maxsize=1)
def _tree() -> Family:
    from sklearn.tree import DecisionTreeRegressor

    return Family.of(DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0))


def _on_fresh_rows(x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The true errors, and the curves, of the tree of all rows and of that of each sample."""
    grid = np.append(x, FINE)
    builder = PlanBuilder(len(grid))
    test = builder.block(np.arange(N, N + N_TEST))
    fine = builder.block(np.arange(N + N_TEST, len(grid)))
    for part in (test, fine):
        for some in (np.arange(N), *rows):
            builder.ask((builder.block(some), ()), (part, ()))
    data = data_of(grid, np.append(y, np.zeros(len(FINE))))
    plan = builder.build()
    answers = answered(_tree(), data, Squared(), plan)
    risks = split_risks(answers, data, Squared())[0, : len(rows) + 1]
    return risks, answers.values[0, -(len(rows) + 1) * len(FINE) :].reshape(-1, len(FINE))


def _errors(draws: Draws) -> PaperTable:
    names = {
        "training error": "training",
        "bootstrap (Err_boot)": "bootstrap",
        "out of bag (Err_oob)": "oob",
        ".632": ".632",
        "true error": "true",
        "true error of a sample's tree": "true of samples",
    }
    rows = tuple(mean_row(name, draws[key]) for name, key in names.items())
    return PaperTable(f"mean squared error, noise {NOISE**2:.2f}", "document", rows)


def _claims(draws: Draws) -> tuple[Statement, ...]:
    true, oob, half = draws["true"], draws["oob"], draws[".632"]
    both = np.column_stack([half - true, oob - true])

    def nearer(some: np.ndarray) -> float:
        corrected, biased = np.abs(some.mean(axis=0))
        return float(corrected - biased)

    return (
        Statement(
            "Err_boot is too optimistic: it underestimates the generalisation error",
            (Quantity.mean("true error − Err_boot", true - draws["bootstrap"]),),
        ),
        Statement(
            f"a row is not in a bootstrap sample with probability {OUT}",
            (Quantity.mean("share missed", draws["missed"], Claim.near(OUT, NEAR)),),
            f"exactly (1 − 1/n)^n = {(1 - 1 / N) ** N:.4f} for n = {N}",
        ),
        Statement(
            "each bootstrap predictor is less accurate than that of all rows",
            (Quantity.mean("its true error − that of all rows", draws["true of samples"] - true),),
        ),
        Statement(
            "this induces a bias of Err_oob",
            (Quantity.mean("Err_oob − true error", oob - true),),
        ),
        Statement(
            ".632 corrects this bias: its own is smaller",
            (Quantity.of("|bias of .632| − |bias of Err_oob|", nearer, both, Claim.below()),),
            f"that of .632 is {np.mean(half - true):+.4f}",
        ),
    )


def _figure(draws: Draws) -> Panels:
    """The first data set, and two of its samples; points grow with their copies."""
    x, y, lines = draws["x"][0], draws["y"][0], draws["lines"][0]
    truth = Series("truth", FINE, np.sin(4 * FINE + 1), "k:")
    panels = [
        Panel(
            "original data",
            "x",
            "y",
            (Series("", x, y, "ko", size=3.0), Series("tree", FINE, lines[0], "k-"), truth),
        )
    ]
    for number, colour in enumerate(("C0", "C4")):
        times = np.bincount(draws["rows"][0, number], minlength=N)
        points = tuple(
            Series("", x[times == n], y[times == n], f"{colour}o", size=3.0 * np.sqrt(n))
            for n in range(1, times.max() + 1)
        )
        tree = Series("its tree", FINE, lines[number + 1], f"{colour}-")
        panels.append(Panel(f"bootstrap sample {number + 1}", "x", "y", (*points, tree, truth)))
    return Panels("insa-bootstrap", tuple(panels), columns=3)


insa_bootstrap = InsaBootstrap()
