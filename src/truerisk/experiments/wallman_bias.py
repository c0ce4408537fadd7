"""Experiments on Wallman's §3.5, §5.3 and §5.4: bias of a chosen classifier, posterior errors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from truerisk import ErrorPosterior, SelectionBias
from truerisk.datasets import make_simple
from truerisk.experiments.experiment import (
    Draws,
    Sample,
    experiment,
    nearest_neighbour_family,
    replicate_rng,
)
from truerisk.experiments.figures import (
    FindingParts,
    MeansGrid,
    Panel,
    PaperTable,
    Series,
    mean_line,
)
from truerisk.experiments.statements import ABOVE_ZERO, BELOW_ZERO, Claim, Quantity, Statement
from truerisk.experiments.wallman_comparison import NEAREST_NEIGHBOUR_INDEX, classifiers
from truerisk.extend import Family, Method
from truerisk.methods import KFold, LeaveOneOut

# The names include the numbers of Wallman's equations.
REPORTED_ERROR, ESTIMATE_BEFORE_SELECTION, TRUE_ERROR, TRUE_ERROR_OF_CHOSEN = ERROR_NAMES = (
    "reported, p_a (6)",
    "all estimates, p_b (7)",
    "true, p (5)",
    "true of those taken",
)


def compute_selection_result(
    sample: Sample, method: Method, candidate_family: Family, split_number: int
) -> np.ndarray:
    """Return one array: the selected candidate, all estimates, and all true errors.

    The selected candidate is the one with the smallest estimate.
    """
    estimates = sample.risks(method, candidate_family, split_number)
    return np.concatenate(
        [[estimates.argmin()], estimates, sample.errors(candidate_family).ravel()]
    )


def selection_bias(selection_results: np.ndarray) -> SelectionBias:
    """Return the selection bias over many data sets, in each of which a candidate was chosen.

    Each row of `selection_results` is a result of `compute_selection_result` for one data set.
    """
    estimates, true_errors = np.split(selection_results[:, 1:], 2, axis=1)
    return SelectionBias(estimates, selection_results[:, 0].astype(int), true_errors)


def distributions_by_error(selection_results: np.ndarray) -> dict[str, Any]:
    """Return the distribution of each error in `ERROR_NAMES`, by name."""
    return dict(zip(ERROR_NAMES, selection_bias(selection_results).parts.values(), strict=True))


def mean_quantity(distribution: Any) -> Quantity:
    """Convert the mean of a distribution to a quantity for a table."""
    std_error = float("inf") if distribution.std_error is None else distribution.std_error
    return Quantity("", distribution.mean, std_error, None)


def mean_difference(
    selection_results: np.ndarray, minuend: str, subtrahend: str, claim: Claim = ABOVE_ZERO
) -> Quantity:
    """Return the mean of one error (`minuend`) minus the mean of another one (`subtrahend`)."""

    def statistic(resampled_results: np.ndarray) -> float:
        errors = distributions_by_error(resampled_results)
        return errors[minuend].mean - errors[subtrahend].mean

    return Quantity.from_statistic(f"{minuend} − {subtrahend}", statistic, selection_results, claim)


# ---------------------------------------------------------------- why the bias occurs

N = 50
# Leave-one-out trains on 49 of the 50 rows, so that a k above 48 changes nothing.
LARGEST_K = N - 2
K_VALUES = range(1, LARGEST_K + 1)
# The keys are numbers of training rows, the values are numbers of fresh rows of each class.
# With few training rows, estimates vary more than true errors do.
N_FRESH_BY_N_TRAINING = {20: 250, N: 2000, 100: 250, 200: 250}
# An error counts as unbiased if it is within this share of the true error.
RELATIVE_BIAS_TOLERANCE = 0.05
# The report has separate numbers for a k only if it was chosen at least this often.
MIN_TIMES_CHOSEN = 20
BIN_EDGES = np.arange(0, 0.52, 0.02)


def _replicate_bias(seed: int, replicate_number: int) -> Draws:
    """Compute leave-one-out errors and true errors for every k, for several numbers of rows.

    The smallest error wins, and the smallest k if several are tied.
    """
    draws: dict[str, np.ndarray] = {}
    for n, n_fresh in N_FRESH_BY_N_TRAINING.items():
        rng = replicate_rng(
            "wallman bias" if n == N else f"wallman bias {n}", seed, replicate_number
        )
        sample = Sample.draw(make_simple, ((n // 2,) * 2, (n_fresh,) * 2), rng)
        draws[f"{n} rows"] = compute_selection_result(
            sample, LeaveOneOut(), nearest_neighbour_family(range(1, n - 1)), 0
        )
    return draws


@experiment(_replicate_bias, replicates=1000, quick=30)
def wallman_bias(draws: Draws) -> FindingParts:
    """Wallman (2005), §5.3: why does the bias occur?

    {N} points of the 'simple' problem, half of each class, every k from 1 to {LARGEST_K};
    equations 5 to 7 in means

    the document describes a thought experiment with three classifiers and prints no numbers; here
    the classifiers are those of its §3.4, nearest neighbours with every k.

    leave-one-out of classes of equal size is pessimistic for large k, since the row that is left
    out makes its own class the smaller one: all estimates (7) lie a little above.
    """  # noqa: D400
    selection_results = draws[f"{N} rows"]
    bias, errors = selection_bias(selection_results), distributions_by_error(selection_results)
    estimates, chosen_candidates, true_errors = bias.estimates, bias.chosen, bias.true_risks
    n_times_chosen = np.bincount(chosen_candidates, minlength=len(K_VALUES))
    yield PaperTable.from_values(
        "mean errors", "document", {name: mean_quantity(errors[name]) for name in ERROR_NAMES}
    )
    # These are the eight values of k that are chosen most often.
    most_chosen_candidates = np.sort(np.argsort(-n_times_chosen, kind="stable")[:8])
    candidate_values = {
        "α": [chosen_candidates == candidate for candidate in most_chosen_candidates],
        "estimates when taken": [
            estimates[chosen_candidates == candidate, candidate]
            for candidate in most_chosen_candidates
        ],
        "all estimates": [estimates[:, candidate] for candidate in most_chosen_candidates],
        "true": [true_errors[:, candidate] for candidate in most_chosen_candidates],
    }
    yield MeansGrid.from_values(
        "by candidate",
        (f"k = {K_VALUES[candidate]}" for candidate in most_chosen_candidates),
        candidate_values,
    )

    often_chosen_candidates = np.flatnonzero(
        n_times_chosen >= min(MIN_TIMES_CHOSEN, n_times_chosen.max())
    ).tolist()

    def bias_when_chosen(candidate: int) -> Quantity:
        def statistic(resampled_results: np.ndarray) -> float:
            estimates_when_chosen = resampled_results[
                resampled_results[:, 0] == candidate, candidate + 1
            ]
            return (
                float(resampled_results[:, candidate + 1].mean() - estimates_when_chosen.mean())
                if len(estimates_when_chosen)
                else np.nan
            )

        return Quantity.from_statistic(
            f"k = {K_VALUES[candidate]}: all − when taken", statistic, selection_results
        )

    yield Statement.from_quantities(
        "a distribution of the lowest estimates is biased: the errors that P reports (6) lie "
        "below the true ones",
        mean_difference(selection_results, TRUE_ERROR, REPORTED_ERROR),
    )
    yield Statement.from_quantities(
        "this holds for each classifier: the estimates by which it is taken lie below all of "
        f"its estimates (those taken {MIN_TIMES_CHOSEN} times or more)",
        *(bias_when_chosen(candidate) for candidate in often_chosen_candidates),
    )
    yield Statement.from_quantities(
        "all estimates of the same classifiers (7) are unbiased",
        mean_difference(
            selection_results, ESTIMATE_BEFORE_SELECTION, TRUE_ERROR, Claim("near", 0.0, 0.0)
        ),
    )
    yield Statement.from_quantities(
        "the true errors of all classifiers, weighed by α (5), are those of P: within a twentieth",
        mean_difference(
            selection_results,
            TRUE_ERROR_OF_CHOSEN,
            TRUE_ERROR,
            Claim("near", 0.0, RELATIVE_BIAS_TOLERANCE * errors[TRUE_ERROR].mean),
        ),
    )

    errors_by_n_rows = {
        n: distributions_by_error(draws[f"{n} rows"]) for n in N_FRESH_BY_N_TRAINING
    }
    biases = {
        n: bias[TRUE_ERROR_OF_CHOSEN].values - bias[REPORTED_ERROR].values
        for n, bias in errors_by_n_rows.items()
    }
    title = "bias by rows: true error of the choice − reported"
    yield MeansGrid.from_values(title, (f"n = {n}" for n in biases), {"bias": biases.values()})
    *other_biases, (n_rows_of_least_bias, least_bias) = biases.items()
    yield Statement.from_quantities(
        "abstract, §5.1: the bias is there especially for small sample number data sets",
        {
            f"bias with {n} rows − with {n_rows_of_least_bias}": bias - least_bias
            for n, bias in other_biases
        },
    )

    error_lines = []
    for name, style in zip(
        (REPORTED_ERROR, ESTIMATE_BEFORE_SELECTION, TRUE_ERROR), ("C0-", "C1--", "k:"), strict=True
    ):
        # Estimates are multiples of 1/50, and each multiple gets a bin.
        values, weights = errors[name].values, errors[name].weights
        bin_shares, _ = np.histogram(values + BIN_EDGES[1] / 2, BIN_EDGES, weights=weights)
        error_lines.append(
            Series(name, (BIN_EDGES[1:] + BIN_EDGES[:-1]) / 2 - BIN_EDGES[1] / 2, bin_shares, style)
        )
    yield Panel("errors of the choice", "error", "share", tuple(error_lines))
    k_values = np.array(K_VALUES, dtype=float)
    plotted_candidates = np.flatnonzero(n_times_chosen >= MIN_TIMES_CHOSEN)
    mean_estimates_when_chosen = np.array(
        [
            estimates[chosen_candidates == candidate, candidate].mean()
            for candidate in plotted_candidates
        ]
    )
    lines_by_k = (
        mean_line("all estimates", k_values, estimates, "C1--"),
        mean_line("true errors", k_values, true_errors, "k:"),
        Series(
            f"estimates when taken ({MIN_TIMES_CHOSEN} times or more)",
            k_values[plotted_candidates],
            mean_estimates_when_chosen,
            "C0o",
        ),
    )
    # A rule whose k is close to the number of rows only guesses. Its large error is outside these
    # limits of the vertical axis.
    y_limits = (0.05, 0.35)
    yield Panel("classifier by classifier", "k", "mean error", lines_by_k, limits=y_limits)
    share_bars = (Series("", k_values, bias.shares),)
    yield Panel("how often each is taken", "k", "α", share_bars, kind="bars")


# ---------------------------------------------------------------- the bias of other choices

# These are the numbers of training rows and of fresh rows.
N_TRAINING_AND_FRESH = N, 1000
N_GENES_AND_INFORMATIVE = GENES, N_INFORMATIVE = 60, 10
# The class means of ten genes differ by this number; the other genes are noise.
MEAN_DIFFERENCE = 0.8
# The number of genes if another parameter is chosen, and the number of genes is fixed.
N_SELECTED_GENES = 10
# These are the candidates for the number of genes, or of principal components.
SIZES = (1, 2, 3, 5, 8, 13, 20, 30)
# These are the candidates for the number of neighbours.
ODD_KS = range(1, 16, 2)
CHOICE_NAMES = ("neighbours", "genes", "components", "classifier")


@lru_cache(maxsize=1)
def candidate_families() -> dict[str, Family]:
    """Return the family of candidates for each kind of choice, such as the number of genes.

    Only the chosen parameter varies between the candidates of a family. Genes are ranked in each
    training set.
    """
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import Pipeline

    estimators = [family.estimator for family in classifiers()]
    nearest_neighbours = estimators[NEAREST_NEIGHBOUR_INDEX]
    gene_pipeline = Pipeline(
        [("genes", SelectKBest(k=N_SELECTED_GENES)), ("rule", nearest_neighbours)]
    )
    component_pipeline = Pipeline([("parts", PCA(svd_solver="full")), ("rule", nearest_neighbours)])
    estimators_and_grids = (
        (gene_pipeline, {"rule__n_neighbors": ODD_KS}),
        (gene_pipeline, {"genes__k": SIZES}),
        (component_pipeline, {"parts__n_components": SIZES}),
        (gene_pipeline, {"rule": estimators}),
    )
    return {
        name: Family.from_grid(*estimator_and_grid)
        for name, estimator_and_grid in zip(CHOICE_NAMES, estimators_and_grids, strict=True)
    }


def _replicate_choices(seed: int, replicate_number: int) -> Draws:
    """Return 10-fold estimates and true errors of all candidates, for each kind of choice."""
    sample = Sample.draw_alternating(
        N_TRAINING_AND_FRESH,
        N_GENES_AND_INFORMATIVE,
        MEAN_DIFFERENCE,
        replicate_rng("wallman choices", seed, replicate_number),
    )
    return {
        name: compute_selection_result(sample, KFold(10), family, replicate_number)
        for name, family in candidate_families().items()
    }


@experiment(_replicate_choices, replicates=200, quick=20)
def wallman_choices(draws: Draws) -> FindingParts:
    """Wallman (2005), §5.4: the same bias for other choices.

    {N} rows, {GENES} genes of which {N_INFORMATIVE} have means {MEAN_DIFFERENCE:g} apart; the
    least 10-fold error wins, the first among equals

    the document argues and prints no numbers. Choices: {ODD_KS[0]} to {ODD_KS[7]} neighbours;
    {SIZES[0]} to {SIZES[7]} of the genes, by their F; as many principal components;
    nearest neighbours, tree, Parzen or Fisher. What is not chosen is 3 neighbours and the
    {N_SELECTED_GENES} first genes.

    how large the bias is depends on how many candidates differ, and by how much.
    """
    error_distributions = [distributions_by_error(draws[name]) for name in CHOICE_NAMES]
    means = {
        name: [mean_quantity(errors[name]) for errors in error_distributions]
        for name in ERROR_NAMES[:3]
    }
    mean_biases = [
        mean_difference(draws[name], ESTIMATE_BEFORE_SELECTION, REPORTED_ERROR)
        for name in CHOICE_NAMES
    ]
    yield MeansGrid.from_values(
        "mean errors, by what is chosen", CHOICE_NAMES, means | {"p_b − p_a": mean_biases}
    )
    for name, bias in zip(CHOICE_NAMES, mean_biases, strict=True):
        yield Statement.from_quantities(
            f"the bias occurs regardless of what is chosen: {name}",
            bias,
            mean_difference(draws[name], TRUE_ERROR, REPORTED_ERROR),
        )
    choice_positions = np.arange(1.0, len(CHOICE_NAMES) + 1)
    bars = tuple(
        Series.from_quantities(name, choice_positions, quantities)
        for name, quantities in means.items()
    )
    yield Panel("what is chosen", "", "mean error", bars, kind="bars", names=CHOICE_NAMES)


# ---------------------------------------------------------------- the posterior of a true error

CREDIBLE_LEVEL = 0.95
# The numbers of test rows of the classifiers a1 and a2 of Figure 5.
TEST_SIZES = (60, 150)
TESTS_PER_REPLICATE = 20
# Each key holds the number of errors and the number of test rows of a test.
# The values are three exact properties of the posterior, to ten digits: the upper bound of the
# error, P(error > ½) and E[error²].
EXACT_MEASURES = {
    (0, 60): (0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60): (0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150): (0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60): (0.6037259527, 0.5, 0.2539682540),
}
ROUNDING_TOLERANCE = 0.5e-10
ERROR_GRID = np.linspace(0.0, 0.75, 751)


def _replicate_posterior(seed: int, replicate_number: int) -> Draws:
    """Count how often upper bounds of the true error hold if true errors come from the flat prior.

    If nature uses this prior, a bound at 95 % holds in exactly 95 % of the tests.
    """
    rng = replicate_rng("wallman posterior", seed, replicate_number)
    draws: dict[str, np.ndarray] = {}
    for n in TEST_SIZES:
        true_errors = rng.random(TESTS_PER_REPLICATE)
        posteriors = [ErrorPosterior(int(n_errors), n) for n_errors in rng.binomial(n, true_errors)]
        are_below_bound = [
            true_error <= posterior.upper(CREDIBLE_LEVEL)
            for true_error, posterior in zip(true_errors, posteriors, strict=True)
        ]
        are_inside_interval = [
            true_error in posterior.interval(CREDIBLE_LEVEL)
            for true_error, posterior in zip(true_errors, posteriors, strict=True)
        ]
        draws[f"below the bound, {n} rows"] = np.array(np.mean(are_below_bound))
        draws[f"inside the interval, {n} rows"] = np.array(np.mean(are_inside_interval))
    return draws


@experiment(
    _replicate_posterior, replicates=1000, quick=50, unit=f"times {TESTS_PER_REPLICATE} tests"
)
def wallman_posterior(draws: Draws) -> FindingParts:
    """Wallman (2005), §3.5: the posterior of a true error after a test.

    Beta(errors + 1, n − errors + 1), n the number of test rows

    the document prints no posterior; the exact values are sums of binomials to ten digits.

    (50 %) is computed in its own tail: 1 − P(error ≤ ½) would be 0 below 1e-16.
    """
    measures: dict[str, float] = {}
    exact_measures: dict[str, tuple[float, float]] = {}
    for (errors, n), (upper_bound, probability_above_half, second_moment) in EXACT_MEASURES.items():
        computed_measures, name = (
            ErrorPosterior(errors, n).measures(CREDIBLE_LEVEL),
            f"{errors} errors in {n}",
        )
        measures[f"{name}: (ub)"], exact_measures[f"{name}: (ub)"] = (
            computed_measures.ub,
            (upper_bound, ROUNDING_TOLERANCE),
        )
        # Far tails are compared by their logarithm.
        tail_name = f"{name}: log10 (50 %)"
        measures[tail_name] = float(np.log10(computed_measures.above_half))
        exact_measures[tail_name] = (
            float(np.log10(probability_above_half)),
            ROUNDING_TOLERANCE / np.log(10),
        )
        measures[f"{name}: (q2)"], exact_measures[f"{name}: (q2)"] = (
            computed_measures.q2,
            (second_moment, ROUNDING_TOLERANCE),
        )
    yield PaperTable.from_values(
        "measures of a tested rule", "exact", measures, exact_measures, digits=6
    )
    nominal_coverage = dict.fromkeys(draws, CREDIBLE_LEVEL)
    yield PaperTable.from_values(
        "how often a 95 % statement is true", "theory", draws, nominal_coverage
    )

    bound_label = (
        "how often a 95 % bound of the 60 test rows of a1 is true with its 30 training rows as n, "
        "where at most 30 rows are errors"
    )
    yield Statement.from_quantities(
        "n is the size of the training set",
        Quantity.from_exact_value(
            bound_label, _share_below_bound(30, 60), Claim("near", CREDIBLE_LEVEL, 0.005)
        ),
        remark=f"with the test rows as n it is {_share_below_bound(60, 60):.4f}: "
        "errors are counted in them; with n = 30 more than 30 errors have no posterior at all",
    )
    difference_label = "third difference of 62·63 E[e²] along the errors in 60 rows"
    costs = [62 * 63 * ErrorPosterior(errors, 60).second_moment() for errors in range(4)]
    yield Statement.from_quantities(
        "(q2) weighs errors by an exponentially increasing cost",
        Quantity.from_exact_value(difference_label, np.diff(costs, 3)[0], Claim("above", 1e-6)),
        remark="the cost is e², whose third difference is 0; that of a growing exponential is "
        "above",
    )
    tail_probability_few_rows, tail_probability_many_rows = (
        ErrorPosterior(n // 10, n).measures().above_half for n in TEST_SIZES
    )
    ratio_label = "log10 of (50 %) for 15 errors in 150 rows over that for 6 in 60"
    yield Statement.from_quantities(
        "(50 %) rewards many test rows more than few errors",
        Quantity.from_exact_value(
            ratio_label,
            float(np.log10(tail_probability_many_rows / tail_probability_few_rows)),
            BELOW_ZERO,
            digits=1,
        ),
        remark=(
            f"both err in 10 %: {tail_probability_few_rows:.2e} and "
            f"{tail_probability_many_rows:.2e}"
        ),
    )

    density_lines = tuple(
        Series(f"{errors} of {n}", ERROR_GRID, ErrorPosterior(errors, n).pdf(ERROR_GRID))
        for errors, n in EXACT_MEASURES
    )
    # The axis ends at 20, because the density of the posterior after 0 errors in 60 rows rises to
    # 61 and would flatten the other densities.
    y_limits = (0.0, 20.0)
    density_label = "density (of 0 of 60 up to 61)"
    yield Panel("", "true error", density_label, density_lines, limits=y_limits)


def _share_below_bound(n: int, n_tested: int) -> float:
    """Return the share of true errors below a 95 % bound whose posterior assumes n test rows.

    The errors are counted on `n_tested` rows, which may be more than n. True errors are drawn from
    the flat prior, so that every number of errors is equally likely. More errors than n have no
    posterior and are left out.
    """
    shares_below = [
        ErrorPosterior(errors, n_tested).cdf(ErrorPosterior(errors, n).upper(CREDIBLE_LEVEL))
        for errors in range(min(n, n_tested) + 1)
    ]
    return float(np.mean(shares_below))
