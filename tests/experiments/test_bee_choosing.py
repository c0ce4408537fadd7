"""The choice of every method on one training set, the error of its rule; how sizes are reported."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import truerisk as tr
from truerisk.datasets import make_four_class, make_simple, make_sparse_gaussian
from truerisk.experiments.bee_choosing import (
    BAYES_ERROR,
    COSTS,
    LAMBDAS,
    NOT_CONVERGED,
    ORACLE,
    TrainedFamily,
    choices_by_size,
    compare_choices,
    convergence_note,
    draw_sparse_gaussian,
    error_rates,
    heat_maps,
    l1_logistic,
    linear_svms,
    mean_grid,
    methods_by_name,
    permutation_p_value,
    record_non_convergence,
    select_learner_values,
    size_tables,
    split_by_size,
    std_differences,
    table_quoting_paper,
)
from truerisk.extend import Family, TrueRiskWarning
from truerisk.methods.kfold import KFold
from truerisk.models import LogisticPath
from truerisk.plan.extras.model_facts import get_linear_rules
from truerisk.selection import as_rule

TRAIN = make_four_class(40, random_state=0)
TEST = make_four_class(400, random_state=1)


def of_rows(X, y):
    """The errors of rules among these rows."""
    return lambda _, rules: error_rates(X, y, rules)


def test_bee_draw_has_classes_in_turn_with_the_moments_of_the_problem():
    X, y, _ = draw_sparse_gaussian(np.random.default_rng(0), 40_000)
    assert y[:5].tolist() == [0, 1, 0, 1, 0]
    few, labels, _ = draw_sparse_gaussian(np.random.default_rng(0), 28, 250)
    assert few.shape == (28, 264)
    assert labels.sum() == 14
    for label in (0, 1):
        rows = X[y == label]
        off = rows.mean(axis=0) - make_sparse_gaussian.means[label]
        assert abs(off).max() < 4.5 / np.sqrt(len(rows))
        gaps = np.cov(rows.T) - make_sparse_gaussian.covariances[label]
        assert abs(gaps).max() < 4.5 * np.sqrt(2 / len(rows))


@pytest.mark.parametrize("family", [l1_logistic(), linear_svms()])
def test_trained_errors_are_those_of_the_fitted_models(family):
    for drawn in (slice(None), TRAIN[1] < 2):
        X, y = TRAIN[0][drawn], TRAIN[1][drawn]
        trained = TrainedFamily.from_family(family, (X, y, of_rows(*TEST)))
        for candidate in (0, len(family) // 2, len(family) - 1):
            model = family.make(candidate).fit(X, y)
            assert trained.errors[candidate] == (model.predict(TEST[0]) != TEST[1]).mean()


def test_trained_choice_by_cross_validation_is_that_of_grid_search():
    X, y = TRAIN
    labels = np.arange(len(y)) % 5
    folds = [(np.flatnonzero(labels != f), np.flatnonzero(labels == f)) for f in range(5)]
    family = linear_svms()
    search = GridSearchCV(clone(family.estimator), {"C": list(COSTS)}, cv=folds).fit(X, y)
    trained = TrainedFamily.from_family(family, (X, y, of_rows(*TEST)))
    wrong = (search.predict(TEST[0]) != TEST[1]).mean()
    assert trained.evaluate_choice(KFold(5, folds=labels))[1] == wrong


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_trained_choice_has_estimate_error_and_number_of_features(rule):
    for drawn in (TRAIN[1] < 2, slice(None)):
        X, y = TRAIN[0][drawn], TRAIN[1][drawn]
        family, method = l1_logistic(), KFold(5, folds=np.arange(len(y)) % 5)
        curve = tr.risk_curve(
            LogisticPath(lambdas=LAMBDAS), {"at": range(36)}, X, y, cv=method, rule=rule
        )
        model = family.make(curve.best).fit(X, y)
        error = (model.predict(TEST[0]) != TEST[1]).mean()
        n_features = model.coef_.any(axis=0).sum()
        trained = TrainedFamily.from_family(family, (X, y, of_rows(*TEST)))
        found = trained.evaluate_choice(method, rule=as_rule(rule))
        assert found == (curve.values[curve.best], error, n_features)


def one_size(family, X, y, errors_of, methods, number=0):
    """What one learner finds on one training set."""
    learners = {"LR": (family, methods)}
    found = choices_by_size((len(y),), learners, lambda n: (X, y, errors_of), number)
    return {name.removeprefix("LR "): errors[0] for name, errors in found.items()}


def test_choices_by_size_never_beat_the_oracle():
    names = ["CV-5", "CV-10", "3×CV-5", "BEEp", "BEEi", "EBIC", "LOO"]
    methods = methods_by_name(names, standardize=True)
    words = ["5-fold", "10-fold", "3x5-fold", "bee", "bee-improper", "ebic", "loo"]
    assert [method.name for method in methods.values()] == words
    found = one_size(l1_logistic(), *TRAIN, of_rows(*TEST), methods)
    kept = [f"{name}{what}" for name in names for what in (" estimate", "", " features")]
    assert list(found) == [*kept, ORACLE, NOT_CONVERGED]
    assert min(found[name] for name in methods) >= found[ORACLE]
    assert found[NOT_CONVERGED] == 0


def test_choices_by_size_have_sizes_as_columns():
    asked = []

    def drawn(size):
        asked.append(size)
        return draw_sparse_gaussian(np.random.default_rng(size), size)

    methods = methods_by_name(["CV-5"])
    learners = {"LR": (l1_logistic(), methods)}
    found = choices_by_size((28, 50), learners, drawn, 1)
    assert asked == [28, 50]
    kept = [f"LR CV-5{what}" for what in (" estimate", "", " features")]
    assert list(found) == [*kept, f"LR {ORACLE}", f"LR {NOT_CONVERGED}"]
    for place, size in enumerate((28, 50)):
        alone = one_size(l1_logistic(), *drawn(size), methods, 1)
        assert {name: errors[place] for name, errors in found.items()} == {
            f"LR {name}": error for name, error in alone.items()
        }


def test_trained_errors_of_synthetic_rules_are_exact():
    trained = TrainedFamily.from_family(
        l1_logistic(), draw_sparse_gaussian(np.random.default_rng(0), 60, 3)
    )
    X, y, _ = draw_sparse_gaussian(np.random.default_rng(1), 200_000, 3)
    (rules,) = get_linear_rules(trained.answers)
    counts, error = error_rates(X, y, rules), trained.errors
    assert (np.abs(error - counts) < 4 * np.sqrt(error * (1 - error) / len(y))).all()
    assert round(ndtr(-2), 3) == BAYES_ERROR < error.min()


SIZES = (20, 40)
DRAWS = {
    "CV-5": np.array([[0.3, 0.2], [0.3, 0.2], [0.2, 0.3]]),
    "BEEp": np.array([[0.2, 0.2], [0.1, 0.3], [0.1, 0.2]]),
}


def one(draws, *said):
    """The sentence about the choices of one learner at one size."""
    (statement,) = compare_choices(draws, SIZES, said)
    return statement


def test_less_is_judged_by_learner_and_size():
    many = {name: np.tile(errors, (10, 1)) for name, errors in DRAWS.items()}
    assert one(DRAWS, "", "BEEp", "CV-5", 0).verdict == "undecided"
    assert one(many, "", "BEEp", "CV-5", 0).verdict == "holds"
    assert one(many, "", "CV-5", "BEEp", 0).verdict == "does not hold"
    undecided = one(many, "", "BEEp", "CV-5", 1)
    assert undecided.verdict == "undecided"
    assert undecided.lines[0].startswith("CV-5 − BEEp: 0.0000 ± ")
    assert "permutation" in undecided.lines[1]
    draws = {f"LR {name}": errors for name, errors in many.items()}
    named = compare_choices(draws, SIZES, ("LR", "BEEp", "CV-5", 0, -1), text_suffix=" (printed)")
    assert [statement.text for statement in named] == [
        "LR: BEEp lies below CV-5 at n = 20 (printed)",
        "LR: BEEp lies below CV-5 at n = 40 (printed)",
    ]
    assert select_learner_values(draws, "LR", ["BEEp"]) == {"BEEp": draws["LR BEEp"]}


def test_spread_gaps_compare_with_the_smallest_of_others():
    draws = {k: k * np.random.default_rng(k).normal(size=(500, 1)) for k in (1, 2, 3)}
    for first, others, verdict in (
        (1, (2, 3), "holds"),
        (2, (1, 3), "does not hold"),
        (1, (1,), "undecided"),
    ):
        (found,) = std_differences(draws, (20,), "q", first, *others)
        assert (found.name, found.verdict()) == ("q, n = 20", verdict)
    assert found.value == 0


def test_mean_grid_has_means_by_size():
    grid = mean_grid(DRAWS, SIZES, "errors")
    assert grid.columns == ("n = 20", "n = 40")
    assert [row.means[0] for row in grid.rows] == pytest.approx([0.8 / 3, 0.4 / 3])
    assert "0.2667 ± 0.0333" in str(grid)
    told = split_by_size("gap", DRAWS["CV-5"], SIZES)
    assert {name: of.tolist() for name, of in told.items()} == {
        "gap, n = 20": [0.3, 0.3, 0.2],
        "gap, n = 40": [0.2, 0.2, 0.3],
    }


def test_shaded_panels_read_printed_rows():
    draws = {"CV-5": np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]), "CV-10": np.zeros((2, 3))}
    paper = {"CV-5": (".092 ± .025", "", ".064")}
    ours, theirs = heat_maps(draws, paper, (28, 50, 100), "toy")
    assert ours.series[0].y == pytest.approx([0.2, 0.2, 0.2])
    assert theirs.series[0].y == pytest.approx([0.092, np.nan, 0.064], nan_ok=True)
    assert ours.names == theirs.names == ("n = 28", "n = 50", "n = 100")
    assert [one.label for one in ours.series] == ["CV-5"]


def test_heat_map_marks_choices_that_beat_cv_or_lose_to_it():
    """Ten equal differences of one sign have p = 2⁻¹⁰; only our errors are marked."""
    draws = {"LR CV-5": np.full((10, 3), 0.2), "LR BEEp": np.tile([0.1, 0.2, 0.3], (10, 1))}
    printed = dict.fromkeys(draws, (".1", ".2", ".3"))
    ours, theirs = heat_maps(draws, printed, (28, 50, 100), "toy")
    assert (ours.marked, theirs.marked) == (("   ", "+ −"), ())


def test_size_tables_compare_references_of_the_same_recipe():
    many = {name: np.tile(errors, (4, 1)) for name, errors in DRAWS.items()}
    _, table = size_tables(many, SIZES, {"BEEp": (0.1, 0.2333)}, 400, ", toys")
    assert table.title == "n = 40, toys"
    assert [row.verdict for row in table.rows] == ["not printed", "agrees"]
    told = table_quoting_paper(DRAWS, SIZES, {"CV-5": (".27", "")})
    assert [row.name for row in told.rows] == ["CV-5, n = 20 (document: .27)"]


def test_convergence_note_counts_paths_that_stopped_short():
    assert "NOT CONVERGED: in 1 of 4" in convergence_note(np.array([[0, 0], [0, 1.0]]))
    assert "every path converged" in convergence_note(np.zeros((2, 2)))
    some = convergence_note(np.array([[0, np.nan], [1, np.nan]]))
    assert some.startswith("NOT KNOWN of 2 of 4 runs whether a path stopped short")
    assert some.endswith("Of the others 1 have one that did.")


def test_permutation_p_is_one_sided_and_counts_signs():
    gaps = np.full(20, 0.1)
    assert permutation_p_value(gaps) < 1e-3
    assert permutation_p_value(-gaps) > 0.99
    assert 0.2 < permutation_p_value(np.tile([0.1, -0.1], 10)) < 0.8
    assert permutation_p_value(np.array([0.1, 0.2, 0.1])) == pytest.approx(1 / 8, abs=0.015)


def test_paths_that_stop_short_are_counted_unless_a_thread_hears_no_warnings():
    X, y = make_simple(40, random_state=0)
    short = Family.from_grid(LogisticPath(lambdas=(0.1, 0.001), max_iter=1), {"at": [0, 1]})
    assert one_size(short, X, y, of_rows(X, y), methods_by_name(["CV-5"]))[NOT_CONVERGED] == 1
    given = l1_logistic(), X, y, of_rows(X, y), methods_by_name(["BEEp"])
    with ThreadPoolExecutor(1) as other:
        assert np.isnan(other.submit(one_size, *given).result()[NOT_CONVERGED])
    assert one_size(*given)[NOT_CONVERGED] == 0


def warned():
    with record_non_convergence() as short:
        warnings.warn("some folds hold none of it", TrueRiskWarning, stacklevel=1)
        warnings.warn("not converged", ConvergenceWarning, stacklevel=1)
        warnings.warn("another", UserWarning, stacklevel=1)
    return float(short)


def test_unconverged_keeps_other_warnings():
    with pytest.warns(UserWarning, match="another") as heard:
        assert warned() == 1
    assert len(heard) == 1
