"""Experiments on errors of polynomials of growing degree: optimism, its penalties, excess risk.

Optimism is the test error minus the training error, and AICc is its penalty if the error is minus
twice the log-likelihood. The excess risk is estimation error plus approximation error.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from truerisk.experiments.experiment import (
    Draws,
    Sample,
    evaluation_terms,
    experiment,
    predict_plan,
    replicate_rng,
)
from truerisk.experiments.figures import (
    FindingParts,
    MeansGrid,
    Panel,
    PaperTable,
    Series,
    mean_line,
    mean_lines,
)
from truerisk.experiments.insa import polynomial_family, regression_data
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Family, Streams
from truerisk.losses import Absolute, Loss, Squared
from truerisk.methods import AIC, AICc

# This is the standard deviation of the noise.
NOISE_DEVIATION = 0.5
# This is the number of training rows.
N = 30
# The degree of the polynomial whose mean test error and mean excess risk are smallest.
BEST_DEGREE = 4
ROUNDING_ERROR = 1e-9
AXIS_LABEL = "degree of the polynomial"


def true_function(x: np.ndarray) -> np.ndarray:
    """Return the values of the optimal rule f*(x) = sin(4x + 1)."""
    return np.asarray(np.sin(4 * x + 1))


def _draw_in_cells(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one number in each of n equal cells of [-1, 1].

    Without large gaps, polynomials do not diverge.
    """
    return 2 * ((np.arange(n) + rng.uniform(size=n)) / n) - 1


# ------------------------------------------------------- optimism: test error minus training error

N_TEST = 2000
LARGEST_DEGREE = 12
DEGREES = np.arange(1, LARGEST_DEGREE + 1)
TABLE_DEGREES = (1, 3, 5, 8, 12)
# The figure shows this number of training sets.
N_SHOWN_LINES = 30
# The vertical axis of the figure ends at this quantile of all values in the curves.
# A few divergent curves would otherwise flatten all others.
SHOWN_QUANTILE = 0.98
COLOURS = {"training": "C0", "test": "C1"}


def _replicate_optimism(seed: int, replicate_number: int) -> Draws:
    """Fit polynomials of degree 1 to 12 to 30 rows; return training and test errors by degree."""
    rng = replicate_rng("insa optimism", seed, replicate_number)
    x = np.append(_draw_in_cells(N, rng), rng.uniform(-1, 1, N_TEST))
    y = true_function(x) + NOISE_DEVIATION * rng.standard_normal(len(x))
    # The training rows occur twice, the second time as test rows, so that they are predicted, too.
    data = regression_data(np.append(x[:N], x), np.append(y[:N], y))
    predictions = Sample(data, N, Squared()).answers(polynomial_family(LARGEST_DEGREE)).values
    training_errors, test_errors = np.split((predictions - y) ** 2, [N], axis=1)
    fresh_label_errors = (predictions[:, :N] - true_function(x[:N])) ** 2 + NOISE_DEVIATION**2
    errors = {"training": training_errors, "test": test_errors, "fresh labels": fresh_label_errors}
    return {name: row_errors.mean(axis=1) for name, row_errors in errors.items()}


@experiment(_replicate_optimism, replicates=500, quick=50, unit="training sets")
def insa_optimism(draws: Draws) -> FindingParts:
    """INSA lecture: training and test error as the complexity grows.

    the figure is of Hastie, Tibshirani and Friedman; here {N} rows of sin(4x + 1) with noise

    the document draws these curves and prints no numbers.
    """
    training_errors, test_errors = draws["training"], draws["test"]
    mean_errors = {
        f"degree {degree}: {name}": draws[name][:, degree - 1]
        for degree in TABLE_DEGREES
        for name in ("training", "test")
    }
    yield PaperTable.from_values(
        f"mean squared error, noise {NOISE_DEVIATION**2:.2f}", "document", mean_errors
    )
    optimism_values = draws["fresh labels"] - training_errors
    optimism = {f"degree {degree}": optimism_values[:, degree - 1] for degree in TABLE_DEGREES}
    # For fresh labels at the same x's, the mean optimism of least squares is 2 p σ²/n, whatever the
    # true curve is.
    exact_optimism = {
        f"degree {degree}": 2 * (degree + 1) * NOISE_DEVIATION**2 / N for degree in TABLE_DEGREES
    }
    title = "optimism at the same x's, fresh labels"
    yield PaperTable.from_values(title, "2 p σ²/n", optimism, exact_optimism)

    rise_label = "largest rise from one degree to the next, over all training sets"
    yield Statement.from_quantities(
        "the training error decreases as the complexity grows",
        Quantity.from_exact_value(
            rise_label, np.diff(training_errors, axis=1).max(), Claim("below", ROUNDING_ERROR)
        ),
    )
    yield Statement.from_quantities(
        "the test error first decreases",
        {f"degree 1 − degree {BEST_DEGREE}": test_errors[:, 0] - test_errors[:, BEST_DEGREE - 1]},
        remark=f"its mean is least at degree {int(test_errors.mean(axis=0).argmin()) + 1}",
    )
    yield Statement.from_quantities(
        "and then increases: overfitting",
        {
            f"degree {LARGEST_DEGREE} − degree {BEST_DEGREE}": test_errors[:, -1]
            - test_errors[:, BEST_DEGREE - 1]
        },
    )
    differences_by_degree = zip(DEGREES, (test_errors - training_errors).T, strict=True)
    yield Statement.from_quantities(
        "the training error underestimates the generalisation error, on average",
        {
            f"test − training error, degree {degree}": differences
            for degree, differences in differences_by_degree
        },
    )

    shown_test_errors = test_errors[:N_SHOWN_LINES]
    y_limit = max(
        float(np.quantile(shown_test_errors, SHOWN_QUANTILE)),
        float(training_errors[:N_SHOWN_LINES].max()),
    )
    n_curves_above = np.count_nonzero((shown_test_errors > y_limit).any(axis=1))
    curve_label = "error of one training set"
    label = (
        f"test {curve_label} ({n_curves_above} of {len(shown_test_errors)} leave, up to "
        f"{shown_test_errors.max():.1f})"
    )
    labels = {"training": f"training {curve_label}", "test": label}
    single_lines = [
        Series(
            "" if set_index else labels[name],
            DEGREES,
            draws[name][set_index],
            f"{colour}-",
            0.3,
        )
        for set_index in range(len(shown_test_errors))
        for name, colour in COLOURS.items()
    ]
    mean_curves = [
        mean_line(f"{name} error, mean", DEGREES, draws[name], f"{colour}-", 2.4)
        for name, colour in COLOURS.items()
    ]
    yield Panel(
        "", AXIS_LABEL, "squared error", (*single_lines, *mean_curves), limits=(0.0, y_limit)
    )


# -------------------------------------------------------- estimation error and approximation error

TRAINING_SIZES = (20, 30, 60, 120, 240)
# The figure over the degree shows the training-set size at this index.
SIZE_INDEX = TRAINING_SIZES.index(N)
LARGEST_DECOMPOSED_DEGREE = 8
# Gauss-Legendre nodes and weights on [-1, 1] integrate the squares of all polynomials here exactly.
QUADRATURE_NODES, QUADRATURE_WEIGHTS = np.polynomial.legendre.leggauss(64) * np.array(
    [[1.0], [0.5]]
)
# The best polynomial of a degree is the projection of the true curve onto the polynomials of this
# degree. It is evaluated at the nodes of the quadrature.
LEGENDRE_BASIS = np.polynomial.legendre.legvander(
    QUADRATURE_NODES, LARGEST_DECOMPOSED_DEGREE
) * np.sqrt(2 * np.arange(LARGEST_DECOMPOSED_DEGREE + 1) + 1)
BEST_POLYNOMIALS = np.cumsum(
    LEGENDRE_BASIS * ((QUADRATURE_WEIGHTS * true_function(QUADRATURE_NODES)) @ LEGENDRE_BASIS),
    axis=1,
).T[1:]
# The approximation error of every degree, inf_F R − R(f*): the smallest risk of a polynomial of
# this degree, minus the Bayes risk.
APPROXIMATION_ERRORS = (
    BEST_POLYNOMIALS - true_function(QUADRATURE_NODES)
) ** 2 @ QUADRATURE_WEIGHTS
BAYES_RISK = NOISE_DEVIATION**2
SHOWN_DEGREES = DEGREES[:LARGEST_DECOMPOSED_DEGREE]
REPORTED_DEGREES = (1, 2, 3, 4, 5, 8)
# Ridge regression on powers of x up to this degree, with few rows and these penalties.
RIDGE_DEGREE, N_RIDGE = 8, 20
PENALTIES = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
# The penalty whose squared bias and variance have the smallest sum.
BEST_PENALTY_INDEX = PENALTIES.index(0.01)
# Labels of many rows at the same x. They are quantiles of the exponential distribution.
SKEWED_LABELS = -np.log1p(-(np.arange(4000) + 0.5) / 4000)
# The candidates for the best constant prediction are this far apart.
CONSTANT_STEP = 0.01


def _replicate_decomposition(seed: int, replicate_number: int) -> Draws:
    r"""Compute the estimation error and the excess risk of polynomials by training-set size.

    The polynomials have degrees 1 to 8. R(f̂) − R(f*) = [R(f̂) − inf_F R] + [inf_F R − R(f*)],
    where the first bracket is the estimation error.

    The truth is sin(4x + 1) on [−1, 1] with x uniform and noise of variance ¼, which is the Bayes
    risk R(f*). The best polynomial of a class is the projection of the truth; risks are integrals,
    computed by Gauss-Legendre quadrature without test rows.
    """
    rng = replicate_rng("insa decomposition", seed, replicate_number)
    estimation_errors, excess_risks = np.empty((2, len(TRAINING_SIZES), LARGEST_DECOMPOSED_DEGREE))
    for size_index, n in enumerate(TRAINING_SIZES):
        x = _draw_in_cells(n, rng)
        y = true_function(x) + NOISE_DEVIATION * rng.standard_normal(n)
        data = regression_data(
            np.append(x, QUADRATURE_NODES), np.append(y, np.zeros(len(QUADRATURE_NODES)))
        )
        predictions = (
            Sample(data, n, Squared()).answers(polynomial_family(LARGEST_DECOMPOSED_DEGREE)).values
        )
        estimation_errors[size_index] = (predictions - BEST_POLYNOMIALS) ** 2 @ QUADRATURE_WEIGHTS
        excess_risks[size_index] = (
            predictions - true_function(QUADRATURE_NODES)
        ) ** 2 @ QUADRATURE_WEIGHTS
    return {
        "estimation": estimation_errors,
        "excess": excess_risks,
        "ridge": _bias_and_variance_of_ridge(seed, replicate_number),
    }


@lru_cache(maxsize=1)
def _ridge_family() -> Family:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(RIDGE_DEGREE, include_bias=False), Ridge())
    return Family.from_grid(model, {"ridge__alpha": PENALTIES})


def _bias_and_variance_of_ridge(seed: int, replicate_number: int) -> np.ndarray:
    """Return squared bias and variance by penalty, and the excess risk, given the x of the rows.

    Fitted values are linear in the labels. So the fit to labels without noise is the mean of all
    fits at the same x, and the fit to noise alone is the deviation from this mean.
    """
    rng = replicate_rng("insa ridge", seed, replicate_number)
    x = _draw_in_cells(N_RIDGE, rng)
    labels = true_function(x), NOISE_DEVIATION * rng.standard_normal(N_RIDGE)
    mean_fit, deviation = (
        Sample(
            regression_data(np.append(x, QUADRATURE_NODES), np.append(y, 0 * QUADRATURE_NODES)),
            N_RIDGE,
            Squared(),
        )
        .answers(_ridge_family())
        .values
        for y in labels
    )
    bias = mean_fit - true_function(QUADRATURE_NODES)
    return np.stack([bias, deviation, bias + deviation]) ** 2 @ QUADRATURE_WEIGHTS


@experiment(_replicate_decomposition, replicates=500, quick=50, unit="training sets")
def insa_decomposition(draws: Draws) -> FindingParts:
    """INSA lecture: Bayes risk, approximation error, estimation error.

    the lecture prints the formula; here rows of sin(4x + 1) with noise

    the document prints no numbers. Rows stand one in each of n cells, so that no wide gap lets a
    polynomial run away.
    """
    estimation_errors, approximation_errors = draws["estimation"], APPROXIMATION_ERRORS
    error_sums = estimation_errors + approximation_errors
    estimation_errors_at_n, error_sums_at_n = (
        estimation_errors[:, SIZE_INDEX],
        error_sums[:, SIZE_INDEX],
    )
    means = {
        f"degree {degree}: {name}": values[:, degree - 1]
        for degree in REPORTED_DEGREES
        for name, values in (
            ("estimation error", estimation_errors_at_n),
            ("estimation + approximation", error_sums_at_n),
        )
    }
    title = f"excess risk of {N} rows, Bayes risk {BAYES_RISK:.2f}"
    yield PaperTable.from_values(title, "document", means)

    constant_differences = {
        "best constant by absolute − median": _best_constant(Absolute())
        - float(np.median(SKEWED_LABELS)),
        "best constant by squared − mean": _best_constant(Squared()) - float(SKEWED_LABELS.mean()),
    }
    yield Statement.from_quantities(
        "the optimal rule is the median of Y given x for the L1 loss, the mean for the L2 loss",
        *(
            Quantity.from_exact_value(name, difference, Claim("near", 0.0, CONSTANT_STEP))
            for name, difference in constant_differences.items()
        ),
        remark="labels of an exponential distribution, whose median .69 is not its mean 1",
    )
    below_claim, difference_label = (
        Claim("below", ROUNDING_ERROR),
        "largest difference, over all training sets",
    )
    yield Statement.from_quantities(
        "the excess risk is estimation error plus approximation error",
        Quantity.from_exact_value(
            difference_label, np.abs(error_sums - draws["excess"]).max(), below_claim
        ),
    )
    rise_label = "largest rise from one degree to the next"
    yield Statement.from_quantities(
        "the approximation error falls as the model grows",
        Quantity.from_exact_value(rise_label, np.diff(approximation_errors).max(), below_claim),
    )
    yield Statement.from_quantities(
        "the estimation error grows with the dimension of the model",
        {
            f"degree {high_degree} − degree {low_degree}": estimation_errors_at_n[
                :, high_degree - 1
            ]
            - estimation_errors_at_n[:, low_degree - 1]
            for low_degree, high_degree in pairwise(SHOWN_DEGREES)
        },
    )
    yield Statement.from_quantities(
        "the best model lies between: neither the smallest nor the largest",
        {
            f"degree {degree} − degree {BEST_DEGREE}": error_sums_at_n[:, degree - 1]
            - error_sums_at_n[:, BEST_DEGREE - 1]
            for degree in (1, LARGEST_DECOMPOSED_DEGREE)
        },
        remark=f"the mean is least at degree {int(error_sums_at_n.mean(axis=0).argmin()) + 1}",
    )
    decrease = estimation_errors[:, 0] - estimation_errors[:, -1]
    yield Statement.from_quantities(
        "with more rows the estimation error falls, and the approximation error stays",
        {
            f"degree {degree}: {TRAINING_SIZES[0]} rows − {TRAINING_SIZES[-1]} rows": decrease[
                :, degree - 1
            ]
            for degree in REPORTED_DEGREES
        },
    )

    bias, variance, excess = draws["ridge"].swapaxes(0, 1)
    rows = {"squared bias": bias, "variance": variance, "excess risk": excess}
    yield MeansGrid.from_values(
        f"ridge regression, degree {RIDGE_DEGREE}, {N_RIDGE} rows",
        (f"λ = {penalty:g}" for penalty in PENALTIES),
        {name: values.T for name, values in rows.items()},
    )
    yield Statement.from_quantities(
        "it is sometimes preferable to accept a bias to reduce the variance: ridge regression",
        {
            f"squared bias, λ = {PENALTIES[-1]:g} − λ = 0": bias[:, -1] - bias[:, 0],
            f"variance, λ = 0 − λ = {PENALTIES[-1]:g}": variance[:, 0] - variance[:, -1],
            f"excess risk, λ = 0 − λ = {PENALTIES[BEST_PENALTY_INDEX]:g}": excess[:, 0]
            - excess[:, BEST_PENALTY_INDEX],
        },
    )

    error_lines = (
        Series("approximation error", SHOWN_DEGREES, approximation_errors, "C0o-"),
        mean_line("estimation error", SHOWN_DEGREES, estimation_errors_at_n, "C3o-"),
        mean_line("their sum", SHOWN_DEGREES, error_sums_at_n, "k-", 2.4),
    )
    yield Panel(f"{N} rows", AXIS_LABEL, "excess risk", error_lines)
    training_sizes, size_lines = np.array(TRAINING_SIZES), []
    for colour, degree in enumerate((1, 3, 5)):
        size_lines.append(
            mean_line(
                f"degree {degree}", training_sizes, error_sums[:, :, degree - 1], f"C{colour}o-"
            )
        )
        approximation_line = np.full(len(training_sizes), approximation_errors[degree - 1])
        size_lines.append(Series("", training_sizes, approximation_line, f"C{colour}:"))
    yield Panel("dotted: approximation error", "training rows", "excess risk", tuple(size_lines))
    positions = np.arange(1.0, len(PENALTIES) + 1)
    yield Panel(
        f"ridge regression, degree {RIDGE_DEGREE}, {N_RIDGE} rows",
        "penalty λ",
        "excess risk",
        mean_lines(positions, rows, ("C0o-", "C3o-", "k-")),
        names=tuple(f"{penalty:g}" for penalty in PENALTIES),
    )


def _best_constant(loss: Loss) -> float:
    """Return the constant prediction with the smallest risk for the skewed labels."""
    constants, n = np.arange(0.0, 2.0, CONSTANT_STEP), len(SKEWED_LABELS)
    predictions = np.broadcast_to(constants[:, None], (len(constants), n))
    risks = loss.of_set(
        regression_data(np.zeros(n), SKEWED_LABELS), np.arange(n), predictions, None
    )
    return float(constants[risks.argmin()])


# --------------------------------------------------------------- simulation of AICc and its target

# These are the numbers of rows, and of coefficients including the intercept.
FEW, P = 12, 2
# This is the number of data sets in a replicate.
N_SETS = 1000
SMALL_SAMPLE_X = np.linspace(-1, 1, FEW)
X = np.column_stack([np.ones(FEW), SMALL_SAMPLE_X])
HAT_MATRIX = X @ np.linalg.solve(X.T @ X, X.T)
AIC_PENALTY = 2 * (P + 1)
# With this number of rows AICc must equal AIC nearly exactly.
N_LARGE_SAMPLE = 10**6
# RSS/σ² is chi-squared with n − p = 10 degrees of freedom.
# Its mean log is digamma(5) + log 2, and the mean of its inverse is 1/(n − p − 2).
MEAN_LOG_VARIANCE = 1.5061176684318004 + np.log(2) - np.log(FEW)
MEAN_LIKELIHOOD_TERM = FEW * (np.log(2 * np.pi) + MEAN_LOG_VARIANCE)
# The penalty of AICc as it is printed in the document. The correct penalty is n times as large.
PRINTED_PENALTY = (FEW + P) / (FEW - P - 2)
EXACT_MEANS = {
    "target": MEAN_LIKELIHOOD_TERM + FEW * PRINTED_PENALTY,
    "AICc": MEAN_LIKELIHOOD_TERM + FEW * PRINTED_PENALTY,
    "AIC": MEAN_LIKELIHOOD_TERM + FEW + AIC_PENALTY,
    "as printed": MEAN_LIKELIHOOD_TERM + FEW + PRINTED_PENALTY,
}


def _replicate_aicc(seed: int, replicate_number: int) -> Draws:
    """Return AIC, AICc and their target for lines fitted to many data sets of 12 rows.

    There are a thousand data sets, with Gaussian labels.
    """
    noise = replicate_rng("aicc", seed, replicate_number).standard_normal((N_SETS, FEW))
    fitted_values = noise @ HAT_MATRIX
    variance = ((noise - fitted_values) ** 2).mean(axis=1)
    # The true values are 0, so that this is the squared distance of the fitted values from them.
    squared_distances = (fitted_values**2).sum(axis=1)
    fresh_deviance = FEW * np.log(2 * np.pi * variance) + (FEW + squared_distances) / variance
    likelihood_terms = FEW * np.log(2 * np.pi * variance) + FEW
    # The penalty of a criterion is its value minus the likelihood term, and all data sets share it.
    # The library computes the penalty for the first data set.
    data, loss, family = regression_data(SMALL_SAMPLE_X, noise[0]), Squared(), polynomial_family(1)
    predictions = predict_plan(family, data, loss, AIC().plan(data, Streams(0)))
    first_set_criteria = (
        criterion.reduce(predictions, data, loss, evaluation_terms(family))[0].value
        for criterion in (AICc(), AIC())
    )
    aicc, aic = (
        likelihood_terms + (criterion - likelihood_terms[0]) for criterion in first_set_criteria
    )
    means = {
        "target": fresh_deviance,
        "AICc": aicc,
        "AIC": aic,
        "as printed": likelihood_terms + PRINTED_PENALTY,
    }
    return {name: criterion.mean() for name, criterion in means.items()}


@experiment(_replicate_aicc, replicates=400, quick=20, unit=f"times {N_SETS} data sets")
def aicc_simulation(draws: Draws) -> FindingParts:
    """INSA lecture: AICc by its right and by its printed price.

    Gaussian linear model, n = {FEW}, p = {P}; the target is -2 log L of fresh labels at the same
    x's

    exact: the residual sum of squares is chi-squared with n − p degrees of freedom and independent
    of the fit, so all four means have a closed form.

    k = p + 1 = 3 counts the variance; n log 2π is included, as in R.
    """
    yield PaperTable.from_values("mean over data sets", "exact", draws, EXACT_MEANS, digits=3)
    names = {name: f"{name} − target" for name in EXACT_MEANS if name != "target"}
    differences = {text: draws[name] - draws["target"] for name, text in names.items()}
    exact_differences = {
        text: EXACT_MEANS[name] - EXACT_MEANS["target"] for name, text in names.items()
    }
    yield PaperTable.from_values(
        "mean difference from the target", "exact", differences, exact_differences, digits=3
    )
    aicc, aic, printed_aicc = differences.values()
    means = {text: Quantity.mean("", quantity) for text, quantity in differences.items()}
    descriptions = [
        f"{text} = {quantity.value:+.3f} ± {quantity.std_error:.3f}"
        for text, quantity in means.items()
    ]
    yield Statement.from_quantities(
        "AICc is recommended for small samples (by the right price n(n + p)/(n − p − 2))",
        Quantity.from_bias_difference(
            "|bias| of AICc − of AIC", np.column_stack([aicc, aic]), digits=3
        ),
        remark=f"{descriptions[0]}, {descriptions[1]}",
    )
    yield Statement.from_quantities(
        "the printed price (n + p)/(n − p − 2) refines AIC",
        Quantity.from_bias_difference(
            "|bias| of as printed − of AIC", np.column_stack([printed_aicc, aic]), digits=3
        ),
        remark=f"{descriptions[2]}: it lost the factor n",
    )
    asymptotic_difference, zero_claim = (
        N_LARGE_SAMPLE * (N_LARGE_SAMPLE + P) / (N_LARGE_SAMPLE - P - 2)
        - N_LARGE_SAMPLE
        - AIC_PENALTY,
        Claim("near", 0.0, 0.001),
    )
    name = f"AICc − AIC for n = {N_LARGE_SAMPLE} and as many coefficients"
    yield Statement.from_quantities(
        "AICc is asymptotically equivalent to AIC (by the right price)",
        Quantity.from_exact_value(name, asymptotic_difference, zero_claim, digits=6),
        remark="the printed price tends to 1 whatever p is, that of AIC is 2p",
    )
