"""Mehta's procedures and rules: three parts or folds, extreme rules, rare classes."""

from __future__ import annotations

from functools import partial

import numpy as np

from truerisk.core.losses import ZeroOne
from truerisk.datasets.problems import make_simple
from truerisk.methods.holdout import ThreeWay
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
from truerisk.models import Memoriser
from truerisk.papers.experiment import (
    Draws,
    answered,
    evaluated,
    experiment,
    neighbours,
    plan_of,
    sample_and_fresh,
    stream,
    two_classes,
    values_of,
)
from truerisk.papers.figures import (
    Findings,
    MeansGrid,
    Panel,
    Panels,
    PaperTable,
    Series,
    mean_lines,
)
from truerisk.papers.statements import Claim, Quantity, Statement

# ---------------------------------------------------------------- the three-way split

N = 100  # rows of a sample, there and below
N_FRESH = 4000  # rows that only measure the true risk
KS = range(1, 32, 2)
FIXED = 4  # the candidate (k = 9) whose risk is estimated without any choice
NEAR_RISK = 0.1  # of the true risk: what counts as estimating it


def _replicate_three_way(seed: int, number: int) -> Draws:
    """100 rows: half to train, a quarter to validate, a quarter to test; nearest neighbours."""
    rng = stream("mehta three-way", seed, number)
    own = int(rng.integers(2**63))
    whole = sample_and_fresh(make_simple, (N, N_FRESH), rng, shuffle=True)
    sample, family, loss = two_classes(whole.X[:N], whole.y[:N]), neighbours(KS), ZeroOne()
    split = evaluated(ThreeWay(), family, sample, loss, own)
    assert split.procedure is not None
    unit = split.units[0]
    seen = split.plan.train_rows(int(split.plan.fit[split.plan.questions("outer")[0]]))[0]
    # Each k is fitted twice: on the rows that the three-way split keeps, and on the whole sample.
    test = np.arange(N, whole.n_rows)
    plan = plan_of(whole.n_rows, (seen, test), (np.arange(N), test))
    refitted, of_all = split_risks(
        answered(neighbours(KS), whole, ZeroOne(), plan), whole, ZeroOne()
    ).T
    folds = values_of(evaluated(KFold(10), family, sample, loss, own))
    singles = values_of(evaluated(LeaveOneOut(), family, sample, loss, own))
    return {
        "validation": unit.inner_risk,
        "test": split.procedure.value,
        "risk": np.array(
            [refitted[unit.candidate], of_all[folds.argmin()], of_all[singles.argmin()]]
        ),
        "least": np.array([unit.inner_risk, folds.min(), singles.min()]),
        "fixed": np.array([folds[FIXED], singles[FIXED]]),
        "true of fixed": of_all[FIXED],
    }


@experiment(
    f"{N} rows of two Gaussians, 50/25/25; k nearest neighbours, odd k up to {max(KS)}",
    _replicate_three_way,
    replicates=1000,
    quick=50,
)
def mehta_three_way(draws: Draws) -> Findings:
    """Mehta (2010): the three-way split beside cross-validation."""
    risk, least, fixed, own = (draws[key] for key in ("risk", "least", "fixed", "true of fixed"))
    selected = {
        "validation error of the selected": draws["validation"],
        "test error of the refitted": draws["test"],
        "true risk of the refitted": risk[:, 0],
        "10-fold: error of the selected": least[:, 1],
        "10-fold: its true risk, all rows": risk[:, 1],
        "leave-one-out: error of the selected": least[:, 2],
        "leave-one-out: its true risk, all rows": risk[:, 2],
    }
    of_fixed = {
        f"{way}: {name}": values
        for way, value in zip(("10-fold", "leave-one-out"), fixed.T, strict=True)
        for name, values in (
            ("mean", value),
            ("squared error for the mean risk", (value - own.mean()) ** 2),
            ("squared error for its own risk", (value - own) ** 2),
        )
    } | {"true risk": own}
    title = f"k = {KS[FIXED]}, nothing selected"
    return Findings(
        tables=(
            PaperTable.of("the selected rule", "document", selected),
            PaperTable.of(title, "document", of_fixed, digits=5),
        ),
        claims=(*_on_three_parts(draws), *_on_folds(fixed, own)),
        notes=("the document describes procedures and prints no numbers.",),
        figures=(_three_way_figure(draws),),
    )


def _three_way_figure(draws: Draws) -> Panels:
    """Each error with the true risk of its rule, and the difference in every data set."""
    errors = (draws["validation"], draws["test"], *draws["least"].T[1:])
    risks = draws["risk"].T[[0, 0, 1, 2]]
    ways = ("validation", "test", "10-fold", "leave-one-out")
    both = {f"{way} error": error for way, error in zip(ways, errors, strict=True)}
    both |= {"true risk, three parts": risks[0], "true risk, 10-fold": risks[2]}
    away = {f"{way} error": e - r for way, e, r in zip(ways, errors, risks, strict=True)}

    def panel(title: str, label: str, of: dict[str, np.ndarray]) -> Panel:
        boxes = (Series(name, np.empty(0), values) for name, values in of.items())
        return Panel(title, "", label, tuple(boxes), "boxes")

    panels = (
        panel("errors of the selected rule, and its true risk", "error", both),
        panel("how far each error is from its rule's true risk", "error − true risk", away),
    )
    return Panels("mehta-three-way", panels)


def _on_three_parts(draws: Draws) -> tuple[Statement, ...]:
    risk, test = draws["risk"], draws["test"]
    squares = (test - risk[:, 0]) ** 2 - (draws["least"][:, 1] - risk[:, 1]) ** 2
    near = Claim.near(0.0, NEAR_RISK * float(risk[:, 0].mean()))
    return (
        Statement.of(
            "the validation error of the selected rule is no unbiased estimate: it flatters",
            Quantity.mean("true risk − validation error", risk[:, 0] - draws["validation"]),
        ),
        Statement.of(
            "the test error of the refitted rule estimates its true risk: within a tenth of it",
            Quantity.mean("test error − true risk", test - risk[:, 0], near),
        ),
        Statement.of(
            "divided into three parts the data may not suffice to fit the models",
            Quantity.mean(
                "true risk − that of the rule 10-fold selects and fits on all rows",
                risk[:, 0] - risk[:, 1],
            ),
        ),
        Statement.of(
            "nor to obtain a good estimate of the test error",
            Quantity.mean(
                "squared error of the test error − that of the least 10-fold error, selection "
                "included",
                squares,
                digits=5,
            ),
        ),
    )


def _on_folds(fixed: np.ndarray, own: np.ndarray) -> tuple[Statement, ...]:
    """Of k = 9, nothing being selected.

    `fixed` are its 10-fold and its leave-one-out error, `own` is its true risk in each sample.
    """
    deviation = np.diff((fixed - fixed.mean(axis=0)) ** 2)[:, 0]
    away = (fixed - own.mean()) ** 2
    farther, nearer = np.diff(away)[:, 0], ((fixed - own[:, None]) ** 2 - away).mean(axis=1)
    mean = partial(Quantity.mean, digits=5)
    return (
        Statement.of(
            "10-fold cross-validation may be pessimistic, for its smaller training sets",
            Quantity.mean("10-fold − true risk of the rule on all rows", fixed[:, 0] - own),
        ),
        Statement.of(
            "leave-one-out may have the higher variance",
            mean("variance of leave-one-out − that of 10-fold", deviation),
        ),
        Statement.of(
            "10-fold tends to provide the better estimate",
            mean("squared error of leave-one-out − that of 10-fold", farther),
        ),
        Statement.of(
            "both estimate the mean over training sets better than the risk of the given rule",
            mean("squared error for its own risk − that for the mean risk", nearer),
        ),
    )


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


@experiment(
    f"{N} rows to learn, {N_TEST} to test, {POSITIVE:.0%} positive; then {RARE:.0%} "
    f"positive of {N_RARE} rows, two Gaussians {APART:g} apart",
    _replicate_rules,
    replicates=1000,
    quick=50,
)
def mehta_rules(draws: Draws) -> Findings:
    """Mehta (2010): the constant, the memoriser, and rare classes."""
    places = [
        (rule, name, place, exact)
        for rule, *known in (("constant", 1 - POSITIVE, 1 - POSITIVE), ("memoriser", 0.0, POSITIVE))
        for place, (name, exact) in enumerate(zip(("training", "test"), known, strict=True))
    ]
    errors = {f"{rule}: {name} error": draws[rule][:, place] for rule, name, place, _ in places}
    exact = {f"{rule}: {name} error": (exact,) for rule, name, _, exact in places}
    columns = (f"β = {beta:g}" for beta in BETAS)
    tpr, tnr = draws["true positive rate"], draws["true negative rate"]
    curve = (
        Series("thresholds", tpr.mean(axis=0), tnr.mean(axis=0), "ko-"),
        Series("no discrimination", np.array([0.0, 1.0]), np.array([1.0, 0.0]), "k:"),
    )
    by_rate = {name: draws[name] for name in RATES}
    rates = mean_lines(np.log10(BETAS), by_rate, ("k-", "C0-", "C1--", "C2:"))
    panels = (
        Panel("as the document draws it", "true positive rate", "true negative rate", curve),
        Panel(f"{RARE:.0%} positive", "log10 of the threshold β", "rate", rates),
    )
    return Findings(
        tables=(
            PaperTable.of(f"{POSITIVE:.0%} of the rows are positive", "exact", errors, exact),
            MeansGrid.of(
                f"{RARE:.0%} of the rows are positive",
                columns,
                {name: draws[name].T for name in RATES},
            ),
        ),
        claims=(*_on_extremes(draws["constant"], draws["memoriser"]), *_on_rare_classes(draws)),
        notes=(
            "the document prints no numbers; the shares, sizes and Gaussians are ours.",
            (
                "probabilities are those of the true densities: nothing is fitted, the threshold "
                "β alone varies."
            ),
        ),
        figures=(Panels("mehta-rules", panels),),
    )


def _on_extremes(constant: np.ndarray, memoriser: np.ndarray) -> tuple[Statement, ...]:
    def same(name: str, values: np.ndarray) -> Quantity:
        return Quantity.exact(name, np.abs(values).max(), Claim.below(1e-12))

    away = constant[:, 1] - constant[:, 0]
    return (
        Statement.of(
            "of the constant 1 training and test error are the fractions of negative examples, and "
            f"alike: within {NEAR} on average",
            same("largest training error − fraction", constant[:, 0] + constant[:, 2] - 1),
            same("largest test error − fraction", constant[:, 1] + constant[:, 3] - 1),
            Quantity.mean("test − training error", away, Claim.near(0.0, NEAR)),
        ),
        Statement.of(
            "of the memoriser the training error is 0",
            same("largest training error", memoriser[:, 0]),
        ),
        Statement.of(
            "its test error is the fraction of negative examples",
            same("largest difference", memoriser[:, 1] - (1 - memoriser[:, 3])),
            remark="it is that of the positive ones: on fresh points it says 0",
        ),
        Statement.of(
            "the empirical risk of a function chosen by the sample is optimistic",
            Quantity.mean("test − training error", memoriser[:, 1] - memoriser[:, 0]),
        ),
    )


def _on_rare_classes(draws: Draws) -> tuple[Statement, ...]:
    risk, tpr, tnr = (draws[name] for name in RATES[:3])
    low = BETAS.index(RARE)
    gains = {"gain of true positives": np.diff(tpr), "loss of true negatives": -np.diff(tnr)}
    return (
        Statement.of(
            f"with {RARE:.0%} positive rows the constant 0 has a true risk of only {RARE}",
            Quantity.mean("its error", draws["risk of 0"], Claim.near(RARE, 0.0005)),
        ),
        Statement.of(
            "at β = .5 a rule misses most of the rare class",
            Quantity.mean("true positive rate at β = .5", tpr[:, 0], Claim.below(0.5)),
        ),
        Statement.of(
            "a lower β gains correctness on positives and gives up correctness on negatives",
            *(
                Quantity.mean(f"{name}, β = {BETAS[j + 1]:g} beside {BETAS[j]:g}", values[:, j])
                for name, values in gains.items()
                for j in range(len(BETAS) - 1)
            ),
        ),
        Statement.of(
            "seeking the minimum true risk is problematic: the β that finds most positives has the "
            "larger risk",
            Quantity.mean(f"risk at β = {RARE:g} − at .5", risk[:, low] - risk[:, 0]),
            Quantity.mean(f"true positive rate at β = {RARE:g}", tpr[:, low], Claim.above(0.5)),
        ),
    )
