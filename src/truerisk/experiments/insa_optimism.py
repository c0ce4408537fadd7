"""The lecture's errors with growing complexity: optimism, estimation and approximation error, AICc.

Optimism is the test error minus the training error, and AICc is its penalty if the error is minus
twice the log-likelihood.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.experiments.experiment import Draws, Sample, answered, experiment, stream, terms_of
from truerisk.experiments.figures import Panel, PaperTable, Parts, Series, mean_line
from truerisk.experiments.insa import data_of, polynomials
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Streams
from truerisk.losses import Absolute, Loss, Squared
from truerisk.methods import AIC, AICc

NOISE = 0.5  # standard deviation of the noise
N = 30  # number of training rows
BEST = 4  # the degree with the smallest mean test error and excess risk
ROUNDING = 1e-9
AXIS = "degree of the polynomial"


def truth(x: np.ndarray) -> np.ndarray:
    """Return the optimal rule f*."""
    return np.asarray(np.sin(4 * x + 1))


def _in_cells(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one row in each of n cells of [-1, 1], so that no gap lets a polynomial diverge."""
    return 2 * ((np.arange(n) + rng.uniform(size=n)) / n) - 1


# ---------------------------------------------------------------- optimism

N_TEST = 2000
MOST = 12
DEGREES = np.arange(1, MOST + 1)
SHOWN = (1, 3, 5, 8, 12)
LINES = 30  # number of training sets in the figure
# Quantile of the curves' heights that is shown, because a few divergent ones would flatten the
# others.
SEEN = 0.98
COLOURS = {"training": "C0", "test": "C1"}


def _replicate_optimism(seed: int, number: int) -> Draws:
    """Fit polynomials of degree 1 to 12 to 30 rows, and test them on 2000."""
    rng = stream("insa optimism", seed, number)
    x = np.append(_in_cells(N, rng), rng.uniform(-1, 1, N_TEST))
    y = truth(x) + NOISE * rng.standard_normal(len(x))
    # The training rows are predicted, too.
    data = data_of(np.append(x[:N], x), np.append(y[:N], y))
    fitted = Sample(data, N, Squared()).answers(polynomials(MOST)).values
    training, test = np.split((fitted - y) ** 2, [N], axis=1)
    fresh = (fitted[:, :N] - truth(x[:N])) ** 2 + NOISE**2
    errors = {"training": training, "test": test, "fresh labels": fresh}
    return {name: of.mean(axis=1) for name, of in errors.items()}


@experiment(_replicate_optimism, replicates=500, quick=50, unit="training sets")
def insa_optimism(draws: Draws) -> Parts:
    """INSA lecture: training and test error as the complexity grows.

    the figure is of Hastie, Tibshirani and Friedman; here {N} rows of sin(4x + 1) with noise

    the document draws these curves and prints no numbers.
    """
    training, test = draws["training"], draws["test"]
    means = {
        f"degree {d}: {name}": draws[name][:, d - 1] for d in SHOWN for name in ("training", "test")
    }
    yield PaperTable.from_values(f"mean squared error, noise {NOISE**2:.2f}", "document", means)
    gaps = draws["fresh labels"] - training
    optimism = {f"degree {d}": gaps[:, d - 1] for d in SHOWN}
    # At the same x's the mean optimism of least squares is 2 p sigma2 / n for any true curve.
    exact = {f"degree {d}": 2 * (d + 1) * NOISE**2 / N for d in SHOWN}
    title = "optimism at the same x's, fresh labels"
    yield PaperTable.from_values(title, "2 p σ²/n", optimism, exact)

    rise = "largest rise from one degree to the next, over all training sets"
    yield Statement.from_quantities(
        "the training error decreases as the complexity grows",
        Quantity.exact(rise, np.diff(training, axis=1).max(), Claim("below", ROUNDING)),
    )
    yield Statement.from_quantities(
        "the test error first decreases",
        {f"degree 1 − degree {BEST}": test[:, 0] - test[:, BEST - 1]},
        remark=f"its mean is least at degree {int(test.mean(axis=0).argmin()) + 1}",
    )
    yield Statement.from_quantities(
        "and then increases: overfitting",
        {f"degree {MOST} − degree {BEST}": test[:, -1] - test[:, BEST - 1]},
    )
    by_degree = zip(DEGREES, (test - training).T, strict=True)
    yield Statement.from_quantities(
        "the training error underestimates the generalisation error, on average",
        {f"test − training error, degree {degree}": of for degree, of in by_degree},
    )

    seen = test[:LINES]
    top = max(float(np.quantile(seen, SEEN)), float(training[:LINES].max()))
    above = np.count_nonzero((seen > top).any(axis=1))
    one = "error of one training set"
    leaving = f"test {one} ({above} of {len(seen)} leave, up to {seen.max():.1f})"
    labels = {"training": f"training {one}", "test": leaving}
    single = [
        Series("" if t else labels[name], DEGREES, draws[name][t], f"{colour}-", 0.3)
        for t in range(len(seen))
        for name, colour in COLOURS.items()
    ]
    mean = [
        mean_line(f"{name} error, mean", DEGREES, draws[name], f"{colour}-", 2.4)
        for name, colour in COLOURS.items()
    ]
    yield Panel("", AXIS, "squared error", (*single, *mean), limits=(0.0, top))


# ---------------------------------------------------------------- estimation and approximation

SIZES = (20, 30, 60, 120, 240)
PLACE = SIZES.index(N)  # index of the size that is shown over the complexity
LARGEST = 8
# Quadrature over x, uniform on [-1, 1], which is exact for the squares of all polynomials here.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64) * np.array([[1.0], [0.5]])
# The best polynomial of every degree at the nodes is the projection of the truth.
BASIS = np.polynomial.legendre.legvander(NODES, LARGEST) * np.sqrt(2 * np.arange(LARGEST + 1) + 1)
BEST_OF_CLASS = np.cumsum(BASIS * ((WEIGHTS * truth(NODES)) @ BASIS), axis=1).T[1:]
APPROXIMATION = (BEST_OF_CLASS - truth(NODES)) ** 2 @ WEIGHTS  # inf_F R − R(f*) for every degree
BAYES = NOISE**2
FEWER = DEGREES[:LARGEST]
REPORTED = (1, 2, 3, 4, 5, 8)
SKEWED = -np.log1p(-(np.arange(4000) + 0.5) / 4000)  # exponential quantiles as labels at one x
STEP = 0.01  # step between the constants that are tried


def _replicate_decomposition(seed: int, number: int) -> Draws:
    r"""Compute R(f̂) − R(f*) = [R(f̂) − inf_F R] + [inf_F R − R(f*)] for degrees 1 to 8.

    The truth is sin(4x + 1) on [−1, 1] with x uniform and noise of variance ¼, which is the Bayes
    risk R(f*). The best polynomial of a class is the projection of the truth; risks are integrals,
    computed by Gauss-Legendre quadrature without test rows.
    """
    rng = stream("insa decomposition", seed, number)
    estimation, excess = np.empty((2, len(SIZES), LARGEST))
    for place, n in enumerate(SIZES):
        x = _in_cells(n, rng)
        y = truth(x) + NOISE * rng.standard_normal(n)
        data = data_of(np.append(x, NODES), np.append(y, np.zeros(len(NODES))))
        fitted = Sample(data, n, Squared()).answers(polynomials(LARGEST)).values
        estimation[place] = (fitted - BEST_OF_CLASS) ** 2 @ WEIGHTS
        excess[place] = (fitted - truth(NODES)) ** 2 @ WEIGHTS
    return {"estimation": estimation, "excess": excess}


@experiment(_replicate_decomposition, replicates=500, quick=50, unit="training sets")
def insa_decomposition(draws: Draws) -> Parts:
    """INSA lecture: Bayes risk, approximation error, estimation error.

    the lecture prints the formula; here rows of sin(4x + 1) with noise

    the document prints no numbers. Rows stand one in each of n cells, so that no wide gap lets a
    polynomial run away.
    """
    estimation, approximation = draws["estimation"], APPROXIMATION
    parts = estimation + approximation
    at_n, total = estimation[:, PLACE], parts[:, PLACE]
    means = {
        f"degree {d}: {name}": values[:, d - 1]
        for d in REPORTED
        for name, values in (("estimation error", at_n), ("estimation + approximation", total))
    }
    title = f"excess risk of {N} rows, Bayes risk {BAYES:.2f}"
    yield PaperTable.from_values(title, "document", means)

    constants = {
        "best constant by absolute − median": _best(Absolute()) - float(np.median(SKEWED)),
        "best constant by squared − mean": _best(Squared()) - float(SKEWED.mean()),
    }
    yield Statement.from_quantities(
        "the optimal rule is the median of Y given x for the L1 loss, the mean for the L2 loss",
        *(Quantity.exact(name, of, Claim("near", 0.0, STEP)) for name, of in constants.items()),
        remark="labels of an exponential distribution, whose median .69 is not its mean 1",
    )
    below, away = Claim("below", ROUNDING), "largest difference, over all training sets"
    yield Statement.from_quantities(
        "the excess risk is estimation error plus approximation error",
        Quantity.exact(away, np.abs(parts - draws["excess"]).max(), below),
    )
    rise = "largest rise from one degree to the next"
    yield Statement.from_quantities(
        "the approximation error falls as the model grows",
        Quantity.exact(rise, np.diff(approximation).max(), below),
    )
    yield Statement.from_quantities(
        "the estimation error grows with the dimension of the model",
        {
            f"degree {high} − degree {low}": at_n[:, high - 1] - at_n[:, low - 1]
            for low, high in pairwise(FEWER)
        },
    )
    yield Statement.from_quantities(
        "the best model lies between: neither the smallest nor the largest",
        {f"degree {d} − degree {BEST}": total[:, d - 1] - total[:, BEST - 1] for d in (1, LARGEST)},
        remark=f"the mean is least at degree {int(total.mean(axis=0).argmin()) + 1}",
    )
    fall = estimation[:, 0] - estimation[:, -1]
    yield Statement.from_quantities(
        "with more rows the estimation error falls, and the approximation error stays",
        {f"degree {d}: {SIZES[0]} rows − {SIZES[-1]} rows": fall[:, d - 1] for d in REPORTED},
    )

    along = (
        Series("approximation error", FEWER, approximation, "C0o-"),
        mean_line("estimation error", FEWER, at_n, "C3o-"),
        mean_line("their sum", FEWER, total, "k-", 2.4),
    )
    yield Panel(f"{N} rows", AXIS, "excess risk", along)
    sizes, rows = np.array(SIZES), []
    for number, degree in enumerate((1, 3, 5)):
        rows.append(mean_line(f"degree {degree}", sizes, parts[:, :, degree - 1], f"C{number}o-"))
        floor = np.full(len(sizes), approximation[degree - 1])
        rows.append(Series("", sizes, floor, f"C{number}:"))
    yield Panel("dotted: approximation error", "training rows", "excess risk", tuple(rows))


def _best(loss: Loss) -> float:
    """Return the constant with the smallest risk for the skewed labels."""
    constants, n = np.arange(0.0, 2.0, STEP), len(SKEWED)
    answers = np.broadcast_to(constants[:, None], (len(constants), n))
    risks = loss.of_set(data_of(np.zeros(n), SKEWED), np.arange(n), answers, None)
    return float(constants[risks.argmin()])


# ---------------------------------------------------------------- AICc

FEW, P = 12, 2  # numbers of rows, and of coefficients including the intercept
N_SETS = 1000  # number of data sets in a replicate
LINE = np.linspace(-1, 1, FEW)
X = np.column_stack([np.ones(FEW), LINE])
HAT = X @ np.linalg.solve(X.T @ X, X.T)
PRICE = 2 * (P + 1)
MANY = 10**6  # number of rows that counts as asymptotic
# For n log sigma2: RSS/sigma2 is chi-squared with n - p = 10 degrees of freedom. Its mean log is
# digamma(5) + log 2, and the mean of its inverse is 1/(n - p - 2).
MEAN_LOG = 1.5061176684318004 + np.log(2) - np.log(FEW)
CONSTANT = FEW * (np.log(2 * np.pi) + MEAN_LOG)
PRINTED = (FEW + P) / (FEW - P - 2)  # The penalty in the document. The correct one is n times it.
EXACT = {
    "target": CONSTANT + FEW * PRINTED,
    "AICc": CONSTANT + FEW * PRINTED,
    "AIC": CONSTANT + FEW + PRICE,
    "as printed": CONSTANT + FEW + PRINTED,
}


def _replicate_aicc(seed: int, number: int) -> Draws:
    """Fit a line to 12 Gaussian rows, for a thousand data sets per replicate."""
    noise = stream("aicc", seed, number).standard_normal((N_SETS, FEW))
    fitted = noise @ HAT
    variance = ((noise - fitted) ** 2).mean(axis=1)
    away = (fitted**2).sum(axis=1)  # squared distance of the fit from the truth
    target = FEW * np.log(2 * np.pi * variance) + (FEW + away) / variance
    likelihood = FEW * np.log(2 * np.pi * variance) + FEW
    # The library's criteria for the first data set minus its likelihood are a penalty that all data
    # sets share.
    data, loss, family = data_of(LINE, noise[0]), Squared(), polynomials(1)
    fit = answered(family, data, loss, AIC().plan(data, Streams(0)))
    first = (of.reduce(fit, data, loss, terms_of(family))[0].value for of in (AICc(), AIC()))
    aicc, aic = (likelihood + (of - likelihood[0]) for of in first)
    every = {"target": target, "AICc": aicc, "AIC": aic, "as printed": likelihood + PRINTED}
    return {name: of.mean() for name, of in every.items()}


@experiment(_replicate_aicc, replicates=400, quick=20, unit=f"times {N_SETS} data sets")
def aicc_simulation(draws: Draws) -> Parts:
    """INSA lecture: AICc by its right and by its printed price.

    Gaussian linear model, n = {FEW}, p = {P}; the target is -2 log L of fresh labels at the same
    x's

    exact: the residual sum of squares is chi-squared with n − p degrees of freedom and independent
    of the fit, so all four means have a closed form.

    k = p + 1 = 3 counts the variance; n log 2π is included, as in R.
    """
    yield PaperTable.from_values("mean over data sets", "exact", draws, EXACT, digits=3)
    names = {name: f"{name} − target" for name in EXACT if name != "target"}
    gaps = {text: draws[name] - draws["target"] for name, text in names.items()}
    known = {text: EXACT[name] - EXACT["target"] for name, text in names.items()}
    yield PaperTable.from_values("mean difference from the target", "exact", gaps, known, digits=3)
    aicc, aic, wrong = gaps.values()
    means = {text: Quantity.mean("", of) for text, of in gaps.items()}
    texts = [f"{text} = {of.value:+.3f} ± {of.std_error:.3f}" for text, of in means.items()]
    yield Statement.from_quantities(
        "AICc is recommended for small samples (by the right price n(n + p)/(n − p − 2))",
        Quantity.nearer("|bias| of AICc − of AIC", np.column_stack([aicc, aic]), digits=3),
        remark=f"{texts[0]}, {texts[1]}",
    )
    yield Statement.from_quantities(
        "the printed price (n + p)/(n − p − 2) refines AIC",
        Quantity.nearer("|bias| of as printed − of AIC", np.column_stack([wrong, aic]), digits=3),
        remark=f"{texts[2]}: it lost the factor n",
    )
    gap, same = MANY * (MANY + P) / (MANY - P - 2) - MANY - PRICE, Claim("near", 0.0, 0.001)
    name = f"AICc − AIC for n = {MANY} and as many coefficients"
    yield Statement.from_quantities(
        "AICc is asymptotically equivalent to AIC (by the right price)",
        Quantity.exact(name, gap, same, digits=6),
        remark="the printed price tends to 1 whatever p is, that of AIC is 2p",
    )
