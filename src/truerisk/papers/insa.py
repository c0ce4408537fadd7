"""The lecture's polynomial regression (R² grows with the degree, Cp stops at three); bootstrap.

Its data are a curve on [-1, 1] with noise, fitted by polynomials of every degree, or by trees.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial.polynomial import polyval

from truerisk.core.contracts import Streams
from truerisk.core.evaluation import values_of
from truerisk.core.family import Family
from truerisk.core.losses import Squared
from truerisk.core.table.data import Data
from truerisk.methods.bootstrap import Bootstrap, Kind
from truerisk.methods.criteria import GCV, Cp
from truerisk.methods.information_criteria import AIC, BIC, AICc
from truerisk.methods.kfold import LeaveOneOut
from truerisk.methods.single_fit import Apparent
from truerisk.papers.experiment import (
    Draws,
    Sample,
    answered,
    evaluated,
    experiment,
    stream,
    terms_of,
)
from truerisk.papers.figures import Panel, Panels, PaperTable, Parts, Series, mean_line, printed
from truerisk.papers.statements import Claim, Quantity, Statement

# Parts of the curve along orthonormal polynomials of 11 equidistant points, shares of a variance
# of 1: chosen so that R2 comes near the lecture's .03, .73 and .874 at degrees 1, 2 and 5.
SHARES = {1: 0.0075, 2: -0.6775, 3: 0.085}
NOISE = 0.2475
POINTS = 11


def curve(x: np.ndarray) -> np.ndarray:
    """The truth: a cubic, of which the square is the largest part."""
    # coefficients of polynomials whose mean square on the points is 1, each normal to the rest
    _, R = np.linalg.qr(np.vander(np.linspace(-1, 1, POINTS), max(SHARES) + 1, increasing=True))
    orthonormal = np.linalg.inv(R) * np.sqrt(POINTS) * np.sign(np.diag(R))
    parts = (
        np.sign(share) * np.sqrt(abs(share)) * polyval(x, orthonormal[:, degree])
        for degree, share in SHARES.items()
    )
    return np.asarray(sum(parts))


def polynomials(most: int) -> Family:
    """Least squares with every degree from 1 to `most`."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    return Family.of(model, {"polynomialfeatures__degree": range(1, most + 1)})


def data_of(x: np.ndarray, y: np.ndarray) -> Data:
    """One feature and a number."""
    return Data(x[:, None], y, "regression")


# ---------------------------------------------------------------- R² and Cp

SATURATED = POINTS - 1  # the degree that passes through all points
LARGEST = 6  # the largest model of the criteria: it leaves 4 degrees of freedom for the variance
DEGREES = np.arange(1, LARGEST + 1)
R2 = {1: (0.03, 2), 2: (0.73, 2), 5: (0.874, 3), 10: (1.0, 2)}  # of the lecture, and its digits
CHOSEN = 3
ROUNDING = 1e-9
CRITERIA = {"Cp": Cp(), "GCV": GCV(), "AIC": AIC(), "AICc": AICc(), "BIC": BIC()}
EVERY = (*CRITERIA, "leave-one-out", "R²")


def _replicate_polynomial(seed: int, number: int) -> Draws:
    """Eleven points of a cubic with noise, degrees 1 to 10."""
    rng = stream("insa polynomial", seed, number)
    x = np.linspace(-1, 1, POINTS)
    truth = curve(x)
    y = truth + np.sqrt(NOISE) * rng.standard_normal(POINTS)
    data, loss = data_of(x, y), Squared()
    plan = GCV().plan(data, Streams(0))
    fits = answered(polynomials(SATURATED), data, loss, plan)
    variance = ((y - y.mean()) ** 2).mean()
    r2 = 1 - ((y - fits.values) ** 2).mean(axis=1) / variance
    family = polynomials(LARGEST)
    few = answered(family, data, loss, plan)
    curves = {
        name: np.array([t.value for t in method.reduce(few, data, loss, terms_of(family))])
        for name, method in CRITERIA.items()
    }
    # the Gaussian deviance at the true variance, plus 2 for each coefficient
    deviance = ((y - few.values) ** 2).sum(axis=1) / NOISE + POINTS * np.log(2 * np.pi * NOISE)
    known = Cp(NOISE).reduce(few, data, loss, terms_of(family))
    prices = deviance + 2 * (DEGREES + 1) - POINTS / NOISE * np.array([t.value for t in known])
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
    # the lecture shows one data set: its numbers have the spread of one
    known = {f"degree {d}": (of, printed(r2[:, d - 1], 1, n)) for d, (of, n) in R2.items()}
    yield PaperTable.of("R²", "lecture, one data set", at, known, 3)
    degree = dict(zip(EVERY, draws["chosen"].T, strict=True))
    title = f"share of data sets in which degree {CHOSEN} is chosen"
    shares = {name: of == CHOSEN for name, of in degree.items()}
    yield PaperTable.of(title, "document", shares, digits=3)
    risks = dict(zip(EVERY, draws["risk of the chosen"].T, strict=True))
    risks["oracle"] = draws["risk"].min(axis=1)
    yield PaperTable.of("squared risk of the chosen fit, fresh labels", "document", risks)

    rise = "least rise of R² from one degree to the next, over all data sets"
    yield Statement.of(
        "minimising the training error selects the most complex model",
        Quantity.exact(rise, np.diff(r2, axis=1).min(), Claim.above(-ROUNDING)),
        remark=f"its mean at degree {SATURATED} is {r2[:, SATURATED - 1].mean():.4f}",
    )
    by_cp, others = degree["Cp"], [d for d in DEGREES if d != CHOSEN]
    counts = np.bincount(by_cp, minlength=LARGEST + 1)
    percent = ", ".join(f"{share:.0f}" for share in 100 * counts[1:] / len(by_cp))
    here = shares["Cp"].astype(float)
    yield Statement.of(
        f"Cp selects a polynomial of degree {CHOSEN}: most often, and on average",
        {f"share of degree {CHOSEN} − of {d}": here - (by_cp == d) for d in others},
        {f"Cp of degree {d} − of {CHOSEN}": cp[:, d - 1] - cp[:, CHOSEN - 1] for d in others},
        remark=f"it selects degrees 1 to {LARGEST} in {percent} % of the data sets",
    )
    yield Statement.of(
        "this leads to overfitting",
        {"risk chosen by R² − risk chosen by Cp": risks["R²"] - risks["Cp"]},
    )
    varies = "most that their difference varies over the degrees, over all data sets"
    yield Statement.of(
        "in the Gaussian model with known variance AIC is equivalent to Cp: a constant apart, in "
        "units of the variance",
        Quantity.exact(varies, draws["AIC − Cp"].max(), Claim.below(ROUNDING)),
    )
    yield Statement.of(
        "BIC will generally select a simpler model than AIC",
        {"degree by AIC − by BIC": degree["AIC"] - degree["BIC"]},
    )

    # the first data set with the polynomials that the lecture shows
    x, y, fine = np.linspace(-1, 1, POINTS), draws["y"][0], np.linspace(-1, 1, 201)
    points, truth = Series("", x, y, "ko"), Series("truth", fine, curve(fine), "k:")
    fits = {d: np.polynomial.Polynomial.fit(x, y, d)(fine) for d in R2}
    fitted = (
        Panel(
            f"degree {d}: R² = {r2[0, d - 1]:.3f}",
            "x",
            "y",
            (points, Series("fitted", fine, line, "C0-"), truth),
        )
        for d, line in fits.items()
    )
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
SPREAD = 0.5  # of the noise
LEAF = 3  # rows of a leaf, at least
KINDS: tuple[Kind, ...] = ("bootstrap", "oob", ".632")
OUT = 0.368
FINE = np.linspace(-1, 1, 401)
SHOWN = 2  # samples that are drawn
NEAR = 0.01


def _replicate_bootstrap(seed: int, number: int) -> Draws:
    """Trees on 50 rows of a sine with noise, and on 50 bootstrap samples of them."""
    rng = stream("insa bootstrap", seed, number)
    x = rng.uniform(-1, 1, N + N_TEST)
    y = np.sin(4 * x + 1) + SPREAD * rng.standard_normal(len(x))
    data, loss = data_of(x[:N], y[:N]), Squared()
    rows = rng.integers(N, size=(SAMPLES, N))
    methods = {kind: Bootstrap(kind, samples=rows) for kind in KINDS} | {"training": Apparent()}
    # trees of all rows and of each sample, asked about rows that test and about the curve
    whole = data_of(np.append(x, FINE), np.append(y, np.zeros(len(FINE))))
    fresh = Sample(whole, N, loss).answers(_tree(), np.arange(N), *rows).values
    fresh = fresh.reshape(1 + SAMPLES, -1)
    true, lines = ((fresh[:, :N_TEST] - y[N:]) ** 2).mean(axis=1), fresh[:, N_TEST:]
    missed = np.mean([1 - len(np.unique(one)) / N for one in rows])
    return {
        **{
            name: np.array(values_of(evaluated(method, _tree(), data, loss, 0).tested)[0])
            for name, method in methods.items()
        },
        "true": true[0],
        "true of samples": true[1:].mean(),
        "missed": np.array(missed),
        "x": x[:N],
        "y": y[:N],
        "rows": rows[:SHOWN],
        "lines": lines[: SHOWN + 1],
    }


@lru_cache(maxsize=1)
def _tree() -> Family:
    from sklearn.tree import DecisionTreeRegressor

    return Family.of(DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0))


@experiment(_replicate_bootstrap, replicates=200, quick=20)
def insa_bootstrap(draws: Draws) -> Parts:
    """INSA lecture: bootstrap samples, and the error estimates made of them.

    {N} rows of sin(4x + 1) with noise, regression trees with {LEAF} rows in a leaf, {SAMPLES}
    samples

    the lecture draws one data set and two samples of it, and prints no numbers.

    the same samples serve all three estimates; the true error is measured on {N_TEST} fresh rows.
    """
    true, oob, half = draws["true"], draws["oob"], draws[".632"]
    errors = {
        "training error": draws["training"],
        "bootstrap (Err_boot)": draws["bootstrap"],
        "out of bag (Err_oob)": oob,
        ".632": half,
        "true error": true,
        "true error, its trees": draws["true of samples"],
    }
    yield PaperTable.of(f"mean squared error, noise {SPREAD**2:.2f}", "document", errors)

    yield Statement.of(
        "Err_boot is too optimistic: it underestimates the generalisation error",
        {"true error − Err_boot": true - draws["bootstrap"]},
    )
    yield Statement.of(
        f"a row is not in a bootstrap sample with probability {OUT}",
        {"share missed": draws["missed"]},
        claim=Claim.near(OUT, NEAR),
        remark=f"exactly (1 − 1/n)^n = {(1 - 1 / N) ** N:.4f} for n = {N}",
    )
    yield Statement.of(
        "each bootstrap predictor is less accurate than that of all rows",
        {"its true error − that of all rows": draws["true of samples"] - true},
    )
    yield Statement.of("this induces a bias of Err_oob", {"Err_oob − true error": oob - true})
    bias = np.column_stack([half - true, oob - true])
    yield Statement.of(
        ".632 corrects this bias: its own is smaller",
        Quantity.nearer("|bias of .632| − |bias of Err_oob|", bias),
        remark=f"that of .632 is {np.mean(half - true):+.4f}",
    )

    yield Panel.boxes("errors of all data sets", "squared error", errors)
    # the first data set, and two of its samples; points grow with their copies
    x, y, lines = draws["x"][0], draws["y"][0], draws["lines"][0]
    truth = Series("truth", FINE, np.sin(4 * FINE + 1), "k:")
    whole = Series("", x, y, "ko", size=3.0), Series("tree", FINE, lines[0], "k-"), truth
    yield Panel("original data", "x", "y", whole)
    for number, colour in enumerate(("C0", "C4")):
        times = np.bincount(draws["rows"][0, number], minlength=N)
        points = tuple(
            Series(
                "rows, larger where drawn repeatedly" if n == 1 else "",
                x[times == n],
                y[times == n],
                f"{colour}o",
                size=3.0 * np.sqrt(n),
            )
            for n in range(1, times.max() + 1)
        )
        tree = Series("its tree", FINE, lines[number + 1], f"{colour}-")
        yield Panel(f"bootstrap sample {number + 1}", "x", "y", (*points, tree, truth))
