"""Plots of single results: paths, maps, posteriors, ranks, learning curves, time and studies."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from tests.support.demsar import C45, METHODS

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Data, Streams
from truerisk.study.results import StudyResults
from truerisk.validation.prediction_stability import PredictionStability

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] - X[:, 3] + RNG.normal(size=60) > 0).astype(int)


def test_path_plot_has_a_line_for_each_coefficient():
    """The lines hold the coefficients against λ, the largest λ on the left, one mark at `at`."""
    model = tr.models.LogisticPath(n_lambdas=20, at=10).fit(X, Y)
    axes = model.plot()
    lines = [line for line in axes.lines if len(line.get_xdata()) == 20]
    ever = model.coef_path_[:, model.coef_path_.any(axis=0)]
    np.testing.assert_array_equal(np.array([line.get_ydata() for line in lines]).T, ever)
    np.testing.assert_array_equal(lines[0].get_xdata(), model.lambdas_)
    assert axes.xaxis_inverted()
    assert axes.get_xscale() == "log"
    assert any(np.allclose(line.get_xdata(), model.lambda_) for line in axes.lines)
    named = {text.get_text() for text in axes.texts}
    assert named == {f"x{j}" for j in np.flatnonzero(model.coef_[0])}


def test_path_plot_has_a_panel_for_each_class():
    """In the order of the classes, also given ones; too few axes or names are refused."""
    model = tr.models.LogisticPath(n_lambdas=5).fit(X, np.arange(60) % 3)
    panels = model.plot(names=list("abcde"))
    assert [axes.get_title() for axes in panels] == [f"score of class {c}" for c in range(3)]
    assert model.plot(ax=panels)[0] is panels[0]
    with pytest.raises(BadData, match="1 axes for 3 panels"):
        model.plot(ax=panels[0])
    with pytest.raises(BadData, match="2 names for 5 columns"):
        model.plot(names=["a", "b"])


FIELD, KINDS = tr.datasets.make_field(90, random_state=0)
PLACES = FIELD[:, :2]


def placed(axes) -> dict[str, set]:
    """The places of each label of the legend."""
    return {
        c.get_label().split(" (")[0]: {tuple(place) for place in c.get_offsets().tolist()}
        for c in axes.collections
    }


def test_fold_map_shows_the_split_that_an_estimate_tests(axes):
    """Tested, training and buffer rows of the plan with the same seed and target."""
    method = tr.methods.Buffered(0.1, k=4)
    assert method.plot(PLACES, y=KINDS, fold=2, random_state=3, ax=axes) is axes
    data = Data.check(np.zeros((90, 1)), KINDS, task="classification", block=PLACES)
    plan = method.plan(data, Streams(3))
    found = placed(axes)
    tested, train = plan.test_rows(2)[0], plan.train_rows(int(plan.fit[2]))[0]
    assert found["tested"] == {tuple(p) for p in PLACES[tested].tolist()}
    assert found["training"] == {tuple(p) for p in PLACES[train].tolist()}
    assert sum(map(len, found.values())) == 90
    assert axes.get_title() == "buffered (folds 4, radius 0.1), fold 2"


@pytest.mark.parametrize(
    ("block", "fold", "labels"),
    [
        (PLACES, 0, ["tested", "training"]),  # without a buffer
        (PLACES, None, ["fold 0", "fold 1", "fold 2"]),  # each row in the fold that tests it
        (PLACES[:, :1], 0, ["tested", "training"]),
    ],
)
def test_fold_map_has_every_row_once(block, fold, labels, axes):
    """One coordinate is drawn at height 0."""
    tr.methods.Blocks(3).plot(block, fold=fold, ax=axes)
    found = placed(axes)
    assert sorted(found) == labels
    assert sum(map(len, found.values())) == 90
    heights = {place[1] for places in found.values() for place in places}
    assert (heights == {0.0}) == (block.shape[1] == 1)


@pytest.mark.parametrize(
    ("block", "fold", "said"),
    [(PLACES, 4, "splits 0 … 3 here"), (np.arange(90) % 9, 0, "a map needs coordinates")],
    ids=["fold", "labels"],
)
def test_fold_map_refuses(block, fold, said, axes):
    with pytest.raises((BadArgument, BadData), match=said):
        tr.methods.Blocks(4).plot(block, fold=fold, ax=axes)


def test_instability_plot_has_every_further_prediction():
    """A point per row and model, the range around the diagonal, the threshold twice."""
    given = RNG.uniform(size=80)
    others = np.clip(given + 0.1 * RNG.standard_normal((6, 80)), 0, 1)
    ax = PredictionStability.from_predictions(np.arange(80), given, others, "", event="ill").plot()
    points = next(line for line in ax.get_lines() if line.get_marker() == ".")
    assert points.get_xdata().tolist() == np.tile(given, 6).tolist()
    assert points.get_ydata().tolist() == others.ravel().tolist()
    low, high = (line.get_ydata() for line in ax.get_lines()[1:3])
    assert (low < high).all()
    assert sum(list(line.get_xdata()) == [0.5, 0.5] for line in ax.get_lines()) == 1
    numbers = PredictionStability.from_predictions(np.arange(80), 9 * given, 9 * others, "").plot()
    diagonal = numbers.get_lines()[-1]
    assert list(diagonal.get_xdata()) == [9 * given.min(), 9 * given.max()]
    assert numbers.get_xlabel() == "prediction"


def test_posterior_plot_is_the_density(axes):
    """The mean is marked; all but 1e-4 of the mass at either end is shown."""
    post = tr.ErrorPosterior(6, 60)
    assert post.plot(ax=axes, level=0.9) is axes
    line, mean = axes.lines
    x = line.get_xdata()
    np.testing.assert_array_equal(line.get_ydata(), post.pdf(x))
    assert (x[0], x[-1]) == pytest.approx((post.quantile(1e-4), post.quantile(1 - 1e-4)))
    assert mean.get_xydata().tolist() == [[post.mean, post.pdf(post.mean)]]
    assert axes.get_legend().get_texts()[0].get_text() == "6 errors in 60"
    (shade,) = axes.collections  # the mass beyond the bound of the level
    assert shade.get_paths()[0].vertices[:, 0].min() == pytest.approx(post.upper(0.9))
    endless = tr.ErrorPosterior(0, 20, prior=(0.5, 0.5)).plot()
    assert np.isfinite(endless.lines[0].get_ydata()).all()


def test_posterior_plot_of_several_labels_them(axes):
    """One line per posterior; one that is of no single rule says so in the title."""
    folds = tr.ErrorPosterior(9, 90, of="no single rule: folds")
    tr.ErrorPosterior(6, 60).plot(ax=axes, others={"folds": folds})
    assert len(axes.get_legend().get_texts()) == 2
    assert axes.get_title() == "no single rule: folds"


def test_rank_plot_has_the_ranks_and_bars_of_the_comparison():
    """The best on top; one bar per group that is not told apart; four data sets have none."""
    values = np.hstack([C45, C45[:, :1] - 0.2])
    found = tr.compare_many(values, better="higher", methods=[*METHODS, "worse"])
    ax = found.plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    together = ["not told apart"] * len(found.alike)
    assert names == [*(name for name, _ in found.ordered), *together, "critical difference"]
    points = next(line for line in ax.get_lines() if line.get_marker() == "o")
    assert list(points.get_xdata()) == [rank for _, rank in found.ordered]
    bars = [line.get_xdata() for line in ax.get_lines() if line.get_marker() == "|"]
    ranks = dict(found.ordered)
    ends = [[min(ranks[m] for m in group), max(ranks[m] for m in group)] for group in found.alike]
    assert [list(bar) for bar in bars] == [*ends, [1, 1 + found.critical_difference]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["ranks within 1.63 of each other", "critical difference 1.63"]
    with pytest.raises(BadData, match=r"has no picture; .* too few to rank methods"):
        tr.compare_many(C45[:4], better="higher", methods=METHODS).plot()
    assert tr.compare_many(C45[:5], better="higher", methods=METHODS).plot() is not None


LOAD = tr.datasets.make_daily_load
DAYS, LOADS = LOAD(730, random_state=1)


def over_time(time, model=None, y=LOADS, scoring=None, **options):
    risk = tr.estimate_risk(model or Ridge(), DAYS, y, time=time, scoring=scoring)
    return tr.risk_over_time(risk, **options)


OF_SCORE = {"model": LogisticRegression(), "y": np.median(LOADS) < LOADS, "scoring": "accuracy"}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        pytest.param({"n_stretches": 5}, "risk (squared)", id="risk"),
        pytest.param(OF_SCORE, "accuracy (larger is better)", id="score"),
    ],
)
def test_over_time_plot_has_stretches_band_and_trend(axes, words, label):
    """A point in the middle of each stretch; a band around them; the fitted line, dashed."""
    course = over_time(np.arange(730.0), **words)
    assert course.plot(ax=axes) is axes
    points, trend = axes.lines
    assert points.get_ydata() == pytest.approx(course.values)
    assert points.get_xdata() == pytest.approx((course.starts + course.ends) / 2)
    assert trend.get_linestyle() == "--"
    assert np.diff(trend.get_ydata()) == pytest.approx([course.slope])
    band = axes.collections[-1].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(course.high.max())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", label)


def test_over_time_plot_keeps_dates(axes):
    """Four years have few ticks: Matplotlib warns where it finds no distance that suits."""
    days = LOAD.dates(730).astype("datetime64[D]")
    course = over_time(days[0] + 2 * (days - days[0]))
    course.plot(ax=axes)
    axes.figure.canvas.draw()
    assert 2 <= len(axes.get_xticks()) <= 9
    assert axes.lines[0].get_xdata()[0] == course.starts[0] + (course.ends - course.starts)[0] / 2
    # A short series has means, and neither band nor trend.
    short = tr.estimate_risk(Ridge(), DAYS[:120], LOADS[:120], time=np.arange(120))
    assert len(tr.risk_over_time(short).plot().lines) == 1


def curve_lines(axes):
    """Measured points, and the law inside and beyond the sizes; the legend has lines of its own."""
    lines = [line for line in axes.lines if len(line.get_xdata()) and line.get_color() != "0.55"]
    points = [line for line in lines if line.get_marker() == "o"]
    upright = [line for line in lines if len({*line.get_xdata()}) == 1]
    return points, [line for line in lines if line not in points and line not in upright]


def learning(**options):
    X, y = tr.datasets.make_difficult(100, random_state=0)
    return tr.learning_curve(GaussianNB(), X, y, sizes=[12, 24, 45, 80], **options)


def test_learning_curve_plot_has_points_law_and_band(axes):
    curve = learning()
    assert curve.plot(ax=axes) is axes
    (points,), (inside, beyond) = curve_lines(axes)
    np.testing.assert_array_equal(points.get_xdata(), curve.sizes)
    np.testing.assert_array_equal(points.get_ydata(), curve.values)
    assert (inside.get_linestyle(), beyond.get_linestyle()) == ("-", "--")
    x, y = inside.get_data()
    assert y == pytest.approx([curve.at(n).value for n in x])
    assert (x[-1], beyond.get_xdata()[0], beyond.get_xdata()[-1]) == pytest.approx((80, 80, 160))
    band = axes.patches[0].get_path().vertices
    assert band[:, 1].max() == pytest.approx(curve.at(12).interval.high)
    assert axes.get_xlabel() == "training rows, logarithmic"
    assert axes.get_ylabel() == "risk (zero-one)"
    far = curve.plot(to=320)
    assert curve_lines(far)[1][-1].get_xdata()[-1] == pytest.approx(320)
    with pytest.raises(BadArgument, match="to=321: .* extrapolated to 320 at most"):
        curve.plot(ax=axes, to=321)


def test_learning_curve_plot_of_scores(axes):
    """AUC rises, and its axis says that larger is better; without a law there are points alone."""

    def first(model, X, y):
        return float(model.predict(X[:1])[0] == y[0])

    auc = learning(scoring="auc")
    auc.plot(ax=axes)
    assert curve_lines(axes)[0][0].get_ydata() == pytest.approx(auc.values)
    assert curve_lines(axes)[1][-1].get_ydata()[-1] == pytest.approx(auc.at(160).value)
    assert "larger is better" in axes.get_ylabel()
    assert curve_lines(learning(scoring=first).plot())[1] == []


@pytest.mark.parametrize("what", ["bias", "rmse", "seconds"])
def test_study_plot_has_a_line_per_method(what):
    """Named by what differs, with sizes in ascending order; what is not there is refused."""
    cells = [
        {
            "problem": "simple", "learner": "knn", "method": method, "size": size,
            "bias": 0.01 * size, "bias_error": 0.002, "rmse": 0.1, "coverage": None,
            "coverage_error": None, "seconds": 0.5,
        }
        for method in ("loo", "nested") for size in (50, 30)
    ]  # fmt: skip
    results = StudyResults("mine", tuple(cells))
    ax = results.plot(what)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["loo", "nested"]
    assert ax.get_lines()[0].get_xdata().tolist() == [30, 50]
    with pytest.raises(BadData, match="no coverage to draw"):
        results.plot("coverage")
    with pytest.raises(UnknownName, match="did you mean 'bias'"):
        results.plot("bais")
