"""R² and Cp of polynomials; bootstrap samples with their trees; bias and spread by the folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.experiments.experiment import Sample, stream
from truerisk.experiments.insa import (
    APART,
    COLUMNS,
    DISCRIMINANT,
    EVERY,
    FEW,
    FINE,
    LEAF,
    LEARNERS,
    NOISE,
    POINTS,
    ROWS,
    SAMPLES,
    SHARES,
    TREE,
    N,
    curve,
    insa_bootstrap,
    insa_folds,
    insa_polynomial,
    polynomials,
)


def test_the_parts_of_the_curve_have_their_shares() -> None:
    """What each degree adds to a least-squares fit of the curve itself, mean square by degree."""
    x = np.linspace(-1, 1, POINTS)
    truth = curve(x)
    left = [((truth - np.polynomial.Polynomial.fit(x, truth, d)(x)) ** 2).mean() for d in range(4)]
    assert -np.diff(left) == pytest.approx([abs(share) for share in SHARES.values()])
    assert left[3] == pytest.approx(0, abs=1e-20)
    assert truth.var() + NOISE == pytest.approx(1, abs=0.03)


def test_every_degree_is_a_candidate() -> None:
    """1 to the largest."""
    degrees = [c["polynomialfeatures__degree"] for c in polynomials(4).candidates]
    assert degrees == [1, 2, 3, 4]


def test_the_mean_of_cp_is_least_at_three(findings_of):
    """And the training error takes the largest degree; that is worse."""
    shares = {row.name: row.ours for row in findings_of("insa-polynomial").tables[1].rows}
    assert shares["R²"] == 0 < shares["Cp"]
    assert findings_of("insa-polynomial").claims[0].verdict == "holds"
    of_cp = [
        q for q in findings_of("insa-polynomial").claims[1].quantities if q.name.startswith("Cp")
    ]
    assert len(of_cp) == 5
    assert all(q.value > 0 for q in of_cp)
    assert findings_of("insa-polynomial").claims[2].verdict != "does not hold"


def test_criteria_are_those_of_a_user() -> None:
    """Cp of replicate 5 is what `risk_curve` says of its rows."""
    draws = insa_polynomial.replicate(0, 5)
    x = np.linspace(-1, 1, POINTS)
    noise = stream("insa polynomial", 0, 5).standard_normal(POINTS)
    y = curve(x) + np.sqrt(NOISE) * noise
    X = np.vander(x, 7, increasing=True)[:, 1:]
    from sklearn.linear_model import LinearRegression

    fits = [
        tr.estimate_risk(LinearRegression(), X[:, :d], y, cv="apparent").value for d in range(1, 7)
    ]
    variance = fits[-1] * POINTS / (POINTS - 7)
    expected = np.array(fits) + 2 * np.arange(2, 8) * variance / POINTS
    assert draws["Cp"] == pytest.approx(expected)
    assert draws["R2"][:6] == pytest.approx(1 - np.array(fits) / y.var())


def test_aic_at_the_true_variance_is_cp_and_bic_takes_fewer_degrees(findings_of, draws_of):
    """A constant apart in every data set; the degree of BIC is in none above that of AIC."""
    equivalent, simpler = findings_of("insa-polynomial").claims[-2:]
    assert equivalent.verdict == "holds"
    chosen = draws_of("insa-polynomial")["chosen"]
    aic, bic = (chosen[:, EVERY.index(name)] for name in ("AIC", "BIC"))
    assert (aic >= bic).all()
    assert simpler.quantities[0].value == np.mean(aic - bic) > 0


def test_fitted_polynomials_pass_nearer_and_nearer(findings_of):
    """A panel per degree that the lecture shows; the last passes through all points."""
    fitted, _ = findings_of("insa-polynomial").figures
    assert [panel.title[:10] for panel in fitted.panels] == [
        "degree 1: ", "degree 2: ", "degree 5: ", "degree 10:",
    ]  # fmt: skip
    points, line, _ = fitted.panels[-1].series
    assert np.interp(points.x, line.x, line.y) == pytest.approx(points.y, abs=1e-6)
    r2 = insa_polynomial.replicate(0, 0)["R2"]
    assert fitted.panels[2].title == f"degree 5: R² = {r2[4]:.3f}"


def test_curves_are_those_of_the_samples_trees():
    """Of all rows, and of the rows of the first sample with their copies."""
    found = insa_bootstrap.replicate(0, 2)
    x, y = found["x"][:, None], found["y"]
    for rows, line in zip((np.arange(N), found["rows"][0]), found["lines"], strict=False):
        tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
        times = np.bincount(rows, minlength=N)
        tree.fit(np.repeat(x, times, axis=0), np.repeat(y, times))
        assert (np.abs(tree.predict(FINE[:, None]) - line) < 1e-9).mean() > 0.99


def test_estimates_are_a_user_s():
    """.632 is .368 training + .632 out of bag, and the training error that of the apparent."""
    found = insa_bootstrap.replicate(0, 1)
    assert found[".632"] == pytest.approx(
        0.368 * found["training error"] + 0.632 * found["out of bag (Err_oob)"]
    )
    tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
    x, y = found["x"][:, None], found["y"]
    apparent = tr.estimate_risk(tree, x, y, cv="apparent")
    assert found["training error"] == pytest.approx(apparent.value)
    other = tr.estimate_risk(tree, x, y, cv=tr.methods.Bootstrap("oob", SAMPLES))
    assert found["out of bag (Err_oob)"] == pytest.approx(other.value, rel=0.3)
    assert found["training error"] < found["bootstrap (Err_boot)"] < found["out of bag (Err_oob)"]


def test_points_of_a_sample_grow_with_their_copies(findings_of):
    """As many points as the sample has distinct rows, in sizes that rise."""
    panels = findings_of("insa-bootstrap").figures[0].panels
    assert len(panels) == 4
    points = [line for line in panels[2].series if line.size is not None]
    sizes = [line.size for line in points]
    assert sizes == sorted(sizes)
    copies = np.round((np.array(sizes) / 3.0) ** 2)
    assert sum(n * len(line.x) for n, line in zip(copies, points, strict=True)) == N


# ---------------------------------------------------------------- the number of folds

MODELS = (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0))


@pytest.mark.parametrize(("name", "model"), [*zip(LEARNERS, MODELS, strict=True)])
def test_a_replicate_is_scikit_learns(name, model):
    """Leave-one-out and the true error by plain fits; K folds as a user finds them."""
    found = insa_folds.replicate(0, 3)
    drawn = Sample.alternating(ROWS, COLUMNS, APART, stream("insa folds", 0, 3)).whole
    X, y = drawn.X, drawn.y
    own, rule = (X[:FEW], y[:FEW]), model.fit(X[:FEW], y[:FEW])
    left_out = 1 - cross_val_score(model, *own, cv=LeaveOneOut())
    assert found[name][-1] == pytest.approx(left_out.mean())
    assert found[f"true, {name}"] == pytest.approx(1 - rule.score(X[FEW:], y[FEW:]))
    for place, k in enumerate((2, 5, 10)):
        folds = tr.estimate_risk(model, *own, cv=f"{k}-fold", random_state=3)
        assert found[name][place] == pytest.approx(folds.value)


def test_bias_and_variance_are_of_the_errors(draws_of, findings_of):
    """By plain sums, as they stand in the tables."""
    for name, table in zip(LEARNERS, findings_of("insa-folds").tables, strict=True):
        errors, true = (draws_of("insa-folds")[key] for key in (name, f"true, {name}"))
        rows = {row.name: row.means for row in table.rows}
        assert rows["bias"] == pytest.approx(errors.mean(axis=0) - true.mean())
        assert rows["variance"] == pytest.approx(errors.var(axis=0))
        assert rows["squared error"] == pytest.approx(np.mean((errors - true.mean()) ** 2, axis=0))


def test_two_folds_are_pessimistic_and_n_vary_where_a_row_turns_the_rule(findings_of):
    """Known with 40 data sets: the bias of the discriminant is .08 of .30."""
    claims = {claim.text: claim for claim in findings_of("insa-folds").claims}
    (bias,) = claims[
        f"{DISCRIMINANT}: with K = 2 the rules see half of the rows, which leads to a bias"
    ].quantities
    assert bias.value > 0.04
    text = f"{DISCRIMINANT}: 10-fold may have a pessimistic bias, for its smaller training sets"
    (ten,) = claims[text].quantities
    table = {row.name: row.means for row in findings_of("insa-folds").tables[0].rows}
    assert ten.value == pytest.approx(table["bias"][2])
    (variance,) = claims[
        f"{TREE}: leave-one-out has a high variance: a higher one than K = 10"
    ].quantities
    assert variance.value > 0.002


def test_three_lines_are_drawn_for_each_learner(findings_of):
    """The root of the squared error is not below the standard deviation."""
    for panel in findings_of("insa-folds").figures[0].panels:
        bias, spread, root = (line.y for line in panel.series)
        assert (root >= spread - 1e-12).all()
        assert bias[0] > 0
        assert len(panel.names) == 4
