"""Mehta's procedures and rules: three parts or folds, extreme rules, rare classes, ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk import RocCurve
from truerisk.datasets import load, make_simple
from truerisk.experiments.experiment import Draws, Sample, experiment, neighbours, stream
from truerisk.experiments.figures import MeansGrid, Panel, PaperTable, Parts, Series, mean_lines
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.methods import KFold, LeaveOneOut, ThreeWay
from truerisk.models import Memoriser

# ---------------------------------------------------------------- the three-way split

N = 100  # number of rows of a sample, here and below
N_FRESH = 4000  # number of rows that only measure the true risk
LARGEST = 31
KS = range(1, LARGEST + 1, 2)
FIXED = 4  # index of the candidate (k = 9) whose risk is estimated without a choice
NEAR_RISK = 0.1  # share of the true risk within which an estimate counts as correct
FOLDS = {"10-fold": KFold(10), "leave-one-out": LeaveOneOut()}
WAYS = ("validation", "test", *FOLDS)


def _replicate_three_way(seed: int, number: int) -> Draws:
    """Split 100 rows into training, validation and test rows; fit nearest neighbours.

    For each way of splitting, the error of the selected rule is returned with its true risk.
    """
    rng = stream("mehta three-way", seed, number)
    own = int(rng.integers(2**63))
    sample, family = Sample.draw(make_simple, (N, N_FRESH), rng, shuffle=True), neighbours(KS)
    split = sample.evaluated(ThreeWay(), family, own)
    assert split.procedure is not None
    unit = split.units[0]
    seen = split.plan.train_rows(int(split.plan.fit[split.plan.questions("outer")[0]]))[0]
    # Each k is fitted twice: on the rows that the three-way split keeps, and on the whole sample.
    refitted, of_all = sample.errors(family, seen, np.arange(N)).T
    both = np.array([sample.risks(of, family, own) for of in FOLDS.values()])
    chosen = refitted[unit.candidate]
    return {
        "error": np.array([unit.inner_risk, split.procedure.value, *both.min(axis=1)]),
        "risk": np.array([chosen, chosen, *of_all[both.argmin(axis=1)]]),
        "fixed": both[:, FIXED],
        "true of fixed": of_all[FIXED],
    }


@experiment(_replicate_three_way, replicates=1000, quick=50)
def mehta_three_way(draws: Draws) -> Parts:
    """Mehta (2010): the three-way split beside cross-validation.

    {N} rows of two Gaussians, 50/25/25; k nearest neighbours, odd k up to {LARGEST}

    the document describes procedures and prints no numbers.
    """
    errors, risks = (dict(zip(WAYS, draws[of].T, strict=True)) for of in ("error", "risk"))
    refitted, by_folds = risks["test"], risks["10-fold"]
    selected = {
        "validation error of the selected": errors["validation"],
        "test error of the refitted": errors["test"],
        "true risk of the refitted": refitted,
    }
    for way in FOLDS:
        selected[f"{way}: error of the selected"] = errors[way]
        selected[f"{way}: its true risk, all rows"] = risks[way]
    yield PaperTable.from_values("the selected rule", "document", selected)
    # These are for k = 9, without a selection.
    both, own = draws["fixed"], draws["true of fixed"]
    deviation, away = ((both - of.mean(axis=0)) ** 2 for of in (both, own))
    beside_own = (both - own[:, None]) ** 2
    farther = (beside_own - away).mean(axis=1)
    of_fixed = {
        f"{way}: {name}": values[:, place]
        for place, way in enumerate(FOLDS)
        for name, values in (
            ("mean", both),
            ("squared error for the mean risk", away),
            ("squared error for its own risk", beside_own),
        )
    } | {"true risk": own}
    yield PaperTable.from_values(
        f"k = {KS[FIXED]}, nothing selected", "document", of_fixed, digits=5
    )

    gaps = {f"{way} error": errors[way] - risks[way] for way in WAYS}
    yield Statement.from_quantities(
        "the validation error of the selected rule is no unbiased estimate: it flatters",
        {"true risk − validation error": -gaps["validation error"]},
    )
    yield Statement.from_quantities(
        "the test error of the refitted rule estimates its true risk: within a tenth of it",
        {"test error − true risk": gaps["test error"]},
        claim=Claim("near", 0.0, NEAR_RISK * float(refitted.mean())),
    )
    yield Statement.from_quantities(
        "divided into three parts the data may not suffice to fit the models",
        {"true risk − that of the rule 10-fold selects and fits on all rows": refitted - by_folds},
    )
    squares = gaps["test error"] ** 2 - gaps["10-fold error"] ** 2
    yield Statement.from_quantities(
        "nor to obtain a good estimate of the test error",
        {
            "squared error of the test error − that of the least 10-fold error, selection "
            "included": squares
        },
        digits=5,
    )
    yield Statement.from_quantities(
        "10-fold cross-validation may be pessimistic, for its smaller training sets",
        {"10-fold − true risk of the rule on all rows": both[:, 0] - own},
    )
    for text, gap in {
        "leave-one-out may have the higher variance": {
            "variance of leave-one-out − that of 10-fold": np.diff(deviation)[:, 0]
        },
        "10-fold tends to provide the better estimate": {
            "squared error of leave-one-out − that of 10-fold": np.diff(away)[:, 0]
        },
        "both estimate the mean over training sets better than the risk of the given rule": {
            "squared error for its own risk − that for the mean risk": farther
        },
    }.items():
        yield Statement.from_quantities(text, gap, digits=5)

    boxes = {f"{way} error": errors[way] for way in WAYS}
    boxes |= {"true risk, three parts": refitted, "true risk, 10-fold": by_folds}
    yield Panel.boxes("errors of the selected rule, and its true risk", "error", boxes)
    yield Panel.boxes("how far each error is from its rule's true risk", "error − true risk", gaps)


# ---------------------------------------------------------------- extreme rules, rare classes

N_TEST = 1000
POSITIVE = 0.3  # Share of ones. The memoriser's test error is this, not one minus it.
RARE, N_RARE = 0.01, 20_000  # share of the rare class; number of training rows, and of test rows
APART = 2.0  # difference of the class means
BETAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
NEAR = 0.01
OF_RARE = ("risk", "true positive rate", "true negative rate", "precision")


def _replicate_rules(seed: int, number: int) -> Draws:
    """Test the constant, the memoriser, and a threshold rule for a class with a share of 1 %.

    The last one is f(x) = 1 if g(x) ≥ β (equation 3), where g is the true probability of the rare
    class.
    """
    rng = stream("mehta rules", seed, number)
    x, y = rng.uniform(size=N + N_TEST), rng.uniform(size=N + N_TEST) < POSITIVE
    remembered = Memoriser().fit(x[:N, None], y[:N]).predict(x[:, None])
    rare = rng.uniform(size=N_RARE) < RARE
    z = rng.standard_normal(N_RARE) + APART * rare
    odds = RARE / (1 - RARE) * np.exp(APART * z - APART**2 / 2)
    called = odds / (1 + odds) >= np.array(BETAS)[:, None]
    hits, alarms = (called & rare).sum(axis=1), (called & ~rare).sum(axis=1)
    return {
        "constant": _errors(~y, y),
        "memoriser": _errors(remembered != y, y),
        "risk of 0": rare.mean(),
        "risk": (called != rare).mean(axis=1),
        "true positive rate": hits / rare.sum(),
        "true negative rate": 1 - alarms / (~rare).sum(),
        "precision": hits / np.maximum(hits + alarms, 1),
    }


def _errors(wrong: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return training error, test error, and the shares of positives in both parts."""
    return np.array([part.mean() for part in (wrong[:N], wrong[N:], y[:N], y[N:])])


@experiment(_replicate_rules, replicates=1000, quick=50)
def mehta_rules(draws: Draws) -> Parts:
    """Mehta (2010): the constant, the memoriser, and rare classes.

    {N} rows to learn, {N_TEST} to test, {POSITIVE:.0%} positive; then {RARE:.0%} positive of
    {N_RARE} rows, two Gaussians {APART:g} apart

    the document prints no numbers; the shares, sizes and Gaussians are ours.

    probabilities are those of the true densities: nothing is fitted, the threshold β alone varies.
    """
    constant, memoriser = draws["constant"], draws["memoriser"]
    ours = {
        f"{rule}: {part} error": draws[rule][:, place]
        for rule in ("constant", "memoriser")
        for place, part in enumerate(("training", "test"))
    }
    exact = dict(zip(ours, (1 - POSITIVE, 1 - POSITIVE, 0.0, POSITIVE), strict=True))
    yield PaperTable.from_values(f"{POSITIVE:.0%} of the rows are positive", "exact", ours, exact)
    columns = [f"β = {beta:g}" for beta in BETAS]
    by_rate = {name: draws[name] for name in OF_RARE}
    of_columns = {name: of.T for name, of in by_rate.items()}
    yield MeansGrid.from_values(f"{RARE:.0%} of the rows are positive", columns, of_columns)

    def same(name: str, values: np.ndarray) -> Quantity:
        return Quantity.exact(name, np.abs(values).max(), Claim("below", 1e-12))

    yield Statement.from_quantities(
        "of the constant 1 training and test error are the fractions of negative examples, and "
        f"alike: within {NEAR} on average",
        same("largest training error − fraction", constant[:, 0] + constant[:, 2] - 1),
        same("largest test error − fraction", constant[:, 1] + constant[:, 3] - 1),
        {"test − training error": constant[:, 1] - constant[:, 0]},
        claim=Claim("near", 0.0, NEAR),
    )
    yield Statement.from_quantities(
        "of the memoriser the training error is 0", same("largest training error", memoriser[:, 0])
    )
    yield Statement.from_quantities(
        "its test error is the fraction of negative examples",
        same("largest difference", memoriser[:, 1] - (1 - memoriser[:, 3])),
        remark="it is that of the positive ones: on fresh points it says 0",
    )
    yield Statement.from_quantities(
        "the empirical risk of a function chosen by the sample is optimistic",
        {"test − training error": memoriser[:, 1] - memoriser[:, 0]},
    )
    risk, tpr, tnr, _ = by_rate.values()
    yield Statement.from_quantities(
        f"with {RARE:.0%} positive rows the constant 0 has a true risk of only {RARE}",
        {"its error": draws["risk of 0"]},
        claim=Claim("near", RARE, 0.0005),
    )
    yield Statement.from_quantities(
        "at β = .5 a rule misses most of the rare class",
        {"true positive rate at β = .5": tpr[:, 0]},
        claim=Claim("below", 0.5),
    )
    gains = {"gain of true positives": np.diff(tpr), "loss of true negatives": -np.diff(tnr)}
    yield Statement.from_quantities(
        "a lower β gains correctness on positives and gives up correctness on negatives",
        {
            f"{name}, {columns[j + 1]} beside {BETAS[j]:g}": values[:, j]
            for name, values in gains.items()
            for j in range(len(BETAS) - 1)
        },
    )
    low = BETAS.index(RARE)
    found = f"true positive rate at β = {RARE:g}"
    yield Statement.from_quantities(
        "seeking the minimum true risk is problematic: the β that finds most positives has the "
        "larger risk",
        {f"risk at β = {RARE:g} − at .5": risk[:, low] - risk[:, 0]},
        Quantity.mean(found, tpr[:, low], Claim("above", 0.5)),
    )

    curve = (
        Series("thresholds", tpr.mean(axis=0), tnr.mean(axis=0), "ko-"),
        Series("no discrimination", np.array([0.0, 1.0]), np.array([1.0, 0.0]), "k:"),
    )
    yield Panel("as the document draws it", "true positive rate", "true negative rate", curve)
    places, names = np.arange(1.0, len(BETAS) + 1), tuple(f"{beta:g}" for beta in BETAS)
    lines = mean_lines(places, by_rate, ("ko-", "C0o-", "C1s--", "C2^:"))
    yield Panel(f"{RARE:.0%} positive", "threshold β", "rate", lines, names=names)


# ---------------------------------------------------------------- ROC curves of spam

TESTED = 1536  # number of test rows out of 4601
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
GRID = np.linspace(0, 1, 201)  # true positive rates at which curves are drawn
MARKS = {0.9: "ks", 0.5: "ko", 0.1: "k^", 0.02: "kv"}  # thresholds β
COMPETITIVE = 0.01  # maximum difference of a true positive rate
HORRIBLE, A_LITTLE, MASSIVE = 0.5, RATES.index(0.95), 0.25
LEAVES = 17
SPARED = 5.0  # relative weight of good mail
MODELS = ("GAM", "tree", "weighted tree")


@lru_cache(maxsize=1)
def _messages() -> tuple[np.ndarray, np.ndarray]:
    bundle = load("spam")
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


def _replicate_spam(seed: int, number: int) -> Draws:
    """Split the 4601 messages randomly: 3065 to train, 1536 to draw the curves."""
    X, y = _messages()
    test, train = np.split(stream("mehta spam", seed, number).permutation(len(y)), [TESTED])
    fitted = (_model(name).fit(X[train], y[train]) for name in MODELS)
    curves = [
        RocCurve.from_scores(y[test], of.predict_proba(X[test])[:, 1], positive=1) for of in fitted
    ]
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
    """Return one rate at given values of the other, by interpolation between thresholds."""
    places, first = np.unique(x, return_index=True)
    return np.interp(at, places, y[first])


def precision(tpr: np.ndarray, tnr: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the share of spam among the messages called spam; `share` is that among all."""
    hits = share * tpr
    return np.asarray(hits / (hits + (1 - share) * (1 - tnr)))


@experiment(_replicate_spam, replicates=25, quick=2, unit="splits", check=_messages)
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
    yield PaperTable.from_values("area under the curve", "document", areas)
    for of, where, rates in (("negative", "positive", tnr), ("positive", "negative", tpr)):
        title = f"true {of} rate where the true {where} rate is to be"
        rows = dict(zip(MODELS, rates.transpose(1, 2, 0), strict=True))
        yield MeansGrid.from_values(title, (f"{rate:g}" for rate in RATES), rows)

    everything, trees = len(RATES) - 1, tuple(enumerate(MODELS))[1:]
    yield Statement.from_quantities(
        "for any true negative rate GAM dominates the other two or is competitive: its true "
        f"positive rate is not lower by {COMPETITIVE}",
        {
            f"GAM − {name} at {RATES[at]:g}": tpr[:, 0, at] - tpr[:, j, at]
            for j, name in trees
            for at in range(everything)
        },
        claim=Claim("above", -COMPETITIVE),
    )
    lost = dict(zip(MODELS, tnr[:, :, everything].T, strict=True))
    yield Statement.from_quantities(
        "where every spam must be found all models have horrible true negative rates: below "
        f"{HORRIBLE}",
        lost,
        claim=Claim("below", HORRIBLE),
    )
    yield Statement.from_quantities(
        "giving up just a little on true positives improves massively on true negatives: "
        f"{RATES[A_LITTLE]:g} instead of 1 by more than {MASSIVE}",
        {name: tnr[:, j, A_LITTLE] - lost[name] for j, name in enumerate(MODELS)},
        claim=Claim("above", MASSIVE),
    )
    yield Statement.from_quantities(
        "by the area under the curve GAM is the model to select",
        {f"GAM − {name}": areas["GAM"] - areas[name] for _, name in trees},
    )

    # True negative rates are drawn over true positive rates, as in the document; then precision
    # over recall.
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
    # Without any call the precision is 0/0.
    recall, of_calls = GRID[1:], precision(GRID[1:], curve[:, :, 1:], share)
    by_recall = (*lines(recall, of_calls, precision(found, spared, share)), all_spam)
    yield Panel("the same, by precision", "recall (true positive rate)", "precision", by_recall)
