"""An interval is held to what it declares, in one place, by a sentence that says who lacks what."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from tests.support.data import checked
from tests.support.plans import drawn

import truerisk as tr
from truerisk.extend import Basis, IntervalForm, Refusal, Terms
from truerisk.intervals import Evidence
from truerisk.intervals.choice import available_interval_names, provided_evidence
from truerisk.intervals.components import (
    MAX_MEAN_CORRELATION,
    MAX_PLACES,
    pairwise_distances,
    spatial_components,
)
from truerisk.intervals.form import variances_of_means
from truerisk.losses.loss_words import as_loss
from truerisk.methods import Bootstrap, as_method
from truerisk.selection import Minimum

N = 20
X, Y = np.arange(2.0 * N).reshape(N, 2), np.arange(N) % 2
CLASSES, PLACED, NUMBERS = checked(X, Y), checked(X, Y, block=X), checked(X, X[:, 0])
WEIGHTED = checked(X, Y, sample_weight=np.arange(N) + 1.0)
CASES = {
    **{w: (CLASSES, as_loss(w, CLASSES)) for w in ("zero-one", "log", "auc", "f1_micro")},
    "weighted": (WEIGHTED, as_loss("zero-one", WEIGHTED)),
    "signed": (NUMBERS, as_loss(lambda y, f: y - f, NUMBERS)),
}
LACKING = {
    Basis.ROW_LOSSES: {"auc", "f1_micro"},
    Basis.INFLUENCES: {"f1_micro"},
    Basis.UPPER_BOUND: {"log", "signed", "f1_micro"},
    Basis.NEVER_NEGATIVE: {"signed"},
    Basis.ERROR_COUNT: {"log", "auc", "signed", "f1_micro"},
    Basis.EQUAL_ROWS: {"weighted"},
    Basis.PLACES: set(CASES),
}
WORDS = [w.replace("K", "5") for w in tr.methods.names() if w != "K-fold"]
METHODS = [as_method(w) for w in (*WORDS, "2x5-fold", "reversed 4-fold", Bootstrap("oob"))]


def form_that_needs(*needs):
    """An interval that needs these, and says how to have the n-th."""

    class Toy(IntervalForm[Evidence]):
        name = "toy"
        reference = ""

        def compute(self, evidence, c):
            return float(evidence.values[c]), None, ()

    Toy.needs = {need: f"remedy {number}" for number, need in enumerate(needs)}
    return Toy()


def refusal_of(act):
    """What is said against it; nothing where nothing is."""
    try:
        act()
    except Refusal as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("need", Basis, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_form_is_refused_to_a_loss_or_a_table_that_lacks_a_need(need, case):
    """Before anything is drawn, with the need, who lacks it and the remedy; else passed."""
    data, loss = CASES[case]
    said = refusal_of(lambda: form_that_needs(need).check(data, loss))
    of_data = {Basis.EQUAL_ROWS: "data with sample_weight", Basis.PLACES: "data without block="}
    who = of_data.get(need, f"loss '{loss.name}'")
    sentence = f"interval 'toy' needs {need.value}, which {who} cannot give: remedy 0."
    assert said == (sentence if case in LACKING.get(need, ()) else "")


@pytest.mark.parametrize("need", Basis, ids=str)
def test_basis_is_given_by_someone_and_lacked_by_someone(need):
    """No need is idle: a loss or a table lacks it, or some methods give it and others do not."""
    giving = [
        need in provided_evidence(method, PLACED, drawn(method, PLACED)) for method in METHODS
    ]
    assert (any(giving) and not all(giving)) == (need not in LACKING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_method_offers_the_intervals_that_it_gives_all_needs_of(method):
    """The words of the registry whose needs of answers are a part of what it gives."""
    words = ["hac"] if method.respects_time else tr.intervals.names()  # losses depend on others
    needs = {w: {n for n in tr.intervals.as_form(w).needs if n not in LACKING} for w in words}
    plan = drawn(method, PLACED)
    given = provided_evidence(method, PLACED, plan)
    assert available_interval_names(method, PLACED, plan) == [
        word for word in words if needs[word] <= given
    ]


def test_form_tells_the_first_need_that_is_lacking():
    form = form_that_needs(Basis.LOSSES, Basis.HALVES, Basis.PAIRS)
    assert form.lacking({Basis.LOSSES}) is Basis.HALVES
    said = refusal_of(lambda: form.require({Basis.LOSSES}, "it"))
    assert "halves of the rows, which it cannot give: remedy 1." in said


def test_form_gives_candidates_without_a_value_no_interval():
    given = {"loss": CASES["log"][1], "terms": Terms(0.95, Minimum())}
    evidence = Evidence(values=np.array([0.5, np.nan]), **given)
    assert form_that_needs().of_each(evidence) == [(0.5, None, ()), (None, None, ())]


@pytest.mark.parametrize("word", tr.intervals.names())
def test_form_declares_its_word_needs_with_remedies_and_reference(word):
    form = tr.intervals.as_form(word)
    assert form.name == word
    assert set(form.needs) - set(LACKING)
    assert all(form.needs.values())
    assert form.reference.endswith(".")


def test_variances_of_means_are_those_of_the_textbook():
    """s²/n of rows, and s²/m of group means where groups are equal; for each line of losses."""
    losses = np.random.default_rng(0).random((3, 12))
    given = losses, np.full(12, 1 / 12), losses.mean(axis=1)
    means = losses.reshape(3, 4, 3).mean(axis=2)
    for groups, units in ((None, losses), (np.arange(12) // 3, means)):
        variances, m = variances_of_means(*given, groups)
        assert variances == pytest.approx(stats.sem(units, axis=1) ** 2)
        assert m == units.shape[1]


# ---------------- components of places

PLACES = np.random.default_rng(0).random((60, 2))
APART = cdist(PLACES, PLACES)
USUAL = spatial_components(PLACES, 0.95)
SHARES = np.random.default_rng(2).normal(size=60) / 60


def rejected(alike, n_draws=4000):
    """How often the mean 0 of a Gaussian field with this mean correlation lies outside."""
    low, high = 1e-3, 10.0
    for _ in range(60):  # the range at which two places have it on the average
        middle = (low * high) ** 0.5
        mean = (np.exp(-APART / middle).sum() - 60) / (60 * 59)
        low, high = (middle, high) if mean < alike else (low, middle)
    covariance = np.exp(-APART / high) if alike else np.eye(60)
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal(np.zeros(60), covariance, n_draws, method="cholesky")
    means = draws.mean(axis=1)
    errors = [USUAL.std_error(one) for one in (draws - means[:, None]) / 60]
    return float((np.abs(means) > USUAL.critical_value * np.array(errors)).mean())


def test_spatial_components_cover_fields_up_to_the_stated_correlation():
    """5 % miss at most; the sum of squares of t would miss far more of those that hang together.

    The factor is no larger than it must be: some correlation up to it misses in 5 %.
    """
    missed = [rejected(alike) for alike in (0.0, 0.02, 0.03, 0.06, MAX_MEAN_CORRELATION)]
    assert 0.035 < max(missed) < 0.05 + 0.012


def test_spatial_components_have_a_factor_near_that_of_t():
    """With q components it lies above the quantile of t with q degrees of freedom."""
    t = stats.t.ppf(0.975, USUAL.weight_vectors.shape[1])
    assert t < USUAL.critical_value < 2 * t
    assert (
        spatial_components(PLACES, 0.5).critical_value
        < 2
        < spatial_components(PLACES, 0.999999).critical_value
    )


TURN = np.array([[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]])


@pytest.mark.parametrize(
    ("places", "shares"),
    [
        pytest.param(PLACES * 1e6, SHARES, id="kilometres"),
        pytest.param(PLACES + 1e6, SHARES, id="a corner far away"),
        pytest.param(PLACES @ TURN, SHARES, id="a turned map"),
        pytest.param(np.repeat(PLACES, 2, axis=0), np.repeat(SHARES / 2, 2), id="rows twice"),
    ],
)
def test_spatial_components_do_not_depend_on_unit_origin_axes_and_copies(places, shares):
    other = spatial_components(places, 0.95)
    assert other.critical_value == pytest.approx(USUAL.critical_value, rel=1e-5)
    assert other.std_error(shares) == pytest.approx(USUAL.std_error(SHARES), rel=1e-6)


def test_spatial_components_of_two_places_are_none_of_three_one_and_of_many_those_of_cells():
    """More than 500 places are merged into the cells of a grid."""
    assert spatial_components(PLACES[:2], 0.95) is None
    assert spatial_components(PLACES[:3], 0.95).weight_vectors.shape == (3, 1)
    many = spatial_components(np.random.default_rng(4).random((3000, 2)), 0.95)
    assert len(many.weight_vectors) <= MAX_PLACES
    assert len(many.place_of_row) == 3000


def test_distances_among_places_are_euclidean():
    np.testing.assert_allclose(pairwise_distances(PLACES), APART, atol=1e-12)
