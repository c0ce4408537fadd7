"""How the candidates of a family group for one pass, and which steps are fitted apart."""

from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked, normal_rows

import truerisk as tr
from truerisk.engines.running.shared_steps import SharedSteps
from truerisk.engines.settings import family_refusal, group_candidates, separate_steps_refusal
from truerisk.engines.trees.growing import can_fit_steps_separately, has_no_steps
from truerisk.extend import Family, Refusal

X, Y = normal_rows(40)[:2]
NEIGHBOURS = {"m__n_neighbors": [1, 3]}


def groups(model, grid, *names):
    return group_candidates(Family.from_grid(model, grid), names)


def test_groups_along_differ_along_the_pass_only():
    """Candidates with one fit_intercept share a group, in the order of the grid."""
    found = groups(Ridge(), {"alpha": [1, 2], "fit_intercept": [True, False]}, "alpha")
    assert [group.candidates.tolist() for group in found] == [[0, 2], [1, 3]]
    assert [group.values("alpha").tolist() for group in found] == [[1, 2], [1, 2]]


def test_groups_along_take_a_parameter_of_another_step_for_another():
    """n_neighbors of the embedding is not n_neighbors of the neighbours."""
    model = make_pipeline(Isomap(), KNeighborsClassifier())
    grid = {"isomap__n_neighbors": [4, 8], "kneighborsclassifier__n_neighbors": [1, 3]}
    found = groups(model, grid, "n_neighbors")
    assert sorted(group.candidates.tolist() for group in found) == [[0, 1], [2, 3]]
    fast, slow = (
        tr.risk_curve(model, grid, X, Y, cv="3-fold", engine=engine)
        for engine in ("knn", "generic")
    )
    np.testing.assert_array_equal(fast.values, slow.values)


@pytest.mark.parametrize(("step", "learns"), [(StandardScaler(), True), (Normalizer(), False)])
def test_groups_along_keep_steps_that_learn_apart_from_steps_that_do_not(step, learns):
    """One step that learns makes all of them a preparation of every fit."""
    (group,) = groups(make_pipeline(step, Ridge()), None, "alpha")
    assert (group.preparation is not None, group.rowwise is not None) == (learns, not learns)


def test_family_settings_are_those_of_the_grid_in_place_of_the_learners_own():
    model = make_pipeline(StandardScaler(), Ridge(alpha=3.0))
    family = Family.from_grid(model, {"ridge__alpha": [1.0], "standardscaler__with_mean": [False]})
    assert (family.settings[0]["alpha"], family.settings[0]["fit_intercept"]) == (1.0, True)


def followed(step):
    """Return the step with a callback of scikit-learn that follows its fits."""
    step._skl_callbacks = [object()]
    return step


RANDOM = make_pipeline(PCA(svd_solver="randomized"), Ridge())


@pytest.mark.parametrize(
    ("model", "grid", "words"),
    [
        (KNeighborsClassifier(), None, "the learner is KNeighborsClassifier, not Ridge"),
        (make_pipeline(PCA(), Ridge(), memory="here"), None, "caches its steps"),
        (make_pipeline(PCA(), Ridge()), {"ridge": [Ridge(2)]}, "replaces the learner"),
        (RANDOM, None, "is random and has no seed"),
        (followed(Ridge()), None, "callbacks follow"),
        (Ridge(), None, "None"),
        (make_pipeline(StandardScaler(), Ridge()), None, "None"),
    ],
)
def test_family_refusal_says_what_it_cannot_read(model, grid, words):
    assert words in str(family_refusal(Family.from_grid(model, grid), (Ridge,)))


def pipe(*, scaler=None, **options):
    return Pipeline([("s", scaler or StandardScaler()), ("m", KNeighborsClassifier())], **options)


@pytest.mark.parametrize(
    ("model", "more", "routed", "reason"),
    [
        (pipe(memory="cache"), {}, False, "caches its steps"),
        (pipe(verbose=True), {}, False, "says how long"),
        (pipe(), {"verbose": [True, False]}, False, "the grid sets verbose"),
        (followed(pipe()), {}, False, "callbacks follow"),
        (pipe(scaler=followed(StandardScaler())), {}, False, "callbacks follow"),
        (pipe(), {"s": [followed(MinMaxScaler())]}, False, "callbacks follow"),
        (pipe(), {}, True, "metadata are routed"),
        (pipe(), {}, False, None),
    ],
)
def test_why_not_apart_leaves_to_the_pipeline_what_could_tell(model, more, routed, reason):
    """With its reason, by engines in one pass, by the tree builder and by the trie."""
    with sklearn.config_context(enable_metadata_routing=True) if routed else nullcontext():
        family = Family.from_grid(model, NEIGHBOURS | more)
        assert (reason or "None") in str(separate_steps_refusal(family))
        assert (SharedSteps.from_family(family, checked(X, Y), 2) is None) == (reason is not None)
        assert reason is None or not can_fit_steps_separately(family)
        with pytest.raises(Refusal, match=reason) if reason else nullcontext():
            tr.risk_curve(model, NEIGHBOURS | more, X, Y, engine="knn")


@pytest.mark.parametrize("verbose", [False, True])
def test_stands_alone_leaves_a_pipeline_of_one_step_that_speaks(verbose):
    family = Family.from_grid(Pipeline([("tree", DecisionTreeClassifier())], verbose=verbose))
    assert has_no_steps(family) != verbose
    assert separate_steps_refusal(Family.from_grid(DecisionTreeClassifier())) is None


def test_estimate_risk_of_a_pipeline_that_prints_prints(capsys):
    tr.estimate_risk(pipe(verbose=True), X, Y, cv="3-fold")
    assert capsys.readouterr().out.count("(step 1 of 2) Processing s") == 3
