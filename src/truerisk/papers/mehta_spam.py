"""Mehta's ROC curves of spam: an additive model, a tree, and a tree that spares good mail."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from truerisk.core.statistics.roc import RocCurve
from truerisk.datasets.documents import spam
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.report import Findings, MeansGrid, PaperTable, mean_and_error, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["MehtaSpam", "mehta_spam"]

N_TEST = 1536  # of 4601
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
COMPETITIVE = 0.01  # of a true positive rate
HORRIBLE, A_LITTLE, MASSIVE = 0.5, RATES.index(0.95), 0.25
LEAVES = 17
SPARED = 5.0  # times as much weight for good mail
MODELS = ("GAM", "tree", "weighted tree")


class MehtaSpam(Experiment):
    """Random splits of the 4601 messages: 3065 to learn, 1536 to draw the curves."""

    word: ClassVar[str] = "mehta-spam"
    title: ClassVar[str] = "Mehta (2010): ROC curves of three models of the spam data"
    document: ClassVar[str] = (
        "4601 messages, 57 features; an additive logistic model of splines (GAM), and trees of "
        f"{LEAVES} leaves, one with good mail weighted {SPARED:g} times"
    )
    replicates: ClassVar[int] = 25
    quick: ClassVar[int] = 2
    unit: ClassVar[str] = "splits"

    def check(self) -> None:
        _messages()

    def replicate(self, seed: int, number: int) -> Draws:
        X, y = _messages()
        order = stream("mehta spam", seed, number).permutation(len(y))
        train, test = order[N_TEST:], order[:N_TEST]
        curves = [_curve(name, X[train], y[train], X[test], y[test]) for name in MODELS]
        return {
            "AUC": np.array([curve.auc for curve in curves]),
            "true negative rate": np.array([_negatives(curve) for curve in curves]),
            "true positive rate": np.array([_positives(curve) for curve in curves]),
        }

    def findings(self, draws: Draws) -> Findings:
        areas = tuple(mean_row(name, draws["AUC"][:, j]) for j, name in enumerate(MODELS))
        return Findings(
            tables=(
                PaperTable("area under the curve", "document", areas),
                _grid(draws, "true negative rate", "true positive rate"),
                _grid(draws, "true positive rate", "true negative rate"),
            ),
            claims=_claims(draws),
            notes=NOTES,
            figures=(_figure(draws),),
        )


@lru_cache(maxsize=1)
def _messages() -> tuple[np.ndarray, np.ndarray]:
    bundle = spam.bundle()
    return np.log(bundle.X + 0.1), bundle.y


def _model(name: str) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if name == "GAM":
        splines = SplineTransformer(n_knots=4, degree=3)
        return make_pipeline(splines, StandardScaler(), LogisticRegression(C=0.02, max_iter=1000))
    weight = {0: SPARED, 1: 1.0} if name == "weighted tree" else None
    return DecisionTreeClassifier(max_leaf_nodes=LEAVES, class_weight=weight, random_state=0)


def _curve(
    name: str, X: np.ndarray, y: np.ndarray, rows: np.ndarray, truth: np.ndarray
) -> RocCurve:
    fitted = _model(name).fit(X, y)
    return RocCurve.of(truth, fitted.predict_proba(rows)[:, 1], positive=1)


def _negatives(curve: RocCurve) -> np.ndarray:
    """The true negative rate at each true positive rate, along the lines between thresholds."""
    tpr, first = np.unique(curve.tpr, return_index=True)
    return 1 - np.interp(RATES, tpr, curve.fpr[first])


def _positives(curve: RocCurve) -> np.ndarray:
    """The true positive rate at each true negative rate."""
    fpr, first = np.unique(curve.fpr[::-1], return_index=True)
    return np.interp(1 - np.array(RATES), fpr, curve.tpr[::-1][first])


def _grid(draws: Draws, name: str, demanded: str) -> MeansGrid:
    rows = tuple(
        (model, tuple(mean_and_error(draws[name][:, j, at]) for at in range(len(RATES))))
        for j, model in enumerate(MODELS)
    )
    columns = tuple(f"{rate:g}" for rate in RATES)
    return MeansGrid(f"{name} where the {demanded} is to be", columns, rows)


def _claims(draws: Draws) -> tuple[Statement, ...]:
    tnr, tpr = draws["true negative rate"], draws["true positive rate"]
    everything = len(RATES) - 1
    return (
        Statement(
            "for any true negative rate GAM dominates the other two or is competitive: its true "
            f"positive rate is not lower by {COMPETITIVE}",
            tuple(
                Quantity.mean(
                    f"GAM − {MODELS[j]} at {RATES[at]:g}",
                    tpr[:, 0, at] - tpr[:, j, at],
                    Claim.above(-COMPETITIVE),
                )
                for j in (1, 2)
                for at in range(everything)
            ),
        ),
        Statement(
            "where every spam must be found all models have horrible true negative rates: below "
            f"{HORRIBLE}",
            tuple(
                Quantity.mean(name, tnr[:, j, everything], Claim.below(HORRIBLE))
                for j, name in enumerate(MODELS)
            ),
        ),
        Statement(
            "giving up just a little on true positives improves massively on true negatives: "
            f"{RATES[A_LITTLE]:g} instead of 1 by more than {MASSIVE}",
            tuple(
                Quantity.mean(
                    name, tnr[:, j, A_LITTLE] - tnr[:, j, everything], Claim.above(MASSIVE)
                )
                for j, name in enumerate(MODELS)
            ),
        ),
        Statement(
            "by the area under the curve GAM is the model to select",
            tuple(
                Quantity.mean(f"GAM − {MODELS[j]}", draws["AUC"][:, 0] - draws["AUC"][:, j])
                for j in (1, 2)
            ),
        ),
    )


def _figure(draws: Draws) -> Panels:
    """True negative rates along the true positive ones, as the document has its axes."""
    rates = np.array(RATES)
    lines = tuple(
        mean_line(name, rates, draws["true negative rate"][:, j], style)
        for j, (name, style) in enumerate(zip(MODELS, ("C0-", "C1--", "C2:"), strict=True))
    )
    chance = Series("no discrimination", np.array([0.5, 1.0]), np.array([0.5, 0.0]), "k:", 0.8)
    panel = Panel("", "true positive rate", "true negative rate", (*lines, chance))
    return Panels("mehta-spam", (panel,), columns=1)


NOTES = (
    (
        "the document's picture names GAM and calls the other two 'just some models'; here they "
        "are trees. Its own split and fits are not given."
    ),
    (
        "the splits overlap, so the standard errors say how far the mean over all splits of these "
        "4601 messages is known, not the rates of other mail."
    ),
    "frequencies are taken as log(x + 0.1); between two thresholds a curve is a line, as drawn.",
)

mehta_spam = MehtaSpam()
