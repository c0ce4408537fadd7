"""Mehta's ROC curves of spam: an additive model, a tree, and a tree that spares good mail."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.core.statistics.roc import RocCurve
from truerisk.datasets.documents import spam
from truerisk.papers.experiment import Draws, experiment, stream
from truerisk.papers.figures import MeansGrid, Panel, PaperTable, Parts, Series, mean_lines
from truerisk.papers.statements import Claim, Statement

N_TEST = 1536  # of 4601
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
GRID = np.linspace(0, 1, 201)  # of true positive rates along which curves are drawn
MARKS = {0.9: "ks", 0.5: "ko", 0.1: "k^", 0.02: "kv"}  # thresholds β
COMPETITIVE = 0.01  # of a true positive rate
HORRIBLE, A_LITTLE, MASSIVE = 0.5, RATES.index(0.95), 0.25
LEAVES = 17
SPARED = 5.0  # times as much weight for good mail
MODELS = ("GAM", "tree", "weighted tree")


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


def _replicate(seed: int, number: int) -> Draws:
    """Random splits of the 4601 messages: 3065 to learn, 1536 to draw the curves."""
    X, y = _messages()
    test, train = np.split(stream("mehta spam", seed, number).permutation(len(y)), [N_TEST])
    fitted = (_model(name).fit(X[train], y[train]) for name in MODELS)
    curves = [RocCurve.of(y[test], of.predict_proba(X[test])[:, 1], positive=1) for of in fitted]
    return {
        "AUC": np.array([curve.auc for curve in curves]),
        "true negative rate": 1 - np.array([_along(of.tpr, of.fpr, RATES) for of in curves]),
        "true positive rate": np.array(
            [_along(of.fpr[::-1], of.tpr[::-1], 1 - np.array(RATES)) for of in curves]
        ),
        "curve": 1 - np.array([_along(of.tpr, of.fpr, GRID) for of in curves]),
        "at β": np.array(
            [[(p.sensitivity, p.specificity) for p in map(of.at, MARKS)] for of in curves]
        ),
        "share of spam": np.array(y[test].mean()),
    }


def _along(x: np.ndarray, y: np.ndarray, at: Sequence[float] | np.ndarray) -> np.ndarray:
    """One rate where the other is so large, along the lines between thresholds."""
    places, first = np.unique(x, return_index=True)
    return np.interp(at, places, y[first])


def precision(tpr: np.ndarray, tnr: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Of what is called spam, the share that is; `share` is that of all messages."""
    hits = share * tpr
    return np.asarray(hits / (hits + (1 - share) * (1 - tnr)))


@experiment(_replicate, replicates=25, quick=2, unit="splits", check=_messages)
def mehta_spam(draws: Draws) -> Parts:
    """Mehta (2010): ROC curves of three models of the spam data.

    4601 messages, 57 features; an additive logistic model of splines (GAM), and trees of {LEAVES}
    leaves, one with good mail weighted {SPARED:g} times

    the document's picture names GAM and calls the other two 'just some models'; here they are
    trees. Its own split and fits are not given.

    the splits overlap, so the standard errors say how far the mean over all splits of these 4601
    messages is known, not the rates of other mail.

    frequencies are taken as log(x + 0.1); between two thresholds a curve is a line, as drawn.
    """
    tnr, tpr = draws["true negative rate"], draws["true positive rate"]
    areas = dict(zip(MODELS, draws["AUC"].T, strict=True))
    yield PaperTable.of("area under the curve", "document", areas)
    for of, where, rates in (("negative", "positive", tnr), ("positive", "negative", tpr)):
        title = f"true {of} rate where the true {where} rate is to be"
        rows = dict(zip(MODELS, rates.transpose(1, 2, 0), strict=True))
        yield MeansGrid.of(title, (f"{rate:g}" for rate in RATES), rows)

    everything, trees = len(RATES) - 1, tuple(enumerate(MODELS))[1:]
    yield Statement.of(
        "for any true negative rate GAM dominates the other two or is competitive: its true "
        f"positive rate is not lower by {COMPETITIVE}",
        {
            f"GAM − {name} at {RATES[at]:g}": tpr[:, 0, at] - tpr[:, j, at]
            for j, name in trees
            for at in range(everything)
        },
        claim=Claim.above(-COMPETITIVE),
    )
    lost = dict(zip(MODELS, tnr[:, :, everything].T, strict=True))
    yield Statement.of(
        "where every spam must be found all models have horrible true negative rates: below "
        f"{HORRIBLE}",
        lost,
        claim=Claim.below(HORRIBLE),
    )
    yield Statement.of(
        "giving up just a little on true positives improves massively on true negatives: "
        f"{RATES[A_LITTLE]:g} instead of 1 by more than {MASSIVE}",
        {name: tnr[:, j, A_LITTLE] - lost[name] for j, name in enumerate(MODELS)},
        claim=Claim.above(MASSIVE),
    )
    yield Statement.of(
        "by the area under the curve GAM is the model to select",
        {f"GAM − {name}": areas["GAM"] - areas[name] for _, name in trees},
    )

    # true negative along true positive rates, as the document has its axes; precision, recall
    share, ends = draws["share of spam"][:, None, None], np.array([0.0, 1.0])
    curve, (found, spared) = draws["curve"], np.moveaxis(draws["at β"], -1, 0)

    def lines(x: np.ndarray, heights: np.ndarray, at: np.ndarray) -> tuple[Series, ...]:
        by_model = dict(zip(MODELS, heights.transpose(1, 0, 2), strict=True))
        marks = (
            Series(f"β = {beta:g}", found[:, :, i].mean(axis=0), at[:, :, i].mean(axis=0), style)
            for i, (beta, style) in enumerate(MARKS.items())
        )
        return *mean_lines(x, by_model, ("C0-", "C1--", "C2:")), *marks

    chance = Series("no discrimination", ends, 1 - ends, "k:", 0.8)
    roc = (*lines(GRID, curve, spared), chance)
    yield Panel("ROC curves, mean over splits", "true positive rate", "true negative rate", roc)
    all_spam = Series("share of spam", ends, np.full(2, share.mean()), "k:", 0.8)
    recall, of_calls = GRID[1:], precision(GRID[1:], curve[:, :, 1:], share)  # of no call: 0/0
    by_recall = (*lines(recall, of_calls, precision(found, spared, share)), all_spam)
    yield Panel("the same, by precision", "recall (true positive rate)", "precision", by_recall)
