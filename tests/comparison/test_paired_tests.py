"""Tests on splits, on halves and on errors: numbers of R, intervals, no spread, what is refused."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.extend import Refusal

X, Y = tr.datasets.make_difficult(60, random_state=0)

# Rscript -e 'options(digits=15); a <- c(.12,.10,.14,.08,.16,.11,.13,.09,.15,.12)
#   b <- c(.15,.13,.14,.12,.18,.10,.17,.13,.16,.14); d <- a-b; se <- sqrt(var(d)*(1/10+10/90))
#   t <- mean(d)/se; cat(mean(d), se, t, 2*pt(-abs(t),9))'
A = np.array([0.12, 0.10, 0.14, 0.08, 0.16, 0.11, 0.13, 0.09, 0.15, 0.12])
B = np.array([0.15, 0.13, 0.14, 0.12, 0.18, 0.10, 0.17, 0.13, 0.16, 0.14])


def test_nadeau_bengio_has_the_numbers_of_r() -> None:
    """Mean, error, t and p of ten differences; at the level 1 − p the interval ends at 0."""
    found = tr.compare(A, B, n_train=90, n_test=10)
    assert found.difference == pytest.approx(-0.022, rel=1e-12)
    assert found.std_error == pytest.approx(0.00804616310676963, rel=1e-12)
    assert found.statistic == pytest.approx(-2.73422247449723, rel=1e-12)
    assert found.p_value == pytest.approx(0.0230646041488309, rel=1e-11)
    assert (found.test, found.df, found.n_pairs) == ("nadeau-bengio", 9, 10)
    level = 1 - found.p_value
    interval = tr.compare(A, B, n_train=90, n_test=10, confidence_level=level).interval
    assert interval.high == pytest.approx(0, abs=1e-9)
    assert interval.method == "corrected-t"
    assert "ρ = n_test/(n_train + n_test) = 0.1" in found.assumed[0]
    narrow = tr.compare(A, B, n_train=99, n_test=1)  # training sets overlap more
    ratio = np.sqrt((1 / 10 + 1 / 99) / (1 / 10 + 1 / 9))
    assert narrow.std_error == pytest.approx(found.std_error * ratio)


def test_nadeau_bengio_is_the_corrected_t_of_an_estimate() -> None:
    """Against a rule without any loss it is the corrected t of repeated cross-validation."""
    est = tr.estimate_risk(GaussianNB(), X, Y, cv="4x3-fold", interval="corrected-t")
    found = tr.compare(est.split_risks, np.zeros(12), n_train=40, n_test=20)
    assert found.std_error == pytest.approx(est.std_error, rel=1e-12)


@pytest.mark.parametrize(
    ("test", "shape", "sizes", "note"),
    [
        ("nadeau-bengio", 10, {"n_train": 90, "n_test": 10}, "same difference"),
        ("bayes", 10, {"n_train": 90, "n_test": 10}, "same difference"),
        ("5x2", 10, {"n_train": 50, "n_test": 50}, "same difference"),
        ("sharp", (5, 2), {}, "spread is 0"),
    ],
)
def test_compare_of_equal_differences_has_no_error(test, shape, sizes, note) -> None:
    """Without spread over splits or halves: None in the place of what needs it, and a note."""
    found = tr.compare(np.full(shape, 0.3), np.full(shape, 0.1), test=test, **sizes)
    assert found.difference == pytest.approx(0.2)
    assert (found.p_value, found.std_error, found.interval) == (None, None, None)
    assert found.probabilities is None
    assert note in found.notes[0]


def test_nadeau_bengio_keeps_its_size_under_overlap() -> None:
    """Of two equal rules on random splits it rejects in about 5 %, where a plain t does in 40 %."""
    rng = np.random.default_rng(0)
    rejected = np.zeros(2)
    for _ in range(400):
        a, b = rng.random((2, 60)) < 0.3
        tests = np.array([rng.permutation(60)[:20] for _ in range(15)])
        d = (a[tests].mean(axis=1), b[tests].mean(axis=1))
        found = tr.compare(*d, n_train=40, n_test=20)
        plain = abs(found.difference) / (np.std(d[0] - d[1], ddof=1) / np.sqrt(15))
        rejected += (found.p_value < 0.05, plain > 2.1448)
    assert rejected[0] / 400 < 0.08
    assert rejected[1] / 400 > 0.3


@pytest.mark.parametrize("unit", [1e-13, 1e9])
@pytest.mark.parametrize("test", ["nadeau-bengio", "5x2"])
def test_compare_ignores_the_unit_of_losses(unit, test) -> None:
    """The same statistic; and differences that are rounding alone are no spread in any unit."""
    sizes = {"n_train": 90, "n_test": 90 if test == "5x2" else 10, "test": test}
    usual, other = (tr.compare(u * A, u * B, **sizes) for u in (1.0, unit))
    assert other.statistic == pytest.approx(usual.statistic)
    alike = tr.compare(unit * A, unit * A * (1 + np.arange(10) * 1e-16), **sizes)
    assert alike.p_value is None


# pip install sharp-cv==0.1.0; python -c 'from sharp_cv import *; print(sharp_test(D),
#   sharp_confint(D), sharp_confint(D, level=.8))'
OF_SHARP_CV = (
    (
        [[-0.007, 0.032], [0.005, -0.027], [0.018, 0.065], [0.047, -0.035],
         [-0.063, -0.031], [0.002, -0.116], [-0.011, -0.062], [-0.037, -0.027]],
        (-1.1031606372609764, 0.26995741187989053),
        (-0.0866179190579448, 0.055742919057944776, -0.04066407640166221, 0.009789076401662215),
    ),
    (
        [[0.047, 0.079], [0.02, 0.095], [-0.006, 0.044], [0.072, 0.032],
         [-0.01, -0.019], [0.004, 0.038], [-0.024, 0.016], [0.019, 0.054]],
        (1.5670518075135982, 0.1171025824964568),
        (-0.023203256966246998, 0.08082825696624699, 0.012406780448083599, 0.04521821955191639),
    ),
    (
        [[0.52, 0.469], [0.496, 0.541], [0.577, 0.439], [0.578, 0.569],
         [0.541, 0.515], [0.486, 0.575], [0.6, 0.592], [0.568, 0.52]],
        (2.9213126915875725, 0.003485597974182726),
        (0.4593927807355384, 0.6138572192644614, 0.5074859777507907, 0.5657640222492091),
    ),
    (
        [[0.0988, -0.0212], [-0.0354, 0.1141], [0.0533, 0.0283],
         [0.0244, 0.0547], [0.0251, 0.0527], [0.0312, 0.0499]],
        (1.197415256105788, 0.23114474017916664),
        (-0.03421553710261194, 0.11353220376927863, -0.003211816257983218, 0.08252848292464988),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("halves", "test", "ends"), OF_SHARP_CV)
def test_sharp_has_the_numbers_of_sharp_cv(halves, test, ends):
    """Statistic, p-value and intervals at 95 and 80 %; only the difference counts."""
    b = np.random.default_rng(0).random((len(halves), 2))
    found = tr.compare(np.array(halves) + b, b, test="sharp")
    assert found.value == pytest.approx(np.mean(halves))
    assert (found.statistic, found.p_value) == pytest.approx(test, rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends[:2], rel=1e-7)
    less = tr.compare(np.array(halves) + b, b, test="sharp", confidence_level=0.8).interval
    assert (less.low, less.high) == pytest.approx(ends[2:], rel=1e-7)
    assert (found.test, found.std_error, found.df, found.probability) == ("sharp", None, None, None)
    assert f"z = {found.statistic:.3f}" in str(found)


def test_sharp_takes_the_halves_of_estimates():
    """The risks in the halves of every repetition are those that the plan drew."""
    method = tr.methods.PairedHalves(3, pairs=4)
    a, b = (tr.estimate_risk(m, X, Y, cv=method) for m in (GaussianNB(), KNeighborsClassifier(1)))
    d = (a.split_risks - b.split_risks)[3:].reshape(8, 3).mean(axis=1).reshape(4, 2)
    found = tr.compare(a, b, test="sharp")
    assert found.statistic == pytest.approx(tr.compare(d, np.zeros((4, 2)), test="sharp").statistic)
    assert (found.n_pairs, found.scoring) == (4, "zero-one")
    # |z| of J repetitions is below √(2J): no finite end at 99 % for two.
    halves = [[0.1, 0.2], [0.3, 0.1]]
    found = tr.compare(halves, np.zeros((2, 2)), test="sharp", confidence_level=0.99)
    assert found.interval is None
    assert "no difference is rejected" in found.notes[0]
    assert found.p_value is not None


# Rscript -e 'options(digits=15); a <- c(.12,.10,.14,.08,.16,.11,.13,.09,.15,.12)
#   b <- c(.15,.13,.14,.12,.18,.10,.17,.13,.16,.14); d <- a-b; m <- mean(d)
#   se <- sqrt(var(d)*(1/10+10/90)); l <- pt((-.01-m)/se,9); r <- pt((.01-m)/se,9,lower=FALSE)
#   cat(l, 1-l-r, r)'


def bayes(**options):
    return tr.compare(A, B, test="bayes", n_train=90, n_test=10, **options)


def test_bayes_has_the_numbers_of_r() -> None:
    """P(better), P(equivalent), P(worse) for a region of ± .01."""
    expected = 0.914974123010596, 0.0834158160047518, 0.00161006098465252
    found = bayes()
    assert tuple(found.probabilities.values()) == pytest.approx(expected, rel=1e-11)
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-15)
    assert (found.test, found.p_value, found.rope) == ("bayes", None, 0.01)


def test_bayes_without_a_region_is_half_of_the_t_test() -> None:
    """At rope 0 P(worse) is half the p-value of Nadeau and Bengio, and nothing is equivalent."""
    found = bayes(rope=0)
    p = tr.compare(A, B, n_train=90, n_test=10).p_value
    assert found.worse == pytest.approx(p / 2, rel=1e-10)
    assert found.equivalent == pytest.approx(0, abs=1e-15)
    turned = tr.compare(B, A, test="bayes", n_train=90, n_test=10)
    assert (turned.better, turned.worse) == pytest.approx((bayes().worse, bayes().better), rel=1e-9)
    # Within its own interval taken as the region lies 95 % of the posterior.
    found = bayes()
    half = found.interval.width / 2
    shifted = tr.compare(A - found.difference, B, test="bayes", n_train=90, n_test=10, rope=half)
    assert shifted.equivalent == pytest.approx(0.95, abs=1e-9)


def losses(both, a_alone, b_alone, neither):
    """Losses of two rules with these counts."""
    counts = [both, a_alone, b_alone, neither]
    return np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)


# Rscript -e 'options(digits=15); m <- mcnemar.test(matrix(c(794,86,150,570),2))
#   k <- mcnemar.test(matrix(c(50,8,3,20),2)); cat(m$statistic, m$p.value,
#   binom.test(86,236)$p.value, k$statistic, k$p.value, binom.test(3,11)$p.value)'
@pytest.mark.parametrize(
    ("counts", "exact", "chi2", "p"),
    [
        ((570, 86, 150, 794), 3.71593613957143e-05, 16.8177966101695, 4.11456228134594e-05),
        ((20, 8, 3, 50), 0.2265625, 1.45454545454545, 0.227799993988229),
    ],
)
def test_mcnemar_has_the_numbers_of_r(counts, exact, chi2, p) -> None:
    """The exact p-value, and the chi-square with continuity correction and its p-value."""
    found = tr.compare(*losses(*counts), test="mcnemar")
    assert found.p_value == pytest.approx(exact, rel=1e-11)
    assert found.details["chi-square, corrected"] == pytest.approx(chi2, rel=1e-12)
    assert found.details["its p-value"] == pytest.approx(p, rel=1e-11)
    assert found.test == "mcnemar"
    assert found.difference == found.value == (counts[1] - counts[2]) / sum(counts)
    assert (found.details["a alone wrong"], found.details["b alone wrong"]) == counts[1:3]


def test_mcnemar_of_equal_counts() -> None:
    """As many errors of either alone: p = 1, not more; no row on which they differ: a note."""
    assert tr.compare(*losses(3, 4, 4, 3), test="mcnemar").p_value == 1
    assert tr.compare(*losses(3, 1, 0, 3), test="mcnemar").p_value == 1
    found = tr.compare(*losses(3, 0, 0, 5), test="mcnemar")
    assert (found.difference, found.p_value) == (0, None)
    assert "nothing tells them apart" in found.notes[0]


@pytest.mark.parametrize(("cv", "n", "assumed"), [("holdout", 20, 1), ("10-fold", 60, 2)])
def test_mcnemar_of_estimates(cv, n, assumed) -> None:
    a, b = (tr.estimate_risk(KNeighborsClassifier(k), X, Y, cv=cv) for k in (1, 9))
    found = tr.compare(a, b, test="mcnemar")
    assert found.difference == pytest.approx(a.value - b.value, abs=1e-15)
    assert (found.n_pairs, found.scoring) == (n, "zero-one")
    assert ["taken as fixed" in one for one in found.assumed] == [False, True][:assumed]


GROUPED = {"groups": np.arange(60) // 2}


@pytest.mark.parametrize(
    ("test", "cv", "options", "message"),
    [
        ("mcnemar", "2x5-fold", {}, "tests rows repeatedly"),
        ("mcnemar", "5-fold", GROUPED, "one group depend"),
        ("mcnemar", "5-fold", {**GROUPED, "interval": "bbc"}, "one group depend"),
        ("mcnemar", "5-fold", {"scoring": "brier"}, "must be 0 or 1"),
        ("mcnemar", "5-fold", {"sample_weight": np.arange(1.0, 61)}, "weights"),
        ("5x2", "10-fold", {}, "use cv='5x2-fold'"),
    ],
)
def test_compare_refuses_estimates_that_a_test_cannot_take(test, cv, options, message) -> None:
    a, b = (
        tr.estimate_risk(model, X, Y, cv=cv, **options)
        for model in (GaussianNB(), GaussianNB(var_smoothing=0.1))
    )
    with pytest.raises(Refusal, match=message):
        tr.compare(a, b, test=test)


@pytest.mark.parametrize(
    ("options", "message"), [(GROUPED, "group"), ({"sample_weight": np.arange(1.0, 61)}, "weights")]
)
def test_mcnemar_sees_groups_and_weights_of_a_rule_without_errors(options, message) -> None:
    """The first rule has the mean 0 with any weights, and the rows still depend."""
    x = np.column_stack([10 * Y, X[:, 1:]])
    models = GaussianNB(), DecisionTreeClassifier(max_depth=1, max_features=1, random_state=0)
    a, b = (tr.estimate_risk(model, x, Y, cv="5-fold", **options) for model in models)
    assert a.value == 0
    with pytest.raises(Refusal, match=message):
        tr.compare(a, b, test="mcnemar")


# Rscript -e 'options(digits=15); p <- matrix(c(.02,.05,-.01,.03,.04,0,.06,.02,.01,.03),5,
#   byrow=TRUE); s <- rowSums((p-rowMeans(p))^2); t <- p[1,1]/sqrt(mean(s))
#   f <- sum(p^2)/(2*sum(s)); cat(t, 2*pt(-abs(t),5), f, pf(f,10,5,lower=FALSE))'
P = np.array([0.02, 0.05, -0.01, 0.03, 0.04, 0.00, 0.06, 0.02, 0.01, 0.03])


def test_five_by_two_has_the_numbers_of_r() -> None:
    found = tr.compare(0.2 + P, np.full(10, 0.2), test="5x2", n_train=50, n_test=50)
    assert (found.statistic, found.p_value) == pytest.approx(
        (0.809776330178916, 0.454864137485221), rel=1e-11
    )
    assert tuple(found.details.values()) == pytest.approx(
        (1.72131147540984, 0.285373618756069), rel=1e-11
    )
    assert (found.test, found.df) == ("5x2", 5)


def test_five_by_two_of_estimates() -> None:
    """Odd numbers of rows have halves that differ by one; rows by folds give the same."""
    x, y = X[:59], Y[:59]
    rng = np.random.default_rng(0)
    folds = np.array([rng.permutation(59) % 2 for _ in range(5)])
    models = KNeighborsClassifier(1), KNeighborsClassifier(9)
    method = tr.methods.KFold(folds=folds, average="fold")
    a, b = (tr.estimate_risk(model, x, y, cv=method) for model in models)
    found = tr.compare(a, b, test="5x2")
    assert found.difference == pytest.approx(a.value - b.value, abs=1e-15)
    each = [tr.methods.KFold(folds=one) for one in folds]
    rows = [np.array([tr.estimate_risk(m, x, y, cv=one).losses for one in each]) for m in models]
    again = tr.compare(*rows, test="5x2", folds=folds)
    assert again.p_value == pytest.approx(found.p_value, rel=1e-9)
