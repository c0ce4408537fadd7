"""The lecture's estimates of a risk: R² and Cp of polynomials, the bootstrap, and K folds.

For polynomials and for the bootstrap, the data are a curve on [-1, 1] with noise, fitted by
polynomials of every degree, or by trees. For K folds there are two learners. A linear discriminant
with many features needs many rows, so that few folds are pessimistic, and removing one row has
little effect. A tree with one split needs few rows, and removing a single row can change it
completely.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.polynomial.polynomial import polyval

from truerisk.experiments.experiment import (
    Draws,
    Sample,
    evaluate_method,
    evaluation_terms,
    experiment,
    predict_plan,
    replicate_rng,
    risk_values,
)
from truerisk.experiments.figures import (
    FindingParts,
    MeansGrid,
    Panel,
    PanelGroup,
    PaperTable,
    Series,
    mean_line,
    std_error_of_printed_mean,
)
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Data, Family, Method, Streams
from truerisk.losses import Squared
from truerisk.methods import (
    AIC,
    BIC,
    GCV,
    AICc,
    Apparent,
    Bootstrap,
    Cp,
    Holdout,
    KFold,
    LeaveOneOut,
)

# The true curve is a sum of orthonormal polynomials on 11 equidistant points. The keys are their
# degrees. The values are their shares of a variance of 1. A minus sign means a negative
# coefficient.
# R² is then close to the lecture's .03, .73 and .874 at degrees 1, 2 and 5.
VARIANCE_SHARES = {1: 0.0075, 2: -0.6775, 3: 0.085}
NOISE_VARIANCE = 0.2475
POINTS = 11


def true_curve(x: np.ndarray) -> np.ndarray:
    """Return the true curve at x: a cubic polynomial whose largest component is quadratic."""
    # The inverse of R holds the coefficients of polynomials with mean square 1 on the points.
    _, R = np.linalg.qr(
        np.vander(np.linspace(-1, 1, POINTS), max(VARIANCE_SHARES) + 1, increasing=True)
    )
    orthonormal_coefficients = np.linalg.inv(R) * np.sqrt(POINTS) * np.sign(np.diag(R))
    components = (
        np.sign(share) * np.sqrt(abs(share)) * polyval(x, orthonormal_coefficients[:, degree])
        for degree, share in VARIANCE_SHARES.items()
    )
    return np.asarray(sum(components))


@lru_cache(maxsize=8)
def polynomial_family(largest_degree: int) -> Family:
    """Return least-squares polynomials with every degree from 1 to `largest_degree`."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    return Family.from_grid(model, {"polynomialfeatures__degree": range(1, largest_degree + 1)})


def regression_data(x: np.ndarray, y: np.ndarray) -> Data:
    """Return regression data with one feature."""
    return Data(x[:, None], y, "regression")


# ---------------------------------------------------------------- R² and Cp of polynomials

# The polynomial of this degree interpolates the points.
INTERPOLATING_DEGREE = POINTS - 1
# Criteria choose among degrees up to this one. A polynomial of this degree leaves 4 degrees of
# freedom to estimate the noise variance.
LARGEST_DEGREE = 6
DEGREES = np.arange(1, LARGEST_DEGREE + 1)
# R² in the lecture by degree, each with its number of printed digits.
PRINTED_R2 = {1: (0.03, 2), 2: (0.73, 2), 5: (0.874, 3), 10: (1.0, 2)}
CHOSEN_DEGREE = 3
ROUNDING_ERROR = 1e-9
CRITERIA = {"Cp": Cp(), "GCV": GCV(), "AIC": AIC(), "AICc": AICc(), "BIC": BIC()}
CRITERION_NAMES = (*CRITERIA, "leave-one-out", "R²")


def _replicate_polynomial(seed: int, replicate_number: int) -> Draws:
    """Compute R² and criteria of polynomials fitted to eleven points of a noisy cubic."""
    rng = replicate_rng("insa polynomial", seed, replicate_number)
    x = np.linspace(-1, 1, POINTS)
    true_values = true_curve(x)
    y = true_values + np.sqrt(NOISE_VARIANCE) * rng.standard_normal(POINTS)
    data, loss = regression_data(x, y), Squared()
    plan = GCV().plan(data, Streams(0))
    all_degree_predictions = predict_plan(polynomial_family(INTERPOLATING_DEGREE), data, loss, plan)
    r2 = 1 - ((y - all_degree_predictions.values) ** 2).mean(axis=1) / y.var()
    family = polynomial_family(LARGEST_DEGREE)
    predictions, terms = predict_plan(family, data, loss, plan), evaluation_terms(family)
    curves = {
        name: risk_values(criterion.reduce(predictions, data, loss, terms))
        for name, criterion in CRITERIA.items()
    }
    # The AIC is the Gaussian deviance at the true variance, plus 2 for each coefficient.
    deviance = ((y - predictions.values) ** 2).sum(axis=1) / NOISE_VARIANCE + POINTS * np.log(
        2 * np.pi * NOISE_VARIANCE
    )
    cp_at_true_variance = risk_values(Cp(NOISE_VARIANCE).reduce(predictions, data, loss, terms))
    aic_cp_differences = (
        deviance + 2 * (DEGREES + 1) - POINTS / NOISE_VARIANCE * cp_at_true_variance
    )
    curves["leave-one-out"] = risk_values(
        evaluate_method(LeaveOneOut(), family, data, loss, 0).tested
    )
    curves["R²"] = -r2[:LARGEST_DEGREE]
    true_risks = ((true_values - predictions.values) ** 2).mean(axis=1) + NOISE_VARIANCE
    chosen_indices = np.array([values.argmin() for values in curves.values()])
    return {
        "y": y,
        "R2": r2,
        "Cp": curves["Cp"],
        "AIC − Cp": np.ptp(aic_cp_differences),
        "risk": true_risks,
        "chosen": chosen_indices + 1,
        "risk of the chosen": true_risks[chosen_indices],
    }


@experiment(_replicate_polynomial, replicates=500, quick=20)
def insa_polynomial(draws: Draws) -> FindingParts:
    """INSA lecture: R² and Cp of polynomial regression.

    {POINTS} points, polynomials of degree 1 to {INTERPOLATING_DEGREE}; Cp among degrees 1 to
    {LARGEST_DEGREE}

    the lecture's points are not published. Ours are a cubic with noise whose parts were chosen so
    that R² comes near the lecture's, which therefore agrees; Cp then takes degree 3 where the noise
    lets the cubic part be worth its degree of freedom.

    the variance of Cp is that of degree {LARGEST_DEGREE}, which leaves 4 degrees of freedom; degree
    {INTERPOLATING_DEGREE} leaves none.
    """
    r2, cp_values = draws["R2"], draws["Cp"]
    r2_by_degree = {f"degree {degree}": r2[:, degree - 1] for degree in PRINTED_R2}
    # The lecture shows one data set, so that its numbers have the standard error of a mean over a
    # single replicate.
    printed_r2 = {
        f"degree {degree}": (
            printed_value,
            std_error_of_printed_mean(r2[:, degree - 1], 1, n_digits),
        )
        for degree, (printed_value, n_digits) in PRINTED_R2.items()
    }
    yield PaperTable.from_values("R²", "lecture, one data set", r2_by_degree, printed_r2, 3)
    degrees_by_criterion = dict(zip(CRITERION_NAMES, draws["chosen"].T, strict=True))
    title = f"share of data sets in which degree {CHOSEN_DEGREE} is chosen"
    shares = {
        name: chosen_degrees == CHOSEN_DEGREE
        for name, chosen_degrees in degrees_by_criterion.items()
    }
    yield PaperTable.from_values(title, "document", shares, digits=3)
    risks = dict(zip(CRITERION_NAMES, draws["risk of the chosen"].T, strict=True))
    risks["oracle"] = draws["risk"].min(axis=1)
    yield PaperTable.from_values("squared risk of the chosen fit, fresh labels", "document", risks)

    rise_label = "least rise of R² from one degree to the next, over all data sets"
    yield Statement.from_quantities(
        "minimising the training error selects the most complex model",
        Quantity.from_exact_value(
            rise_label, np.diff(r2, axis=1).min(), Claim("above", -ROUNDING_ERROR)
        ),
        remark=(
            f"its mean at degree {INTERPOLATING_DEGREE} is "
            f"{r2[:, INTERPOLATING_DEGREE - 1].mean():.4f}"
        ),
    )
    cp_degrees, other_degrees = (
        degrees_by_criterion["Cp"],
        [degree for degree in DEGREES if degree != CHOSEN_DEGREE],
    )
    counts_by_degree = np.bincount(cp_degrees, minlength=LARGEST_DEGREE + 1)
    percentages = ", ".join(
        f"{share:.0f}" for share in 100 * counts_by_degree[1:] / len(cp_degrees)
    )
    is_chosen_degree = shares["Cp"].astype(float)
    yield Statement.from_quantities(
        f"Cp selects a polynomial of degree {CHOSEN_DEGREE}: most often, and on average",
        {
            f"share of degree {CHOSEN_DEGREE} − of {degree}": is_chosen_degree
            - (cp_degrees == degree)
            for degree in other_degrees
        },
        {
            f"Cp of degree {degree} − of {CHOSEN_DEGREE}": cp_values[:, degree - 1]
            - cp_values[:, CHOSEN_DEGREE - 1]
            for degree in other_degrees
        },
        remark=f"it selects degrees 1 to {LARGEST_DEGREE} in {percentages} % of the data sets",
    )
    yield Statement.from_quantities(
        "this leads to overfitting",
        {"risk chosen by R² − risk chosen by Cp": risks["R²"] - risks["Cp"]},
    )
    range_label = "most that their difference varies over the degrees, over all data sets"
    yield Statement.from_quantities(
        "in the Gaussian model with known variance AIC is equivalent to Cp: a constant apart, in "
        "units of the variance",
        Quantity.from_exact_value(
            range_label, draws["AIC − Cp"].max(), Claim("below", ROUNDING_ERROR)
        ),
    )
    yield Statement.from_quantities(
        "BIC will generally select a simpler model than AIC",
        {"degree by AIC − by BIC": degrees_by_criterion["AIC"] - degrees_by_criterion["BIC"]},
    )

    # The panels show the data set whose R² are nearest to those that the lecture prints, among
    # those in which Cp selects the lecture's degree, if there are any.
    differences = [r2[:, degree - 1] - printed for degree, (printed, _) in PRINTED_R2.items()]
    is_other_degree = 100.0 * (cp_degrees != CHOSEN_DEGREE)
    shown = int((np.square(differences).sum(axis=0) + is_other_degree).argmin())
    x, y, fine_grid = np.linspace(-1, 1, POINTS), draws["y"][shown], np.linspace(-1, 1, 201)
    points, true_line = (
        Series("", x, y, "ko"),
        Series("truth", fine_grid, true_curve(fine_grid), "k:"),
    )
    fitted_panels = []
    for degree in PRINTED_R2:
        fitted_line = Series(
            "fitted", fine_grid, np.polynomial.Polynomial.fit(x, y, degree)(fine_grid), "C0-"
        )
        title = f"degree {degree}: R² = {r2[shown, degree - 1]:.3f}"
        fitted_panels.append(Panel(title, "x", "y", (points, fitted_line, true_line)))
    yield PanelGroup("insa-polynomial-fitted", tuple(fitted_panels))
    mean_r2_line = mean_line("mean R²", np.arange(1, INTERPOLATING_DEGREE + 1), r2, "ko-")
    yield Panel("determination coefficient", "degree", "R²", (mean_r2_line,))
    cp_lines = (
        mean_line("Cp", DEGREES, cp_values, "C0o-"),
        mean_line("risk, fresh labels", DEGREES, draws["risk"], "k-"),
        Series("Cp, the data set shown", DEGREES, cp_values[shown], "C0:"),
    )
    yield Panel("Mallows' Cp", "degree", "squared risk", cp_lines)


# ---------------------------------------------------------------- bootstrap samples

N, N_TEST = 50, 1000
SAMPLES = 50
# This is the standard deviation of the noise.
NOISE_DEVIATION = 0.5
# This is the minimum number of rows of a leaf.
LEAF = 3
BOOTSTRAP_KINDS: dict[str, Literal["bootstrap", "oob", ".632"]] = {
    "bootstrap (Err_boot)": "bootstrap",
    "out of bag (Err_oob)": "oob",
    ".632": ".632",
}
ERROR_NAMES = ("training error", *BOOTSTRAP_KINDS, "true error", "true error, its trees")
OUT_OF_BAG_SHARE = 0.368
FINE_GRID = np.linspace(-1, 1, 401)
# The figure shows this number of bootstrap samples.
N_SHOWN_SAMPLES = 2
SHARE_TOLERANCE = 0.01


def _replicate_bootstrap(seed: int, replicate_number: int) -> Draws:
    """Estimate the error of trees on 50 rows of a sine with noise, from 50 bootstrap samples."""
    rng = replicate_rng("insa bootstrap", seed, replicate_number)
    x = rng.uniform(-1, 1, N + N_TEST)
    y = np.sin(4 * x + 1) + NOISE_DEVIATION * rng.standard_normal(len(x))
    data, loss = regression_data(x[:N], y[:N]), Squared()
    bootstrap_rows = rng.integers(N, size=(SAMPLES, N))
    methods: dict[str, Method] = {"training error": Apparent()}
    methods |= {
        name: Bootstrap(bootstrap_kind, samples=bootstrap_rows)
        for name, bootstrap_kind in BOOTSTRAP_KINDS.items()
    }
    # One tree is fitted to all rows, and one to each bootstrap sample. All of them predict the test
    # rows, and the points of a fine grid for the figure.
    extended_data = regression_data(np.append(x, FINE_GRID), np.append(y, np.zeros(len(FINE_GRID))))
    predictions = (
        Sample(extended_data, N, loss).answers(_tree(), np.arange(N), *bootstrap_rows).values
    )
    predictions = predictions.reshape(1 + SAMPLES, -1)
    true_errors, tree_curves = (
        ((predictions[:, :N_TEST] - y[N:]) ** 2).mean(axis=1),
        predictions[:, N_TEST:],
    )
    out_of_bag_share = np.mean(
        [1 - len(np.unique(sample_rows)) / N for sample_rows in bootstrap_rows]
    )
    return {
        **{
            name: risk_values(evaluate_method(method, _tree(), data, loss, 0).tested)[0]
            for name, method in methods.items()
        },
        "true error": true_errors[0],
        "true error, its trees": true_errors[1:].mean(),
        "missed": np.array(out_of_bag_share),
        "x": x[:N],
        "y": y[:N],
        "rows": bootstrap_rows[:N_SHOWN_SAMPLES],
        "lines": tree_curves[: N_SHOWN_SAMPLES + 1],
    }


@lru_cache(maxsize=1)
def _tree() -> Family:
    from sklearn.tree import DecisionTreeRegressor

    return Family.from_grid(DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0))


@experiment(_replicate_bootstrap, replicates=200, quick=20)
def insa_bootstrap(draws: Draws) -> FindingParts:
    """INSA lecture: bootstrap samples, and the error estimates made of them.

    {N} rows of sin(4x + 1) with noise, regression trees with {LEAF} rows in a leaf, {SAMPLES}
    samples

    the lecture draws one data set and two samples of it, and prints no numbers.

    the same samples serve all three estimates; the true error is measured on {N_TEST} fresh rows.
    """
    errors = {name: draws[name] for name in ERROR_NAMES}
    _, boot_errors, oob_errors, errors_632, true_errors, sample_tree_errors = errors.values()
    yield PaperTable.from_values(
        f"mean squared error, noise {NOISE_DEVIATION**2:.2f}", "document", errors
    )

    yield Statement.from_quantities(
        "Err_boot is too optimistic: it underestimates the generalisation error",
        {"true error − Err_boot": true_errors - boot_errors},
    )
    yield Statement.from_quantities(
        f"a row is not in a bootstrap sample with probability {OUT_OF_BAG_SHARE}",
        {"share missed": draws["missed"]},
        claim=Claim("near", OUT_OF_BAG_SHARE, SHARE_TOLERANCE),
        remark=f"exactly (1 − 1/n)^n = {(1 - 1 / N) ** N:.4f} for n = {N}",
    )
    yield Statement.from_quantities(
        "each bootstrap predictor is less accurate than that of all rows",
        {"its true error − that of all rows": sample_tree_errors - true_errors},
    )
    yield Statement.from_quantities(
        "this induces a bias of Err_oob", {"Err_oob − true error": oob_errors - true_errors}
    )
    bias_pairs = np.column_stack([errors_632 - true_errors, oob_errors - true_errors])
    yield Statement.from_quantities(
        ".632 corrects this bias: its own is smaller",
        Quantity.from_bias_difference("|bias of .632| − |bias of Err_oob|", bias_pairs),
        remark=f"that of .632 is {np.mean(errors_632 - true_errors):+.4f}",
    )

    yield Panel.box_plot("errors of all data sets", "squared error", errors)
    # The panels show the first data set and two of its bootstrap samples.
    # The area of a point shows how often the row was drawn.
    x, y, tree_curves = draws["x"][0], draws["y"][0], draws["lines"][0]
    true_line = Series("truth", FINE_GRID, np.sin(4 * FINE_GRID + 1), "k:")
    original_series = (
        Series("", x, y, "ko", size=3.0),
        Series("tree", FINE_GRID, tree_curves[0], "k-"),
        true_line,
    )
    yield Panel("original data", "x", "y", original_series)
    for sample_number, colour in enumerate(("C0", "C4")):
        multiplicities = np.bincount(draws["rows"][0, sample_number], minlength=N)
        points: list[Series] = []
        for multiplicity in range(1, multiplicities.max() + 1):
            has_multiplicity, label = (
                multiplicities == multiplicity,
                "" if points else "rows, larger where drawn repeatedly",
            )
            points.append(
                Series(
                    label,
                    x[has_multiplicity],
                    y[has_multiplicity],
                    f"{colour}o",
                    size=3.0 * np.sqrt(multiplicity),
                )
            )
        tree_line = Series("its tree", FINE_GRID, tree_curves[sample_number + 1], f"{colour}-")
        yield Panel(
            f"bootstrap sample {sample_number + 1}", "x", "y", (*points, tree_line, true_line)
        )


# ---------------------------------------------------------- K-fold errors by the number of folds K

ROW_COUNTS = N_TRAIN, N_FRESH = 40, 2000
COLUMN_COUNTS = N_FEATURES, N_INFORMATIVE = 15, 2
# The class means of two features differ by this number; the other features are noise.
MEAN_DIFFERENCE = 1.2
HOLD_OUT = "hold-out"
METHODS_BY_K = {
    HOLD_OUT: Holdout(),
    **{f"K = {k}": KFold(k) for k in (2, 5, 10)},
    "K = n": LeaveOneOut(),
}
# The linear discriminant is also fitted to these numbers of rows, to compare large samples.
GROWING_SIZES = (40, 160, 640, 2560)
# Estimates of large samples count as equivalent if their means differ by less than this.
EQUIVALENCE_TOLERANCE = 0.005
DISCRIMINANT, TREE = LEARNERS = ("linear discriminant", "tree of one split")


@lru_cache(maxsize=1)
def _families() -> dict[str, Family]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.tree import DecisionTreeClassifier

    learners = LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0)
    return dict(zip(LEARNERS, map(Family.from_grid, learners), strict=True))


def _replicate_folds(seed: int, replicate_number: int) -> Draws:
    """Return the error estimates of both learners by every method, and their true errors.

    "growing" holds, by number of rows, the estimates minus the true error of the discriminant.
    """
    sample = Sample.draw_alternating(
        ROW_COUNTS,
        COLUMN_COUNTS,
        MEAN_DIFFERENCE,
        replicate_rng("insa folds", seed, replicate_number),
    )
    draws: dict[str, np.ndarray] = {}
    for name, family in _families().items():
        draws[name] = np.concatenate(
            [sample.risks(method, family, replicate_number) for method in METHODS_BY_K.values()]
        )
        draws[f"true, {name}"] = sample.errors(family)[0, 0]
    family, growing = _families()[DISCRIMINANT], []
    for n in GROWING_SIZES:
        rng = replicate_rng(f"insa folds {n}", seed, replicate_number)
        sample = Sample.draw_alternating((n, N_FRESH), COLUMN_COUNTS, MEAN_DIFFERENCE, rng)
        estimates = [
            sample.risks(method, family, replicate_number)[0] for method in METHODS_BY_K.values()
        ]
        growing.append(np.array(estimates) - sample.errors(family)[0, 0])
    return {**draws, "growing": np.array(growing)}


@experiment(_replicate_folds, replicates=1000, quick=50)
def insa_folds(draws: Draws) -> FindingParts:
    """INSA lecture and Mehta (2010): the error of K folds, its bias and its spread.

    {N_TRAIN} rows, {N_INFORMATIVE} features of {N_FEATURES} with means {MEAN_DIFFERENCE:g} apart;
    nothing is tuned

    neither document names a learner or prints a number; both of these are ours.

    folds and the hold-out, a third of the rows, keep the shares of the classes. Bias is the error
    less the true error of the rule of all rows, the squared error is that for the mean true error.
    """
    recommendation = "K = 10 is recommended: its squared error is smaller than that of K = 2"
    for name in LEARNERS:
        errors, true_error = draws[name], draws[f"true, {name}"]
        bias = errors - true_error[:, None]
        squared_deviation, squared_error = (
            (errors - errors.mean(axis=0)) ** 2,
            (errors - true_error.mean()) ** 2,
        )
        measures = {
            "error": errors,
            "bias": bias,
            "variance": squared_deviation,
            "squared error": squared_error,
        }
        values_by_measure = {
            label: dict(zip(METHODS_BY_K, values_by_k.T, strict=True))
            for label, values_by_k in measures.items()
        }
        title = f"{name}: mean true error {true_error.mean():.4f}"
        yield MeansGrid.from_values(
            title,
            METHODS_BY_K,
            {label: values_by_k.values() for label, values_by_k in values_by_measure.items()},
        )
        k_positions = np.arange(1.0, len(METHODS_BY_K) + 1)
        bias_lines = (
            mean_line("bias", k_positions, bias, "C0o-"),
            Series(
                "standard deviation", k_positions, np.sqrt(squared_deviation.mean(axis=0)), "C1s--"
            ),
            Series(
                "root of the mean squared error",
                k_positions,
                np.sqrt(squared_error.mean(axis=0)),
                "k^:",
            ),
        )
        # The limits of the vertical axis are the same for both learners.
        y_limits = (-0.02, 0.2)
        y_label, names = "off the true error", tuple(METHODS_BY_K)
        yield Panel(name, "folds", y_label, bias_lines, names=names, limits=y_limits)

        for text, k in (
            ("with K = 2 the rules see half of the rows, which leads to a bias", "K = 2"),
            ("10-fold may have a pessimistic bias, for its smaller training sets", "K = 10"),
        ):
            yield Statement.from_quantities(
                f"{name}: {text}", {f"{k} − true error": values_by_measure["bias"][k]}
            )
        bias_difference = Quantity.from_bias_difference(
            "|bias of K = n| − |bias of K = 2|", bias[:, [-1, 1]]
        )
        yield Statement.from_quantities(
            f"{name}: leave-one-out has a low bias: a smaller one than K = 2", bias_difference
        )
        for text, label, k in (
            ("taking only 2/3 of the data to train may lead to bad performances", "bias", HOLD_OUT),
            ("hold-out has a high variance if the validation set is small", "variance", HOLD_OUT),
            ("leave-one-out has a high variance: a higher one than K = 10", "variance", "K = n"),
            (recommendation, "squared error", "K = 2"),
            ("10-fold provides a better estimate than leave-one-out", "squared error", "K = n"),
        ):
            difference = {
                f"{label} of {k} − of K = 10": values_by_measure[label][k]
                - values_by_measure[label]["K = 10"]
            }
            yield Statement.from_quantities(f"{name}: {text}", difference, digits=5)

    differences, places = draws["growing"], {name: i for i, name in enumerate(METHODS_BY_K)}
    label, largest = f"{DISCRIMINANT}, n = {GROWING_SIZES[-1]}", differences[:, -1]
    yield Statement.from_quantities(
        f"all estimators are asymptotically equivalent: their means are, {label}",
        {
            f"{name} − K = n": largest[:, i] - largest[:, -1]
            for name, i in places.items()
            if name != "K = n"
        },
        claim=Claim("near", 0.0, EQUIVALENCE_TOLERANCE),
    )
    yield Statement.from_quantities(
        f"all estimators are asymptotically equivalent: hold-out is as precise as K = 10, {label}",
        Quantity.from_statistic(
            "its squared error / that of K = 10",
            _squared_error_ratio,
            largest[:, [places[HOLD_OUT], places["K = 10"]]],
            Claim("near", 1.0, 0.1),
            digits=2,
        ),
        remark="hold-out tests a third of the rows once, ten folds test all of them",
    )
    yield MeansGrid.from_values(
        f"{DISCRIMINANT}: estimate − true error, by rows",
        (f"n = {n}" for n in GROWING_SIZES),
        {name: differences[..., i].T for name, i in places.items()},
    )
    roots, styles = (
        np.sqrt((differences**2).mean(axis=0)),
        ("C2v-.", "C1s--", "C4^-", "C0o-", "k^:"),
    )
    lines = tuple(
        Series(name, np.arange(1.0, len(GROWING_SIZES) + 1), values, style)
        for name, values, style in zip(METHODS_BY_K, roots.T, styles, strict=True)
    )
    yield Panel(
        f"{DISCRIMINANT}: root of the mean squared difference from the true error",
        "rows",
        "off the true error",
        lines,
        names=tuple(map(str, GROWING_SIZES)),
    )


def _squared_error_ratio(differences: np.ndarray) -> float:
    """Return the mean of the squares in the first column divided by that in the second column."""
    first_mean, second_mean = (differences**2).mean(axis=0)
    return float(first_mean / second_mean)
