"""Wallman §5.3, §5.4, §3.5: why a chosen classifier's error is too small; posterior errors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from truerisk import ErrorPosterior, SelectionBias
from truerisk.datasets import make_simple
from truerisk.experiments.experiment import Draws, Sample, experiment, neighbours, stream
from truerisk.experiments.figures import MeansGrid, Panel, PaperTable, Parts, Series, mean_line
from truerisk.experiments.statements import ABOVE, BELOW, Claim, Quantity, Statement
from truerisk.experiments.wallman_comparison import NEAREST, classifiers
from truerisk.extend import Family, Method
from truerisk.methods import KFold, LeaveOneOut

REPORTED, UNSELECTED, TRUE, TAKEN = ERRORS = (  # The names include the numbers of their equations.
    "reported, p_a (6)",
    "all estimates, p_b (7)",
    "true, p (5)",
    "true of those taken",
)


def choice(sample: Sample, method: Method, family: Family, splits: int) -> np.ndarray:
    """Return the candidate with the smallest estimate, all estimates, and all true errors."""
    estimates = sample.risks(method, family, splits)
    return np.concatenate([[estimates.argmin()], estimates, sample.errors(family).ravel()])


def bias_of(choices: np.ndarray) -> SelectionBias:
    """Return the selection bias over many choices, one per row."""
    estimates, true = np.split(choices[:, 1:], 2, axis=1)
    return SelectionBias(estimates, choices[:, 0].astype(int), true)


def errors_of(choices: np.ndarray) -> dict[str, Any]:
    """Return the distributions of `ERRORS`."""
    return dict(zip(ERRORS, bias_of(choices).parts.values(), strict=True))


def mean_of(mixture: Any) -> Quantity:
    """Return the mean of a distribution as a table entry."""
    error = float("inf") if mixture.std_error is None else mixture.std_error
    return Quantity("", mixture.mean, error, None)


def gap(choices: np.ndarray, of: str, less: str, claim: Claim = ABOVE) -> Quantity:
    """Return how much larger the mean of one distribution is than that of another."""

    def statistic(some: np.ndarray) -> float:
        errors = errors_of(some)
        return errors[of].mean - errors[less].mean

    return Quantity.from_statistic(f"{of} − {less}", statistic, choices, claim)


# ---------------------------------------------------------------- why the bias occurs

N = 50
LARGEST = N - 2  # Leave-one-out trains on 49 rows, so that larger k make no difference.
KS = range(1, LARGEST + 1)
# The keys are rows of a data set, the values fresh rows of each class: with few rows estimates vary
# more than errors do.
FRESH = {20: 250, N: 2000, 100: 250, 200: 250}
NEAR = 0.05  # share of the true error within which it counts as unbiased
OFTEN = 20  # number of choices of a k from which its own numbers are reported
EDGES = np.arange(0, 0.52, 0.02)


def _replicate_bias(seed: int, number: int) -> Draws:
    """Compute leave-one-out for every k; the smallest error wins, the lowest k if tied."""
    draws: dict[str, np.ndarray] = {}
    for n, n_fresh in FRESH.items():
        rng = stream("wallman bias" if n == N else f"wallman bias {n}", seed, number)
        sample = Sample.draw(make_simple, ((n // 2,) * 2, (n_fresh,) * 2), rng)
        draws[f"{n} rows"] = choice(sample, LeaveOneOut(), neighbours(range(1, n - 1)), 0)
    return draws


@experiment(_replicate_bias, replicates=1000, quick=30)
def wallman_bias(draws: Draws) -> Parts:
    """Wallman (2005), §5.3: why does the bias occur?

    {N} points of the 'simple' problem, half of each class, every k from 1 to {LARGEST}; equations 5
    to 7 in means

    the document describes a thought experiment with three classifiers and prints no numbers; here
    the classifiers are those of its §3.4, nearest neighbours with every k.

    leave-one-out of classes of equal size is pessimistic for large k, since the row that is left
    out makes its own class the smaller one: all estimates (7) lie a little above.
    """  # noqa: D400
    choices = draws[f"{N} rows"]
    of, errors = bias_of(choices), errors_of(choices)
    estimates, chosen, true = of.estimates, of.chosen, of.true_risks
    times = np.bincount(chosen, minlength=len(KS))
    yield PaperTable.from_values(
        "mean errors", "document", {name: mean_of(errors[name]) for name in ERRORS}
    )
    most = np.sort(np.argsort(-times, kind="stable")[:8])  # the most frequent choices
    by_candidate = {
        "α": [chosen == n for n in most],
        "estimates when taken": [estimates[chosen == n, n] for n in most],
        "all estimates": [estimates[:, n] for n in most],
        "true": [true[:, n] for n in most],
    }
    yield MeansGrid.from_values("by candidate", (f"k = {KS[n]}" for n in most), by_candidate)

    often = np.flatnonzero(times >= min(OFTEN, times.max())).tolist()

    def lucky(n: int) -> Quantity:
        def statistic(some: np.ndarray) -> float:
            taken = some[some[:, 0] == n, n + 1]
            return float(some[:, n + 1].mean() - taken.mean()) if len(taken) else np.nan

        return Quantity.from_statistic(f"k = {KS[n]}: all − when taken", statistic, choices)

    yield Statement.from_quantities(
        "a distribution of the lowest estimates is biased: the errors that P reports (6) lie "
        "below the true ones",
        gap(choices, TRUE, REPORTED),
    )
    yield Statement.from_quantities(
        "this holds for each classifier: the estimates by which it is taken lie below all of "
        f"its estimates (those taken {OFTEN} times or more)",
        *(lucky(n) for n in often),
    )
    yield Statement.from_quantities(
        "all estimates of the same classifiers (7) are unbiased",
        gap(choices, UNSELECTED, TRUE, Claim("near", 0.0, 0.0)),
    )
    yield Statement.from_quantities(
        "the true errors of all classifiers, weighed by α (5), are those of P: within a twentieth",
        gap(choices, TAKEN, TRUE, Claim("near", 0.0, NEAR * errors[TRUE].mean)),
    )

    every = {n: errors_of(draws[f"{n} rows"]) for n in FRESH}
    biases = {n: of[TAKEN].values - of[REPORTED].values for n, of in every.items()}
    title = "bias by rows: true error of the choice − reported"
    yield MeansGrid.from_values(title, (f"n = {n}" for n in biases), {"bias": biases.values()})
    *fewer, (rows_of_least, least) = biases.items()
    yield Statement.from_quantities(
        "abstract, §5.1: the bias is there especially for small sample number data sets",
        {f"bias with {n} rows − with {rows_of_least}": of - least for n, of in fewer},
    )

    lines = []
    for name, style in zip((REPORTED, UNSELECTED, TRUE), ("C0-", "C1--", "k:"), strict=True):
        # Estimates are multiples of 1/50, with a bin for each.
        values, weights = errors[name].values, errors[name].weights
        share, _ = np.histogram(values + EDGES[1] / 2, EDGES, weights=weights)
        lines.append(Series(name, (EDGES[1:] + EDGES[:-1]) / 2 - EDGES[1] / 2, share, style))
    yield Panel("errors of the choice", "error", "share", tuple(lines))
    ks = np.array(KS, dtype=float)
    seen = np.flatnonzero(times >= OFTEN)
    when = np.array([estimates[chosen == n, n].mean() for n in seen])
    by_k = (
        mean_line("all estimates", ks, estimates, "C1--"),
        mean_line("true errors", ks, true, "k:"),
        Series(f"estimates when taken ({OFTEN} times or more)", ks[seen], when, "C0o"),
    )
    # With most of the rows as neighbours any rule guesses, which is outside the range.
    heights = (0.05, 0.35)
    yield Panel("classifier by classifier", "k", "mean error", by_k, limits=heights)
    shares = (Series("", ks, of.shares),)
    yield Panel("how often each is taken", "k", "α", shares, kind="bars")


# ---------------------------------------------------------------- the bias of other choices

ROWS = N, 1000  # numbers of training rows and of fresh rows
COLUMNS = GENES, TELLING = 60, 10
APART = 0.8  # difference of the class means of ten genes; the others are noise
SELECTED = 10  # number of genes if it is not chosen
SIZES = (1, 2, 3, 5, 8, 13, 20, 30)  # These are numbers of genes, or of components.
ODD = range(1, 16, 2)  # numbers of neighbours
CHOICES = ("neighbours", "genes", "components", "classifier")


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    """Return the families for each choice, everything else being fixed.

    Genes are ranked in each training set.
    """
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import Pipeline

    rules = [family.estimator for family in classifiers()]
    nearest = rules[NEAREST]
    ranked = Pipeline([("genes", SelectKBest(k=SELECTED)), ("rule", nearest)])
    extracted = Pipeline([("parts", PCA(svd_solver="full")), ("rule", nearest)])
    grids = (
        (ranked, {"rule__n_neighbors": ODD}),
        (ranked, {"genes__k": SIZES}),
        (extracted, {"parts__n_components": SIZES}),
        (ranked, {"rule": rules}),
    )
    return {name: Family.from_grid(*grid) for name, grid in zip(CHOICES, grids, strict=True)}


def _replicate_choices(seed: int, number: int) -> Draws:
    """Cross-validate (10-fold) every candidate of each choice, and compute their true errors."""
    sample = Sample.alternating(ROWS, COLUMNS, APART, stream("wallman choices", seed, number))
    return {name: choice(sample, KFold(10), of, number) for name, of in families().items()}


@experiment(_replicate_choices, replicates=200, quick=20)
def wallman_choices(draws: Draws) -> Parts:
    """Wallman (2005), §5.4: the same bias for other choices.

    {N} rows, {GENES} genes of which {TELLING} have means {APART:g} apart; the least 10-fold error
    wins, the first among equals

    the document argues and prints no numbers. Choices: {ODD[0]} to {ODD[7]} neighbours; {SIZES[0]}
    to {SIZES[7]} of the genes, by their F; as many principal components; nearest neighbours, tree,
    Parzen or Fisher. What is not chosen is 3 neighbours and the {SELECTED} first genes.

    how large the bias is depends on how many candidates differ, and by how much.
    """
    every = [errors_of(draws[name]) for name in CHOICES]
    means = {name: [mean_of(errors[name]) for errors in every] for name in ERRORS[:3]}
    gaps = [gap(draws[name], UNSELECTED, REPORTED) for name in CHOICES]
    yield MeansGrid.from_values(
        "mean errors, by what is chosen", CHOICES, means | {"p_b − p_a": gaps}
    )
    for name, bias in zip(CHOICES, gaps, strict=True):
        yield Statement.from_quantities(
            f"the bias occurs regardless of what is chosen: {name}",
            bias,
            gap(draws[name], TRUE, REPORTED),
        )
    places = np.arange(1.0, len(CHOICES) + 1)
    bars = tuple(Series.from_quantities(name, places, of) for name, of in means.items())
    yield Panel("what is chosen", "", "mean error", bars, kind="bars", names=CHOICES)


# ---------------------------------------------------------------- the posterior of a true error

LEVEL = 0.95
TESTED = (60, 150)  # number of rows that test a1 and a2 of Figure 5
PER_REPLICATE = 20
# The keys are errors and n; the values are upper bound, P(error > ½) and E[error²], to ten digits.
EXACT = {
    (0, 60): (0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60): (0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150): (0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60): (0.6037259527, 0.5, 0.2539682540),
}
HALF_A_UNIT = 0.5e-10
GRID = np.linspace(0.0, 0.75, 751)


def _replicate_posterior(seed: int, number: int) -> Draws:
    """Draw true errors from the flat prior, test rules with them, and check the posteriors.

    If nature uses this prior, a bound at 95 % holds in exactly 95 % of the tests.
    """
    rng = stream("wallman posterior", seed, number)
    draws: dict[str, np.ndarray] = {}
    for n in TESTED:
        truth = rng.random(PER_REPLICATE)
        posteriors = [ErrorPosterior(int(e), n) for e in rng.binomial(n, truth)]
        below = [t <= p.upper(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
        inside = [t in p.interval(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
        draws[f"below the bound, {n} rows"] = np.array(np.mean(below))
        draws[f"inside the interval, {n} rows"] = np.array(np.mean(inside))
    return draws


@experiment(_replicate_posterior, replicates=1000, quick=50, unit=f"times {PER_REPLICATE} tests")
def wallman_posterior(draws: Draws) -> Parts:
    """Wallman (2005), §3.5: the posterior of a true error after a test.

    Beta(errors + 1, n − errors + 1), n the number of test rows

    the document prints no posterior; the exact values are sums of binomials to ten digits.

    (50 %) is computed in its own tail: 1 − P(error ≤ ½) would be 0 below 1e-16.
    """
    measures: dict[str, float] = {}
    exact: dict[str, tuple[float, float]] = {}
    for (errors, n), (upper, above, square) in EXACT.items():
        ours, name = ErrorPosterior(errors, n).measures(LEVEL), f"{errors} errors in {n}"
        measures[f"{name}: (ub)"], exact[f"{name}: (ub)"] = ours.ub, (upper, HALF_A_UNIT)
        tail = f"{name}: log10 (50 %)"  # Far tails are compared by their logarithm.
        measures[tail] = float(np.log10(ours.above_half))
        exact[tail] = float(np.log10(above)), HALF_A_UNIT / np.log(10)
        measures[f"{name}: (q2)"], exact[f"{name}: (q2)"] = ours.q2, (square, HALF_A_UNIT)
    yield PaperTable.from_values("measures of a tested rule", "exact", measures, exact, digits=6)
    coverage = dict.fromkeys(draws, LEVEL)
    yield PaperTable.from_values("how often a 95 % statement is true", "theory", draws, coverage)

    held = (
        "how often a 95 % bound of the 60 test rows of a1 is true with its 30 training rows as n, "
        "where at most 30 rows are errors"
    )
    yield Statement.from_quantities(
        "n is the size of the training set",
        Quantity.exact(held, _held_with(30, 60), Claim("near", LEVEL, 0.005)),
        remark=f"with the test rows as n it is {_held_with(60, 60):.4f}: errors are counted in "
        "them; with n = 30 more than 30 errors have no posterior at all",
    )
    third = "third difference of 62·63 E[e²] along the errors in 60 rows"
    cost = [62 * 63 * ErrorPosterior(errors, 60).second_moment() for errors in range(4)]
    yield Statement.from_quantities(
        "(q2) weighs errors by an exponentially increasing cost",
        Quantity.exact(third, np.diff(cost, 3)[0], Claim("above", 1e-6)),
        remark="the cost is e², whose third difference is 0; that of a growing exponential is "
        "above",
    )
    few, many = (ErrorPosterior(n // 10, n).measures().above_half for n in TESTED)
    ratio = "log10 of (50 %) for 15 errors in 150 rows over that for 6 in 60"
    yield Statement.from_quantities(
        "(50 %) rewards many test rows more than few errors",
        Quantity.exact(ratio, float(np.log10(many / few)), BELOW, digits=1),
        remark=f"both err in 10 %: {few:.2e} and {many:.2e}",
    )

    lines = tuple(
        Series(f"{errors} of {n}", GRID, ErrorPosterior(errors, n).pdf(GRID)) for errors, n in EXACT
    )
    top = (0.0, 20.0)  # The density of no error in 60 begins at 61, and would flatten the others.
    density = "density (of 0 of 60 up to 61)"
    yield Panel("", "true error", density, lines, limits=top)


def _held_with(n: int, n_tested: int) -> float:
    """Return the share of true errors below a 95 % bound that assumes n tested rows.

    The errors come from `n_tested` rows. True errors are drawn from the flat prior, so that every
    number of errors is equally likely. More errors than n have no posterior and are left out.
    """
    held = [
        ErrorPosterior(errors, n_tested).cdf(ErrorPosterior(errors, n).upper(LEVEL))
        for errors in range(min(n, n_tested) + 1)
    ]
    return float(np.mean(held))
