"""Mehta's procedures and rules: three parts or folds, extreme rules, rare classes."""

from __future__ import annotations

import numpy as np

from truerisk.datasets.problems import make_simple
from truerisk.methods.holdout import ThreeWay
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.models import Memoriser
from truerisk.papers.experiment import Draws, Sample, experiment, neighbours, stream
from truerisk.papers.figures import MeansGrid, Panel, PaperTable, Parts, Series, mean_lines
from truerisk.papers.statements import Claim, Quantity, Statement

# ---------------------------------------------------------------- the three-way split

N = 100  # rows of a sample, there and below
N_FRESH = 4000  # rows that only measure the true risk
LARGEST = 31
KS = range(1, LARGEST + 1, 2)
FIXED = 4  # the candidate (k = 9) whose risk is estimated without any choice
NEAR_RISK = 0.1  # of the true risk: what counts as estimating it


def _replicate_three_way(seed: int, number: int) -> Draws:
    """100 rows: half to train, a quarter to validate, a quarter to test; nearest neighbours."""
    rng = stream("mehta three-way", seed, number)
    own = int(rng.integers(2**63))
    sample, family = Sample.of(make_simple, (N, N_FRESH), rng, shuffle=True), neighbours(KS)
    split = sample.evaluated(ThreeWay(), family, own)
    assert split.procedure is not None
    unit = split.units[0]
    seen = split.plan.train_rows(int(split.plan.fit[split.plan.questions("outer")[0]]))[0]
    # Each k is fitted twice: on the rows that the three-way split keeps, and on the whole sample.
    refitted, of_all = sample.errors(family, seen, np.arange(N)).T
    both = np.array([sample.risks(of, family, own) for of in (KFold(10), LeaveOneOut())])
    return {
        "test": split.procedure.value,
        "risk": np.append(refitted[unit.candidate], of_all[both.argmin(axis=1)]),
        "least": np.append(unit.inner_risk, both.min(axis=1)),
        "fixed": both[:, FIXED],
        "true of fixed": of_all[FIXED],
    }


@experiment(_replicate_three_way, replicates=1000, quick=50)
def mehta_three_way(draws: Draws) -> Parts:
    """Mehta (2010): the three-way split beside cross-validation.

    {N} rows of two Gaussians, 50/25/25; k nearest neighbours, odd k up to {LARGEST}

    the document describes procedures and prints no numbers.
    """
    test, own = draws["test"], draws["true of fixed"]
    validation, of_folds, of_singles = draws["least"].T
    refitted, by_folds, by_singles = draws["risk"].T
    selected = {
        "validation error of the selected": validation,
        "test error of the refitted": test,
        "true risk of the refitted": refitted,
        "10-fold: error of the selected": of_folds,
        "10-fold: its true risk, all rows": by_folds,
        "leave-one-out: error of the selected": of_singles,
        "leave-one-out: its true risk, all rows": by_singles,
    }
    yield PaperTable.of("the selected rule", "document", selected)
    fixed = dict(zip(("10-fold", "leave-one-out"), draws["fixed"].T, strict=True))
    of_fixed = {
        f"{way}: {name}": values
        for way, value in fixed.items()
        for name, values in (
            ("mean", value),
            ("squared error for the mean risk", (value - own.mean()) ** 2),
            ("squared error for its own risk", (value - own) ** 2),
        )
    } | {"true risk": own}
    yield PaperTable.of(f"k = {KS[FIXED]}, nothing selected", "document", of_fixed, digits=5)

    yield Statement.of(
        "the validation error of the selected rule is no unbiased estimate: it flatters",
        {"true risk − validation error": refitted - validation},
    )
    yield Statement.of(
        "the test error of the refitted rule estimates its true risk: within a tenth of it",
        {"test error − true risk": test - refitted},
        claim=Claim.near(0.0, NEAR_RISK * float(refitted.mean())),
    )
    yield Statement.of(
        "divided into three parts the data may not suffice to fit the models",
        {"true risk − that of the rule 10-fold selects and fits on all rows": refitted - by_folds},
    )
    squares = (test - refitted) ** 2 - (of_folds - by_folds) ** 2
    yield Statement.of(
        "nor to obtain a good estimate of the test error",
        {
            "squared error of the test error − that of the least 10-fold error, selection "
            "included": squares
        },
        digits=5,
    )
    # of k = 9, nothing being selected
    both = draws["fixed"]
    deviation, away = (both - both.mean(axis=0)) ** 2, (both - own.mean()) ** 2
    yield Statement.of(
        "10-fold cross-validation may be pessimistic, for its smaller training sets",
        {"10-fold − true risk of the rule on all rows": fixed["10-fold"] - own},
    )
    yield Statement.of(
        "leave-one-out may have the higher variance",
        {"variance of leave-one-out − that of 10-fold": np.diff(deviation)[:, 0]},
        digits=5,
    )
    yield Statement.of(
        "10-fold tends to provide the better estimate",
        {"squared error of leave-one-out − that of 10-fold": np.diff(away)[:, 0]},
        digits=5,
    )
    nearer = ((both - own[:, None]) ** 2 - away).mean(axis=1)
    yield Statement.of(
        "both estimate the mean over training sets better than the risk of the given rule",
        {"squared error for its own risk − that for the mean risk": nearer},
        digits=5,
    )

    errors = {
        "validation error": (validation, refitted),
        "test error": (test, refitted),
        "10-fold error": (of_folds, by_folds),
        "leave-one-out error": (of_singles, by_singles),
    }
    risks = {"true risk, three parts": refitted, "true risk, 10-fold": by_folds}

    title = "errors of the selected rule, and its true risk"
    yield Panel.boxes(title, "error", {name: error for name, (error, _) in errors.items()} | risks)
    gaps = {name: error - risk for name, (error, risk) in errors.items()}
    yield Panel.boxes("how far each error is from its rule's true risk", "error − true risk", gaps)


# ---------------------------------------------------------------- extreme rules, rare classes

N_TEST = 1000
POSITIVE = 0.3  # the share of ones: the memoriser's test error, not one minus it
RARE, N_RARE = 0.01, 20_000  # of the imbalanced classes; rows to learn, and as many to test
APART = 2.0  # the means of the two classes
BETAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
NEAR = 0.01
RATES = ("risk", "true positive rate", "true negative rate", "precision")


def _replicate_rules(seed: int, number: int) -> Draws:
    """The constant, the memoriser, and a rule with a threshold where one row in 100 is positive."""
    rng = stream("mehta rules", seed, number)
    x, y = rng.uniform(size=N + N_TEST), rng.uniform(size=N + N_TEST) < POSITIVE
    return {
        "constant": _errors(np.ones(len(y), dtype=bool), y),
        "memoriser": _errors(Memoriser().fit(x[:N, None], y[:N]).predict(x[:, None]), y),
        **_imbalanced(rng),
    }


def _errors(positive: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Training error, test error, and the shares of positives among both."""
    wrong = positive != y
    return np.array([part.mean() for part in (wrong[:N], wrong[N:], y[:N], y[N:])])


def _imbalanced(rng: np.random.Generator) -> Draws:
    """f(x) = 1 where g(x) ≥ β (equation 3), with g the true probability of the rare class."""
    y = rng.uniform(size=N_RARE) < RARE
    x = rng.standard_normal(N_RARE) + APART * y
    odds = RARE / (1 - RARE) * np.exp(APART * x - APART**2 / 2)
    g = odds / (1 + odds)
    positive = g[None, :] >= np.array(BETAS)[:, None]
    hits, alarms = (positive & y).sum(axis=1), (positive & ~y).sum(axis=1)
    return {
        "risk of 0": np.array(y.mean()),
        "risk": (positive != y).mean(axis=1),
        "true positive rate": hits / y.sum(),
        "true negative rate": 1 - alarms / (~y).sum(),
        "precision": hits / np.maximum(hits + alarms, 1),
    }


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
    yield PaperTable.of(f"{POSITIVE:.0%} of the rows are positive", "exact", ours, exact)
    columns = [f"β = {beta:g}" for beta in BETAS]
    by_rate = {name: draws[name] for name in RATES}
    of_columns = {name: of.T for name, of in by_rate.items()}
    yield MeansGrid.of(f"{RARE:.0%} of the rows are positive", columns, of_columns)

    def same(name: str, values: np.ndarray) -> Quantity:
        return Quantity.exact(name, np.abs(values).max(), Claim.below(1e-12))

    away = {"test − training error": constant[:, 1] - constant[:, 0]}
    yield Statement.of(
        "of the constant 1 training and test error are the fractions of negative examples, and "
        f"alike: within {NEAR} on average",
        same("largest training error − fraction", constant[:, 0] + constant[:, 2] - 1),
        same("largest test error − fraction", constant[:, 1] + constant[:, 3] - 1),
        away,
        claim=Claim.near(0.0, NEAR),
    )
    yield Statement.of(
        "of the memoriser the training error is 0", same("largest training error", memoriser[:, 0])
    )
    yield Statement.of(
        "its test error is the fraction of negative examples",
        same("largest difference", memoriser[:, 1] - (1 - memoriser[:, 3])),
        remark="it is that of the positive ones: on fresh points it says 0",
    )
    yield Statement.of(
        "the empirical risk of a function chosen by the sample is optimistic",
        {"test − training error": memoriser[:, 1] - memoriser[:, 0]},
    )
    risk, tpr, tnr, _ = by_rate.values()
    yield Statement.of(
        f"with {RARE:.0%} positive rows the constant 0 has a true risk of only {RARE}",
        {"its error": draws["risk of 0"]},
        claim=Claim.near(RARE, 0.0005),
    )
    yield Statement.of(
        "at β = .5 a rule misses most of the rare class",
        {"true positive rate at β = .5": tpr[:, 0]},
        claim=Claim.below(0.5),
    )
    gains = {"gain of true positives": np.diff(tpr), "loss of true negatives": -np.diff(tnr)}
    yield Statement.of(
        "a lower β gains correctness on positives and gives up correctness on negatives",
        {
            f"{name}, {columns[j + 1]} beside {BETAS[j]:g}": values[:, j]
            for name, values in gains.items()
            for j in range(len(BETAS) - 1)
        },
    )
    low = BETAS.index(RARE)
    found = f"true positive rate at β = {RARE:g}"
    yield Statement.of(
        "seeking the minimum true risk is problematic: the β that finds most positives has the "
        "larger risk",
        {f"risk at β = {RARE:g} − at .5": risk[:, low] - risk[:, 0]},
        Quantity.mean(found, tpr[:, low], Claim.above(0.5)),
    )

    curve = (
        Series("thresholds", tpr.mean(axis=0), tnr.mean(axis=0), "ko-"),
        Series("no discrimination", np.array([0.0, 1.0]), np.array([1.0, 0.0]), "k:"),
    )
    yield Panel("as the document draws it", "true positive rate", "true negative rate", curve)
    places, names = np.arange(1.0, len(BETAS) + 1), tuple(f"{beta:g}" for beta in BETAS)
    lines = mean_lines(places, by_rate, ("ko-", "C0o-", "C1s--", "C2^:"))
    yield Panel(f"{RARE:.0%} positive", "threshold β", "rate", lines, names=names)
