"""Polynomials, bootstrap samples and folds; optimism and its parts; the ozone data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.experiments import insa_ozone as module
from truerisk.experiments import reproduce
from truerisk.experiments.experiment import Sample, replicate_rng
from truerisk.experiments.insa import (
    COLUMN_COUNTS,
    CRITERION_NAMES,
    FINE_GRID,
    LEAF,
    LEARNERS,
    MEAN_DIFFERENCE,
    N_TRAIN,
    NOISE_VARIANCE,
    POINTS,
    ROW_COUNTS,
    SAMPLES,
    VARIANCE_SHARES,
    N,
    insa_bootstrap,
    insa_folds,
    insa_polynomial,
    polynomial_family,
    true_curve,
)
from truerisk.experiments.insa_optimism import (
    APPROXIMATION_ERRORS,
    BAYES_RISK,
    CONSTANT_STEP,
    EXACT_MEANS,
    MEAN_LOG_VARIANCE,
    N_RIDGE,
    PENALTIES,
    QUADRATURE_NODES,
    QUADRATURE_WEIGHTS,
    SHOWN_DEGREES,
    P,
    _best_constant,
    _bias_and_variance_of_ridge,
    _draw_in_cells,
    true_function,
)
from truerisk.experiments.insa_optimism import (
    FEW as AICC_ROWS,
)
from truerisk.experiments.insa_optimism import (
    NOISE_DEVIATION as DEVIATION,
)
from truerisk.experiments.insa_ozone import LEARNERS as OZONE
from truerisk.experiments.insa_ozone import ozone_family
from truerisk.losses import Absolute, Squared


def test_insa_curve_has_parts_with_their_shares():
    x = np.linspace(-1, 1, POINTS)
    truth = true_curve(x)
    left = [((truth - np.polynomial.Polynomial.fit(x, truth, d)(x)) ** 2).mean() for d in range(4)]
    assert -np.diff(left) == pytest.approx([abs(share) for share in VARIANCE_SHARES.values()])
    assert left[3] == pytest.approx(0, abs=1e-20)
    assert [c["polynomialfeatures__degree"] for c in polynomial_family(4).candidates] == [
        1,
        2,
        3,
        4,
    ]
    assert truth.var() + NOISE_VARIANCE == pytest.approx(1, abs=0.03)


def test_insa_criteria_are_those_of_estimate_risk():
    draws = insa_polynomial.replicate(0, 5)
    x = np.linspace(-1, 1, POINTS)
    noise = replicate_rng("insa polynomial", 0, 5).standard_normal(POINTS)
    y = true_curve(x) + np.sqrt(NOISE_VARIANCE) * noise
    X = np.vander(x, 7, increasing=True)[:, 1:]
    fits = [
        tr.estimate_risk(LinearRegression(), X[:, :d], y, cv="apparent").value for d in range(1, 7)
    ]
    variance = fits[-1] * POINTS / (POINTS - 7)
    expected = np.array(fits) + 2 * np.arange(2, 8) * variance / POINTS
    assert draws["Cp"] == pytest.approx(expected)
    assert draws["R2"][:6] == pytest.approx(1 - np.array(fits) / y.var())


def test_insa_polynomials_pass_through_their_points(draws_of, findings_of):
    fitted, _ = findings_of("insa-polynomial").figures
    assert [panel.title[:10] for panel in fitted.panels] == [
        "degree 1: ", "degree 2: ", "degree 5: ", "degree 10:",
    ]  # fmt: skip
    points, line, _ = fitted.panels[-1].series
    assert np.interp(points.x, line.x, line.y) == pytest.approx(points.y, abs=1e-6)
    draws = draws_of("insa-polynomial")
    in_degree_3 = draws["R2"][draws["chosen"][:, 0] == 3]
    distances = ((in_degree_3[:, [0, 1, 4]] - [0.03, 0.73, 0.874]) ** 2).sum(axis=1)
    nearest = in_degree_3[distances.argmin()]
    assert fitted.panels[2].title == f"degree 5: R² = {nearest[4]:.3f}"


def test_insa_bootstrap_lines_are_those_of_the_trees_of_samples():
    found = insa_bootstrap.replicate(0, 2)
    x, y = found["x"][:, None], found["y"]
    for rows, line in zip((np.arange(N), found["rows"][0]), found["lines"], strict=False):
        tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
        times = np.bincount(rows, minlength=N)
        tree.fit(np.repeat(x, times, axis=0), np.repeat(y, times))
        assert (np.abs(tree.predict(FINE_GRID[:, None]) - line) < 1e-9).mean() > 0.99


def test_insa_bootstrap_estimates_are_those_of_estimate_risk():
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


def test_insa_bootstrap_points_grow_with_their_copies(findings_of):
    panels = findings_of("insa-bootstrap").figures[0].panels
    assert len(panels) == 4
    points = [line for line in panels[2].series if line.size is not None]
    sizes = [line.size for line in points]
    assert sizes == sorted(sizes)
    copies = np.round((np.array(sizes) / 3.0) ** 2)
    assert sum(n * len(line.x) for n, line in zip(copies, points, strict=True)) == N


MODELS = (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0))


@pytest.mark.parametrize(("name", "model"), [*zip(LEARNERS, MODELS, strict=True)])
def test_insa_folds_replicate_is_that_of_scikit_learn(name, model):
    found = insa_folds.replicate(0, 3)
    drawn = Sample.draw_alternating(
        ROW_COUNTS, COLUMN_COUNTS, MEAN_DIFFERENCE, replicate_rng("insa folds", 0, 3)
    ).data
    X, y = drawn.X, drawn.y
    own, rule = (X[:N_TRAIN], y[:N_TRAIN]), model.fit(X[:N_TRAIN], y[:N_TRAIN])
    left_out = 1 - cross_val_score(model, *own, cv=LeaveOneOut())
    assert found[name][-1] == pytest.approx(left_out.mean())
    assert found[f"true, {name}"] == pytest.approx(1 - rule.score(X[N_TRAIN:], y[N_TRAIN:]))
    for place, cv in enumerate(("holdout", "2-fold", "5-fold", "10-fold")):
        folds = tr.estimate_risk(model, *own, cv=cv, random_state=3)
        assert found[name][place] == pytest.approx(folds.value)


def test_insa_criteria_choose_as_their_claims_say(draws_of, findings_of):
    chosen = draws_of("insa-polynomial")["chosen"]
    aic, bic = (chosen[:, CRITERION_NAMES.index(name)] for name in ("AIC", "BIC"))
    assert (aic >= bic).all()
    *_, simpler = findings_of("insa-polynomial").claims
    assert simpler.quantities[0].value == np.mean(aic - bic)
    shares = {row.name: row.ours for row in findings_of("insa-polynomial").tables[1].rows}
    assert shares["R²"] == 0


def test_insa_folds_bias_and_variance_are_of_the_errors(draws_of, findings_of):
    *panels, growing = findings_of("insa-folds").figures[0].panels
    assert growing.series[0].y[-1] < growing.series[0].y[0] / 3
    for panel in panels:
        _, spread, root = (line.y for line in panel.series)
        assert (root >= spread - 1e-12).all()
        assert len(panel.names) == 5
    for name, table in zip(LEARNERS, findings_of("insa-folds").tables, strict=False):
        errors, true = (draws_of("insa-folds")[key] for key in (name, f"true, {name}"))
        rows = {row.name: row.means for row in table.rows}
        assert rows["bias"] == pytest.approx(errors.mean(axis=0) - true.mean())
        assert rows["variance"] == pytest.approx(errors.var(axis=0))
        assert rows["squared error"] == pytest.approx(np.mean((errors - true.mean()) ** 2, axis=0))


def test_best_of_absolute_loss_is_median_and_of_squared_loss_mean():
    assert _best_constant(Absolute()) == pytest.approx(np.log(2), abs=CONSTANT_STEP)
    assert _best_constant(Squared()) == pytest.approx(1, abs=CONSTANT_STEP)


def test_insa_optimism_panel_has_limits_of_curves_that_stay(findings_of):
    ((panel,),) = (figure.panels for figure in findings_of("insa-optimism").figures)
    (low, high), single = panel.limits, [one for one in panel.series if one.width < 1]
    means = np.concatenate([one.y for one in panel.series if one.width > 1])
    assert low == 0
    assert all(one.y.max() <= high for one in single if one.style[:2] == "C0")
    assert means.max() < high < 2 * means.max()
    leaving = [one.y.max() for one in single if one.y.max() > high and one.style[:2] == "C1"]
    (said,) = [one.label for one in single if one.label.startswith("test")]
    assert f"({len(leaving)} of 30 leave, up to {max(leaving):.1f})" in said


def test_approximation_error_is_that_of_least_squares_on_very_many_points():
    x = np.linspace(-1, 1, 20_001)
    for degree, found in zip(SHOWN_DEGREES, APPROXIMATION_ERRORS, strict=True):
        fit = np.polynomial.Legendre.fit(x, true_function(x), degree)
        assert found == pytest.approx(((fit(x) - true_function(x)) ** 2).mean(), abs=2e-4)


def test_aicc_exact_means_are_those_of_the_methods(findings_of):
    (gap,) = findings_of("aicc-simulation").claims[-1].quantities
    assert gap.value == pytest.approx(24 / (10**6 - 4), rel=1e-4)
    assert BAYES_RISK == DEVIATION**2
    mean_log = digamma((AICC_ROWS - P) / 2) + np.log(2) - np.log(AICC_ROWS)
    assert abs(mean_log - MEAN_LOG_VARIANCE) < 1e-14
    known = {"target": 39.618, "AICc": 39.617, "AIC": 36.617, "as printed": 32.367}
    for name, value in known.items():
        assert EXACT_MEANS[name] == pytest.approx(value, abs=0.011)


def test_insa_ridge_bias_and_variance_are_those_of_the_smoother():
    """The fit is linear in the labels: its bias is that of labels without noise."""
    rng = replicate_rng("insa ridge", 0, 4)
    x, noise = _draw_in_cells(N_RIDGE, rng), DEVIATION * rng.standard_normal(N_RIDGE)
    powers, nodes = (np.vander(v, 9, increasing=True)[:, 1:] for v in (x, QUADRATURE_NODES))
    centred = powers - powers.mean(axis=0)
    found = _bias_and_variance_of_ridge(0, 4)
    for j, penalty in enumerate(PENALTIES[1:], 1):
        gain = np.linalg.solve(centred.T @ centred + penalty * np.eye(8), centred.T)
        smoother = 1 / N_RIDGE + (nodes - powers.mean(axis=0)) @ gain
        bias = smoother @ true_function(x) - true_function(QUADRATURE_NODES)
        parts = np.array([bias, smoother @ noise, bias + smoother @ noise])
        np.testing.assert_allclose(found[:, j], parts**2 @ QUADRATURE_WEIGHTS, rtol=1e-6)


TWO = ("linear", "tree")


@pytest.fixture
def report(monkeypatch):
    """Two learners on 120 rows whose first column is nearly the concentration."""
    rng = np.random.default_rng(0)
    level = rng.uniform(100, 200, 120)
    X = np.column_stack([level + rng.normal(0, 15, 120), rng.normal(size=(120, 3))])
    monkeypatch.setattr(module, "_load_ozone_data", lambda: (X, level))
    monkeypatch.setattr(module, "LEARNERS", TWO)
    return reproduce(replace(module.insa_ozone, check=tuple), replicates=3, seed=1)


def test_ozone_report_has_three_risks_boxes_and_roc_curves(report):
    squared, wrong, area = report.tables
    assert [[row.name for row in table.rows] for table in (squared, wrong, area)] == [[*TWO]] * 3
    assert 100 < squared.rows[0].ours < 400
    assert 0 < wrong.rows[0].ours < 0.3
    assert 0 < area.rows[0].ours < 0.1
    (figure,) = report.figures
    assert [panel.kind for panel in figure.panels] == ["boxes", "boxes", "lines"]
    assert [len(panel.series) for panel in figure.panels] == [2, 2, 3]
    assert all(len(series.y) == 3 for series in figure.panels[0].series)
    for line in figure.panels[2].series[:2]:
        area = np.diff(line.x) @ (line.y[1:] + line.y[:-1]) / 2
        assert line.label.endswith(f", area {area:.3f}")
    for line in figure.panels[2].series:
        assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0, 0, 1, 1)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 4))
NUMBERS = 30 * X[:, 0] + RNG.normal(size=250)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("word", OZONE)
def test_ozone_family_of_every_learner_and_task_can_be_fitted(word, task):
    family = ozone_family(word, task)
    assert family.task == task
    y = NUMBERS if task == "regression" else (NUMBERS > 0).astype(int)
    model = family.make(len(family) - 1).fit(X, y)
    assert model.score(X, y) > 0.4
    if task == "classification":
        assert hasattr(model, "decision_function") or hasattr(model, "predict_proba")
    elif word.startswith("linear"):  # interactions are squares and products
        assert len(model[-1].coef_) == (14 if word == "linear, interactions" else 4)
