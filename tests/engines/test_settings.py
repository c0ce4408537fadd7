"""How the candidates of a family group for one pass."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import truerisk as tr
from truerisk.core.family import Family
from truerisk.engines.settings import family_refusal, groups_along


def test_a_group_differs_along_the_pass_only():
    """Candidates with one fit_intercept share a group, in the order of the grid."""
    family = Family.of(Ridge(), {"alpha": [1, 2], "fit_intercept": [True, False]})
    groups = groups_along(family, ["alpha"])
    assert [group.candidates.tolist() for group in groups] == [[0, 2], [1, 3]]
    assert [group.values("alpha").tolist() for group in groups] == [[1, 2], [1, 2]]


def test_a_parameter_of_the_same_name_in_another_step_separates():
    """n_neighbors of the embedding is not n_neighbors of the neighbours."""
    model = make_pipeline(Isomap(), KNeighborsClassifier())
    grid = {"isomap__n_neighbors": [4, 8], "kneighborsclassifier__n_neighbors": [1, 3]}
    groups = groups_along(Family.of(model, grid), ["n_neighbors"])
    assert sorted(group.candidates.tolist() for group in groups) == [[0, 1], [2, 3]]
    X, y = tr.datasets.make_difficult(30, random_state=0)
    fast = tr.risk_curve(model, grid, X, y, cv="3-fold")
    assert fast.common.engine == "knn"
    slow = tr.risk_curve(model, grid, X, y, cv="3-fold", engine="generic")
    np.testing.assert_array_equal(fast.values, slow.values)


def test_steps_that_learn_are_kept_apart_from_steps_that_do_not():
    """One step that learns makes all of them a preparation of every fit."""
    learned = groups_along(Family.of(make_pipeline(StandardScaler(), Ridge())), ["alpha"])[0]
    assert learned.preparation is not None
    assert learned.rowwise is None
    alone = groups_along(Family.of(make_pipeline(Normalizer(), Ridge())), ["alpha"])[0]
    assert alone.preparation is None
    assert alone.rowwise is not None


def test_settings_are_read_without_making_models():
    """The parameters of the last step, those of the grid in place of its own."""
    model = make_pipeline(StandardScaler(), Ridge(alpha=3.0))
    family = Family.of(model, {"ridge__alpha": [1.0], "standardscaler__with_mean": [False]})
    assert family.settings[0]["alpha"] == 1.0
    assert family.settings[0]["fit_intercept"] is True


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (Family.of(KNeighborsClassifier()), "the learner is KNeighborsClassifier, not Ridge"),
        (Family.of(make_pipeline(PCA(), Ridge(), memory="here")), "caches its steps"),
        (Family.of(make_pipeline(PCA(), Ridge()), {"ridge": [Ridge(2)]}), "replaces the learner"),
        (
            Family.of(make_pipeline(PCA(svd_solver="randomized"), Ridge())),
            "is random and has no seed",
        ),
    ],
)
def test_refuses_what_it_cannot_read(family, words):
    """Another learner, a cache, a replaced learner, a random step: each has its sentence."""
    assert words in family_refusal(family, (Ridge,))


def test_serves_the_learner_alone_and_last():
    """A plain learner and a pipeline that ends in it are served."""
    assert family_refusal(Family.of(Ridge()), (Ridge,)) is None
    assert family_refusal(Family.of(make_pipeline(StandardScaler(), Ridge())), (Ridge,)) is None
