"""Wallman §5.3 and §3.5: why a chosen classifier's error is too small; an error's posterior."""

from __future__ import annotations

import numpy as np

from truerisk.core.losses import ZeroOne
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.core.statistics.selection_bias import SelectionBias
from truerisk.datasets.problems import make_simple
from truerisk.methods.kfold import LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
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
    Row,
    Series,
    mean_line,
)
from truerisk.papers.statements import ABOVE, BELOW, Claim, Quantity, Statement

PER_CLASS = 25
TEST_PER_CLASS = 2000
N = 2 * PER_CLASS
KS = range(1, N - 1)  # leave-one-out trains on 49 rows: beyond that no k differs
NEAR = 0.05  # of the true error: what counts as unbiased
OFTEN = 20  # choices of a k from which its own numbers are told
EDGES = np.arange(0, 0.52, 0.02)


def _replicate_bias(seed: int, number: int) -> Draws:
    """Leave-one-out of every k on 50 rows; the least error wins, the lowest k among equals."""
    rng = stream("wallman bias", seed, number)
    whole = sample_and_fresh(make_simple, ((PER_CLASS,) * 2, (TEST_PER_CLASS,) * 2), rng)
    family, loss, rows = neighbours(KS), ZeroOne(), np.arange(whole.n_rows)
    sample = two_classes(whole.X[:N], whole.y[:N])
    estimates = values_of(evaluated(LeaveOneOut(), family, sample, loss, 0))
    fresh = answered(family, whole, loss, plan_of(len(rows), (rows[:N], rows[N:])))
    return {
        "estimates": estimates,
        "chosen": np.array(int(estimates.argmin())),
        "true": split_risks(fresh, whole, loss).ravel(),
    }


@experiment(
    f"{PER_CLASS} + {PER_CLASS} points of the 'simple' problem, every k from 1 to "
    f"{KS[-1]}; equations 5 to 7 in means",
    _replicate_bias,
    replicates=1000,
    quick=30,
)
def wallman_bias(draws: Draws) -> Findings:
    """Wallman (2005), §5.3: why does the bias occur?"""  # noqa: D400
    why = SelectionBias(draws["estimates"], draws["chosen"], draws["true"])
    mixtures = {
        "reported, equation 6": why.reported,
        "unselected, equation 7": why.unselected,
        "true, equation 5": why.true,
        "true, of those taken": why.true_of_chosen,
    }
    means = tuple(
        Row(name, of.mean, np.inf if of.std_error is None else of.std_error)
        for name, of in mixtures.items()
        if of is not None
    )
    return Findings(
        tables=(PaperTable("mean errors", "document", means), _by_candidate(why, draws["true"])),
        claims=_bias_claims(why, draws["true"]),
        notes=(
            (
                "the document describes a thought experiment with three classifiers and prints no "
                "numbers; here the classifiers are those of its §3.4, nearest neighbours with "
                "every k."
            ),
            (
                "leave-one-out of classes of equal size is pessimistic for large k, since the row "
                "that is left out makes its own class the smaller one: all estimates (7) lie a "
                "little above."
            ),
        ),
        figures=(_bias_figure(why, draws["true"]),),
    )


def _by_candidate(why: SelectionBias, true: np.ndarray) -> MeansGrid:
    """The candidates that are taken most often, and what the taking does to their estimates."""
    often = np.sort(np.argsort(-why.shares, kind="stable")[:8])
    rows = {
        "α": [why.chosen == n for n in often],
        "estimates when taken": [why.estimates[why.chosen == n, n] for n in often],
        "all estimates": [why.estimates[:, n] for n in often],
        "true": [true[:, n] for n in often],
    }
    return MeansGrid.of("by candidate", (f"k = {KS[n]}" for n in often), rows)


def _bias_claims(why: SelectionBias, true: np.ndarray) -> tuple[Statement, ...]:
    rows = np.column_stack([why.chosen, why.estimates, true])
    times = np.bincount(why.chosen, minlength=len(KS))
    often = np.flatnonzero(times >= min(OFTEN, times.max()))
    near = Claim.near(0.0, NEAR * float(why.true.mean) if why.true is not None else 0.0)

    def lucky(n: int) -> Quantity:
        def statistic(some: np.ndarray) -> float:
            taken = some[some[:, 0] == n, n + 1]
            return float(some[:, n + 1].mean() - taken.mean()) if len(taken) else np.nan

        return Quantity.of(f"k = {KS[n]}: all − when taken", statistic, rows)

    return (
        Statement.of(
            "a distribution of the lowest estimates is biased: the errors that P reports (6) lie "
            "below the true ones",
            mixture_gap(rows, "true (5)", "reported (6)"),
        ),
        Statement.of(
            "this holds for each classifier: the estimates by which it is taken lie below all of "
            f"its estimates (those taken {OFTEN} times or more)",
            *(lucky(int(n)) for n in often),
        ),
        Statement.of(
            "all estimates of the same classifiers (7) are unbiased",
            mixture_gap(rows, "unselected (7)", "true (5)", Claim.near(0.0, 0.0)),
        ),
        Statement.of(
            "the true errors of all classifiers, weighed by α (5), are those of P: within a "
            "twentieth",
            mixture_gap(rows, "true of those taken", "true (5)", near),
        ),
    )


def selection_bias(rows: np.ndarray) -> SelectionBias:
    """Of data sets: the number of the candidate taken, the estimates of all, their true errors."""
    estimates, true = np.split(rows[:, 1:], 2, axis=1)
    return SelectionBias(estimates, rows[:, 0].astype(int), true)


def mixture_gap(rows: np.ndarray, of: str, less: str, claim: Claim = ABOVE) -> Quantity:
    """By how much the mean of one mixture lies above that of another."""

    def statistic(some: np.ndarray) -> float:
        means = _mixtures(selection_bias(some))
        return means[of] - means[less]

    return Quantity.of(f"{of} − {less}", statistic, rows, claim)


def _mixtures(why: SelectionBias) -> dict[str, float]:
    assert why.true is not None
    assert why.true_of_chosen is not None
    return {
        "reported (6)": why.reported.mean,
        "unselected (7)": why.unselected.mean,
        "true (5)": why.true.mean,
        "true of those taken": why.true_of_chosen.mean,
    }


def _bias_figure(why: SelectionBias, true: np.ndarray) -> Panels:
    """The three distributions, and the candidates one by one."""
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    lines = []
    for name, mixture, style in (
        ("reported, p_a (6)", why.reported, "C0-"),
        ("unselected, p_b (7)", why.unselected, "C1--"),
        ("true, p (5)", why.true, "k:"),
    ):
        assert mixture is not None
        # estimates are multiples of 1/50: a bin each, its edges between them
        share, _ = np.histogram(mixture.values + EDGES[1] / 2, EDGES, weights=mixture.weights)
        lines.append(Series(name, middles - EDGES[1] / 2, share, style))
    ks = np.array(KS, dtype=float)
    seen = np.array([np.count_nonzero(why.chosen == n) >= OFTEN for n in range(len(KS))])
    when = [why.estimates[why.chosen == n, n].mean() for n in np.flatnonzero(seen)]
    by_k = (
        mean_line("all estimates", ks, why.estimates, "C1--"),
        mean_line("true errors", ks, true, "k:"),
        Series(f"estimates when taken ({OFTEN} times or more)", ks[seen], np.array(when), "C0o"),
    )
    panels = (
        Panel("errors of the choice", "error", "share", tuple(lines)),
        Panel("classifier by classifier", "k", "mean error", by_k),
        Panel("how often each is taken", "k", "α", (Series("", ks, why.shares),), kind="bars"),
    )
    return Panels("wallman-bias", panels)


# ---------------------------------------------------------------- the posterior of a true error

LEVEL = 0.95
SIZES = (60, 150)  # rows that test a1 and a2 of Figure 5
PER_REPLICATE = 20
# errors, n: upper bound, P(error > ½), E[error²], to ten digits
EXACT = {
    (0, 60): (0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60): (0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150): (0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60): (0.6037259527, 0.5, 0.2539682540),
}
HALF_A_UNIT = 0.5e-10
GRID = np.linspace(0.0, 0.75, 751)


def _replicate_posterior(seed: int, number: int) -> Draws:
    """A true error from the flat prior, a test of a rule that has it, its posterior.

    With the prior that nature uses, a bound at 95 % holds in 95 % of the tests, exactly.
    """
    rng = stream("wallman posterior", seed, number)
    draws: dict[str, np.ndarray] = {}
    for n in SIZES:
        truth = rng.random(PER_REPLICATE)
        posteriors = [ErrorPosterior(int(e), n) for e in rng.binomial(n, truth)]
        below = [t <= p.upper(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
        inside = [t in p.interval(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
        draws[f"below the bound, {n} rows"] = np.array(np.mean(below))
        draws[f"inside the interval, {n} rows"] = np.array(np.mean(inside))
    return draws


@experiment(
    "Beta(errors + 1, n − errors + 1), n the number of test rows",
    _replicate_posterior,
    replicates=1000,
    quick=50,
    unit=f"times {PER_REPLICATE} tests",
)
def wallman_posterior(draws: Draws) -> Findings:
    """Wallman (2005), §3.5: the posterior of a true error after a test."""
    coverage = dict.fromkeys(draws, (LEVEL,))
    lines = tuple(
        Series(f"{errors} of {n}", GRID, ErrorPosterior(errors, n).pdf(GRID)) for errors, n in EXACT
    )
    top = (0.0, 20.0)  # that of no error in 60 begins at 61, and would flatten the others
    panel = Panel("", "true error", "density", lines, limits=top)
    return Findings(
        tables=(
            _measures(),
            PaperTable.of("how often a 95 % statement is true", "theory", draws, coverage),
        ),
        claims=_posterior_claims(),
        notes=(
            (
                "the document prints no posterior; the exact values are sums of binomials to ten "
                "digits."
            ),
            "(50 %) is computed in its own tail: 1 − P(error ≤ ½) would be 0 below 1e-16.",
        ),
        figures=(Panels("wallman-posterior", (panel,)),),
    )


def _measures() -> PaperTable:
    """The measures beside their exact values; far tails by their logarithm."""
    rows = []
    for (errors, n), (upper, above, square) in EXACT.items():
        ours = ErrorPosterior(errors, n).measures(LEVEL)
        name = f"{errors} errors in {n}"
        tail = HALF_A_UNIT / np.log(10)  # relative
        half, exactly = float(np.log10(ours.above_half)), float(np.log10(above))
        rows += [
            Row(f"{name}: (ub)", ours.ub, 0.0, upper, HALF_A_UNIT),
            Row(f"{name}: log10 (50 %)", half, 0.0, exactly, tail),
            Row(f"{name}: (q2)", ours.q2, 0.0, square, HALF_A_UNIT),
        ]
    return PaperTable("measures of a tested rule", "exact", tuple(rows), digits=6)


def _posterior_claims() -> tuple[Statement, ...]:
    few, many = ErrorPosterior(6, 60).measures(), ErrorPosterior(15, 150).measures()
    return (
        Statement.of(
            "n is the size of the training set",
            Quantity.exact(
                "how often a 95 % bound of 60 test rows is true with 150 training rows as n",
                _held_with(150, 60),
                Claim.near(LEVEL, 0.005),
            ),
            remark=f"with the test rows as n it is {_held_with(60, 60):.4f}: errors are counted "
            "in them",
        ),
        Statement.of(
            "(q2) weighs errors by an exponentially increasing cost",
            Quantity.exact(
                "third difference of 62·63 E[e²] along the errors in 60 rows",
                _third_difference(60),
                Claim.above(1e-6),
            ),
            remark="the cost is e², whose third difference is 0; that of a growing exponential is "
            "above",
        ),
        Statement.of(
            "(50 %) rewards many test rows more than few errors",
            Quantity.exact(
                "log10 of (50 %) for 15 errors in 150 rows over that for 6 in 60",
                float(np.log10(many.above_half / few.above_half)),
                BELOW,
                digits=1,
            ),
            remark=f"both err in 10 %: {few.above_half:.2e} and {many.above_half:.2e}",
        ),
    )


def _held_with(n: int, n_tested: int) -> float:
    """The share of truths below a 95 % bound from the errors in `n_tested` rows, said of n rows.

    Truths are drawn from the flat prior, so every number of errors is as likely as any other.
    """
    held = [
        ErrorPosterior(errors, n_tested).cdf(ErrorPosterior(errors, n).upper(LEVEL))
        for errors in range(n_tested + 1)
    ]
    return float(np.mean(held))


def _third_difference(n: int) -> float:
    cost = [(n + 2) * (n + 3) * ErrorPosterior(errors, n).second_moment() for errors in range(4)]
    return float(np.diff(cost, 3)[0])
