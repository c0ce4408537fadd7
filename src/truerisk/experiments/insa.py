"""The lecture's estimates of a risk: R² and Cp of polynomials, bootstrap samples, K folds.

For the first two the data are a curve on [-1, 1] with noise, fitted by polynomials of every degree,
or by trees. For the third, a discriminant with many features needs many rows, so that few folds are
pessimistic, and removing one row has little effect. A tree with one split needs few rows, and
removing a single row can change it completely.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.polynomial.polynomial import polyval

from truerisk.experiments.experiment import (
    Draws,
    Sample,
    answered,
    evaluated,
    experiment,
    stream,
    terms_of,
    values_of,
)
from truerisk.experiments.figures import (
    MeansGrid,
    Panel,
    Panels,
    PaperTable,
    Parts,
    Series,
    mean_line,
    printed,
)
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Data, Family, Method, Streams
from truerisk.losses import Squared
from truerisk.methods import AIC, BIC, GCV, AICc, Apparent, Bootstrap, Cp, KFold, LeaveOneOut

# Components of the curve along orthonormal polynomials of 11 equidistant points, as shares of a
# variance of 1, chosen so that R2 is close to the lecture's .03, .73 and .874 at degrees 1, 2 and
# 5.
SHARES = {1: 0.0075, 2: -0.6775, 3: 0.085}
NOISE = 0.2475
POINTS = 11


def curve(x: np.ndarray) -> np.ndarray:
    """Return the true curve: a cubic whose largest component is quadratic."""
    # These are coefficients of orthogonal polynomials with mean square 1 on the points.
    _, R = np.linalg.qr(np.vander(np.linspace(-1, 1, POINTS), max(SHARES) + 1, increasing=True))
    orthonormal = np.linalg.inv(R) * np.sqrt(POINTS) * np.sign(np.diag(R))
    parts = (
        np.sign(share) * np.sqrt(abs(share)) * polyval(x, orthonormal[:, degree])
        for degree, share in SHARES.items()
    )
    return np.asarray(sum(parts))


@lru_cache(maxsize=8)
def polynomials(most: int) -> Family:
    """Return least squares with every degree from 1 to `most`."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    return Family.from_grid(model, {"polynomialfeatures__degree": range(1, most + 1)})


def data_of(x: np.ndarray, y: np.ndarray) -> Data:
    """Return data with one feature and a numeric target."""
    return Data(x[:, None], y, "regression")


# ---------------------------------------------------------------- R² and Cp

SATURATED = POINTS - 1  # the degree of the interpolating polynomial
LARGEST = 6  # the largest model of the criteria, which leaves 4 degrees of freedom for the variance
DEGREES = np.arange(1, LARGEST + 1)
# values of the lecture, with their numbers of digits
R2 = {1: (0.03, 2), 2: (0.73, 2), 5: (0.874, 3), 10: (1.0, 2)}
CHOSEN = 3
ROUNDING = 1e-9
CRITERIA = {"Cp": Cp(), "GCV": GCV(), "AIC": AIC(), "AICc": AICc(), "BIC": BIC()}
EVERY = (*CRITERIA, "leave-one-out", "R²")


def _replicate_polynomial(seed: int, number: int) -> Draws:
    """Fit degrees 1 to 10 to eleven points of a cubic with noise."""
    rng = stream("insa polynomial", seed, number)
    x = np.linspace(-1, 1, POINTS)
    truth = curve(x)
    y = truth + np.sqrt(NOISE) * rng.standard_normal(POINTS)
    data, loss = data_of(x, y), Squared()
    plan = GCV().plan(data, Streams(0))
    fits = answered(polynomials(SATURATED), data, loss, plan)
    r2 = 1 - ((y - fits.values) ** 2).mean(axis=1) / y.var()
    family = polynomials(LARGEST)
    few, terms = answered(family, data, loss, plan), terms_of(family)
    curves = {name: values_of(of.reduce(few, data, loss, terms)) for name, of in CRITERIA.items()}
    # The Gaussian deviance at the true variance, plus 2 for each coefficient.
    deviance = ((y - few.values) ** 2).sum(axis=1) / NOISE + POINTS * np.log(2 * np.pi * NOISE)
    known = values_of(Cp(NOISE).reduce(few, data, loss, terms))
    prices = deviance + 2 * (DEGREES + 1) - POINTS / NOISE * known
    curves["leave-one-out"] = values_of(evaluated(LeaveOneOut(), family, data, loss, 0).tested)
    curves["R²"] = -r2[:LARGEST]
    risk = ((truth - few.values) ** 2).mean(axis=1) + NOISE
    chosen = np.array([values.argmin() for values in curves.values()])
    return {
        "y": y,
        "R2": r2,
        "Cp": curves["Cp"],
        "AIC − Cp": np.ptp(prices),
        "risk": risk,
        "chosen": chosen + 1,
        "risk of the chosen": risk[chosen],
    }


@experiment(_replicate_polynomial, replicates=500, quick=20)
def insa_polynomial(draws: Draws) -> Parts:
    """INSA lecture: R² and Cp of polynomial regression.

    {POINTS} points, polynomials of degree 1 to {SATURATED}; Cp among degrees 1 to {LARGEST}

    the lecture's points are not published. Ours are a cubic with noise whose parts were chosen so
    that R² comes near the lecture's, which therefore agrees; Cp then takes degree 3 where the noise
    lets the cubic part be worth its degree of freedom.

    the variance of Cp is that of degree {LARGEST}, which leaves 4 degrees of freedom; degree
    {SATURATED} leaves none.
    """
    r2, cp = draws["R2"], draws["Cp"]
    at = {f"degree {d}": r2[:, d - 1] for d in R2}
    # The lecture shows one data set, so that its numbers have the spread of one.
    known = {f"degree {d}": (of, printed(r2[:, d - 1], 1, n)) for d, (of, n) in R2.items()}
    yield PaperTable.from_values("R²", "lecture, one data set", at, known, 3)
    degree = dict(zip(EVERY, draws["chosen"].T, strict=True))
    title = f"share of data sets in which degree {CHOSEN} is chosen"
    shares = {name: of == CHOSEN for name, of in degree.items()}
    yield PaperTable.from_values(title, "document", shares, digits=3)
    risks = dict(zip(EVERY, draws["risk of the chosen"].T, strict=True))
    risks["oracle"] = draws["risk"].min(axis=1)
    yield PaperTable.from_values("squared risk of the chosen fit, fresh labels", "document", risks)

    rise = "least rise of R² from one degree to the next, over all data sets"
    yield Statement.from_quantities(
        "minimising the training error selects the most complex model",
        Quantity.exact(rise, np.diff(r2, axis=1).min(), Claim("above", -ROUNDING)),
        remark=f"its mean at degree {SATURATED} is {r2[:, SATURATED - 1].mean():.4f}",
    )
    by_cp, others = degree["Cp"], [d for d in DEGREES if d != CHOSEN]
    counts = np.bincount(by_cp, minlength=LARGEST + 1)
    percent = ", ".join(f"{share:.0f}" for share in 100 * counts[1:] / len(by_cp))
    here = shares["Cp"].astype(float)
    yield Statement.from_quantities(
        f"Cp selects a polynomial of degree {CHOSEN}: most often, and on average",
        {f"share of degree {CHOSEN} − of {d}": here - (by_cp == d) for d in others},
        {f"Cp of degree {d} − of {CHOSEN}": cp[:, d - 1] - cp[:, CHOSEN - 1] for d in others},
        remark=f"it selects degrees 1 to {LARGEST} in {percent} % of the data sets",
    )
    yield Statement.from_quantities(
        "this leads to overfitting",
        {"risk chosen by R² − risk chosen by Cp": risks["R²"] - risks["Cp"]},
    )
    varies = "most that their difference varies over the degrees, over all data sets"
    yield Statement.from_quantities(
        "in the Gaussian model with known variance AIC is equivalent to Cp: a constant apart, in "
        "units of the variance",
        Quantity.exact(varies, draws["AIC − Cp"].max(), Claim("below", ROUNDING)),
    )
    yield Statement.from_quantities(
        "BIC will generally select a simpler model than AIC",
        {"degree by AIC − by BIC": degree["AIC"] - degree["BIC"]},
    )

    # The panel shows the first data set with the polynomials of the lecture.
    x, y, fine = np.linspace(-1, 1, POINTS), draws["y"][0], np.linspace(-1, 1, 201)
    points, truth = Series("", x, y, "ko"), Series("truth", fine, curve(fine), "k:")
    fitted = []
    for d in R2:
        line = Series("fitted", fine, np.polynomial.Polynomial.fit(x, y, d)(fine), "C0-")
        title = f"degree {d}: R² = {r2[0, d - 1]:.3f}"
        fitted.append(Panel(title, "x", "y", (points, line, truth)))
    yield Panels("insa-polynomial-fitted", tuple(fitted))
    means = mean_line("mean R²", np.arange(1, SATURATED + 1), r2, "ko-")
    yield Panel("determination coefficient", "degree", "R²", (means,))
    lines = (
        mean_line("Cp", DEGREES, cp, "C0o-"),
        mean_line("risk, fresh labels", DEGREES, draws["risk"], "k-"),
        Series("Cp, first data set", DEGREES, cp[0], "C0:"),
    )
    yield Panel("Mallows' Cp", "degree", "squared risk", lines)


# ---------------------------------------------------------------- bootstrap samples

N, N_TEST = 50, 1000
SAMPLES = 50
SPREAD = 0.5  # standard deviation of the noise
LEAF = 3  # minimum number of rows of a leaf
KINDS: dict[str, Literal["bootstrap", "oob", ".632"]] = {
    "bootstrap (Err_boot)": "bootstrap",
    "out of bag (Err_oob)": "oob",
    ".632": ".632",
}
ERRORS = ("training error", *KINDS, "true error", "true error, its trees")
OUT = 0.368
FINE = np.linspace(-1, 1, 401)
SHOWN = 2  # number of samples in the figure
NEAR = 0.01


def _replicate_bootstrap(seed: int, number: int) -> Draws:
    """Fit trees to 50 rows of a sine with noise, and to 50 bootstrap samples of them."""
    rng = stream("insa bootstrap", seed, number)
    x = rng.uniform(-1, 1, N + N_TEST)
    y = np.sin(4 * x + 1) + SPREAD * rng.standard_normal(len(x))
    data, loss = data_of(x[:N], y[:N]), Squared()
    rows = rng.integers(N, size=(SAMPLES, N))
    methods: dict[str, Method] = {"training error": Apparent()}
    methods |= {name: Bootstrap(kind, samples=rows) for name, kind in KINDS.items()}
    # Trees of all rows and of each sample predict the test rows and the curve.
    whole = data_of(np.append(x, FINE), np.append(y, np.zeros(len(FINE))))
    fresh = Sample(whole, N, loss).answers(_tree(), np.arange(N), *rows).values
    fresh = fresh.reshape(1 + SAMPLES, -1)
    true, lines = ((fresh[:, :N_TEST] - y[N:]) ** 2).mean(axis=1), fresh[:, N_TEST:]
    missed = np.mean([1 - len(np.unique(one)) / N for one in rows])
    return {
        **{
            name: values_of(evaluated(method, _tree(), data, loss, 0).tested)[0]
            for name, method in methods.items()
        },
        "true error": true[0],
        "true error, its trees": true[1:].mean(),
        "missed": np.array(missed),
        "x": x[:N],
        "y": y[:N],
        "rows": rows[:SHOWN],
        "lines": lines[: SHOWN + 1],
    }


@lru_cache(maxsize=1)
def _tree() -> Family:
    from sklearn.tree import DecisionTreeRegressor

    return Family.from_grid(DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0))


@experiment(_replicate_bootstrap, replicates=200, quick=20)
def insa_bootstrap(draws: Draws) -> Parts:
    """INSA lecture: bootstrap samples, and the error estimates made of them.

    {N} rows of sin(4x + 1) with noise, regression trees with {LEAF} rows in a leaf, {SAMPLES}
    samples

    the lecture draws one data set and two samples of it, and prints no numbers.

    the same samples serve all three estimates; the true error is measured on {N_TEST} fresh rows.
    """
    errors = {name: draws[name] for name in ERRORS}
    _, boot, oob, half, true, of_samples = errors.values()
    yield PaperTable.from_values(f"mean squared error, noise {SPREAD**2:.2f}", "document", errors)

    yield Statement.from_quantities(
        "Err_boot is too optimistic: it underestimates the generalisation error",
        {"true error − Err_boot": true - boot},
    )
    yield Statement.from_quantities(
        f"a row is not in a bootstrap sample with probability {OUT}",
        {"share missed": draws["missed"]},
        claim=Claim("near", OUT, NEAR),
        remark=f"exactly (1 − 1/n)^n = {(1 - 1 / N) ** N:.4f} for n = {N}",
    )
    yield Statement.from_quantities(
        "each bootstrap predictor is less accurate than that of all rows",
        {"its true error − that of all rows": of_samples - true},
    )
    yield Statement.from_quantities(
        "this induces a bias of Err_oob", {"Err_oob − true error": oob - true}
    )
    both = np.column_stack([half - true, oob - true])
    yield Statement.from_quantities(
        ".632 corrects this bias: its own is smaller",
        Quantity.nearer("|bias of .632| − |bias of Err_oob|", both),
        remark=f"that of .632 is {np.mean(half - true):+.4f}",
    )

    yield Panel.boxes("errors of all data sets", "squared error", errors)
    # The panel shows the first data set and two of its samples. The size of points is their
    # multiplicity.
    x, y, lines = draws["x"][0], draws["y"][0], draws["lines"][0]
    truth = Series("truth", FINE, np.sin(4 * FINE + 1), "k:")
    whole = Series("", x, y, "ko", size=3.0), Series("tree", FINE, lines[0], "k-"), truth
    yield Panel("original data", "x", "y", whole)
    for number, colour in enumerate(("C0", "C4")):
        times = np.bincount(draws["rows"][0, number], minlength=N)
        points: list[Series] = []
        for n in range(1, times.max() + 1):
            at, words = times == n, "" if points else "rows, larger where drawn repeatedly"
            points.append(Series(words, x[at], y[at], f"{colour}o", size=3.0 * np.sqrt(n)))
        tree = Series("its tree", FINE, lines[number + 1], f"{colour}-")
        yield Panel(f"bootstrap sample {number + 1}", "x", "y", (*points, tree, truth))


# ---------------------------------------------------------------- the number of folds

ROWS = FEW, N_FRESH = 40, 2000
COLUMNS = FEATURES, TELLING = 15, 2
APART = 1.2  # difference of the class means of two features; the others are noise
METHODS = {"K = 2": KFold(2), "K = 5": KFold(5), "K = 10": KFold(10), "K = n": LeaveOneOut()}
DISCRIMINANT, TREE = LEARNERS = ("linear discriminant", "tree of one split")


@lru_cache(maxsize=1)
def _families() -> dict[str, Family]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.tree import DecisionTreeClassifier

    learners = LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0)
    return dict(zip(LEARNERS, map(Family.from_grid, learners), strict=True))


def _replicate_folds(seed: int, number: int) -> Draws:
    """Return the error by every K and the true error of the rule of all rows, by learner."""
    sample = Sample.alternating(ROWS, COLUMNS, APART, stream("insa folds", seed, number))
    draws: dict[str, np.ndarray] = {}
    for name, family in _families().items():
        draws[name] = np.concatenate([sample.risks(of, family, number) for of in METHODS.values()])
        draws[f"true, {name}"] = sample.errors(family)[0, 0]
    return draws


@experiment(_replicate_folds, replicates=1000, quick=50)
def insa_folds(draws: Draws) -> Parts:
    """INSA lecture and Mehta (2010): the error of K folds, its bias and its spread.

    {FEW} rows, {TELLING} features of {FEATURES} with means {APART:g} apart; nothing is tuned

    neither document names a learner or prints a number; both of these are ours.

    folds keep the shares of the classes. Bias is the error less the true error of the rule of all
    rows, the squared error is that for the mean true error.
    """
    recommended = "K = 10 is recommended: its squared error is smaller than that of K = 2"
    for name in LEARNERS:
        errors, true = draws[name], draws[f"true, {name}"]
        bias = errors - true[:, None]
        spread, away = (errors - errors.mean(axis=0)) ** 2, (errors - true.mean()) ** 2
        rows = {"error": errors, "bias": bias, "variance": spread, "squared error": away}
        by_k = {label: dict(zip(METHODS, of.T, strict=True)) for label, of in rows.items()}
        title = f"{name}: mean true error {true.mean():.4f}"
        yield MeansGrid.from_values(
            title, METHODS, {label: of.values() for label, of in by_k.items()}
        )
        ks = np.arange(1.0, len(METHODS) + 1)
        lines = (
            mean_line("bias", ks, bias, "C0o-"),
            Series("standard deviation", ks, np.sqrt(spread.mean(axis=0)), "C1s--"),
            Series("root of the mean squared error", ks, np.sqrt(away.mean(axis=0)), "k^:"),
        )
        heights = (-0.02, 0.2)  # The limits are the same for both learners.
        off, names = "off the true error", tuple(METHODS)
        yield Panel(name, "folds", off, lines, names=names, limits=heights)

        for text, k in (
            ("with K = 2 the rules see half of the rows, which leads to a bias", "K = 2"),
            ("10-fold may have a pessimistic bias, for its smaller training sets", "K = 10"),
        ):
            yield Statement.from_quantities(
                f"{name}: {text}", {f"{k} − true error": by_k["bias"][k]}
            )
        low = Quantity.nearer("|bias of K = n| − |bias of K = 2|", bias[:, [-1, 0]])
        yield Statement.from_quantities(
            f"{name}: leave-one-out has a low bias: a smaller one than K = 2", low
        )
        for text, label, k in (
            ("leave-one-out has a high variance: a higher one than K = 10", "variance", "K = n"),
            (recommended, "squared error", "K = 2"),
            ("10-fold provides a better estimate than leave-one-out", "squared error", "K = n"),
        ):
            gap = {f"{label} of {k} − of K = 10": by_k[label][k] - by_k[label]["K = 10"]}
            yield Statement.from_quantities(f"{name}: {text}", gap, digits=5)
