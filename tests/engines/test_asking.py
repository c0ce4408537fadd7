"""From a plan to answers: which engine, and the seed of each pass."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import NoEngine, Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.asking import Asking
from truerisk.losses.loss_words import as_loss
from truerisk.plan.answers import filled

X, Y = tr.datasets.make_simple(40, random_state=2)
DATA = Data.check(np.hstack([X, X[::-1]]), Y, task="classification")
PLAN = tr.methods.KFold(4).plan(DATA, Streams(0))
LOSS = as_loss(None, DATA)
SPLITS = Family.of(DecisionTreeClassifier(splitter="random"))


def of(family=SPLITS, **options):
    return Asking(family, DATA, LOSS, **options)


def test_passes_have_seeds_of_their_own():
    """The second pass draws other trees than the first, and the same seed the same passes."""
    one, again = of(seed=5), of(seed=5)
    first, second = one(PLAN).values, one(PLAN).values
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again(PLAN).values)
    np.testing.assert_array_equal(second, again(PLAN).values)


def test_a_pass_can_be_made_again_by_its_number():
    """As the out-of-fold scores are those of the models that were tested."""
    one = of(seed=5)
    one(PLAN)
    second = one(PLAN).values
    np.testing.assert_array_equal(of(seed=5, passes=1)(PLAN).values, second)


def test_it_says_who_answered_and_who_refused():
    """The word of the engine, and the reason of each one before it that serves the learner."""
    asking = of(Family.of(KNeighborsClassifier()))
    asking(PLAN)
    assert (asking.engine, asking.refusals) == ("knn", {})
    asking = of()
    asking(PLAN)
    assert (asking.engine, asking.refusals) == ("tree", {})
    asking = of(Family.of(KNeighborsClassifier(weights=np.exp)))
    asking(PLAN)
    assert (asking.engine, list(asking.refusals)) == ("generic", ["knn"])


def test_an_engine_that_was_asked_for_answers_or_says_why_not():
    """It is not replaced by another."""
    with pytest.raises(NoEngine, match="engine 'knn' cannot answer"):
        of(engine="knn")(PLAN)


def test_what_is_known_is_known_by_its_pass():
    """Answers of the second pass spare its fits; the first is asked, and the other way round."""
    plain = of(seed=5)
    first, second = plain(PLAN), plain(PLAN)
    for known in ((None, second), (first, None), (first, second)):
        again = of(seed=5, known=known)
        np.testing.assert_array_equal(again(PLAN).values, first.values)
        np.testing.assert_array_equal(again(PLAN).values, second.values)
        assert again.n_known == sum(one.n_fits for one in known if one is not None)


def test_a_pass_that_is_asked_in_parts_draws_as_a_whole():
    """Fits keep their numbers; what is known of a part is not asked again."""
    whole = of(seed=5, engine="generic")(PLAN)
    asking = of(seed=5, engine="generic")
    parts = [np.arange(4)[None] % 2 == rest for rest in (0, 1)]
    found = [asking(PLAN, asked=part, number=0) for part in parts]
    assert [one.n_fits for one in found] == [2, 2]
    np.testing.assert_array_equal(filled(found).values, whole.values)
    again = of(seed=5, engine="generic", known=[found[0]])
    np.testing.assert_array_equal(again(PLAN).values, whole.values)
    assert again.n_known == 2


def test_an_engine_that_answers_all_is_not_asked_in_parts():
    """It would be asked for nothing: the race is refused, with what to do."""
    asking = of(Family.of(KNeighborsClassifier()))
    with pytest.raises(Refusal, match="engine 'knn' answers all settings in one pass"):
        asking(PLAN, asked=np.ones((1, 4), dtype=bool), number=0)


def test_models_are_those_that_answered():
    """The copies of a bootstrap sample train, and random models have the seeds of that pass."""
    plan = tr.methods.Bootstrap(replicates=3).plan(DATA, Streams(0))
    answered, again = of(seed=5)(plan), of(seed=5)
    fits = np.array([0, 2])
    models = list(again.models(plan, np.zeros(plan.n_fits, int), fits))
    for fit, model in zip(fits.tolist(), models, strict=True):
        question = int(np.flatnonzero(plan.fit == fit)[0])
        told = model.predict(DATA.X[plan.test_rows(question)[0]])
        np.testing.assert_array_equal(told, DATA.classes[answered.of(question)[0]])


def test_models_of_changed_labels_are_not_made_again():
    """Rather a refusal than models of the labels as given."""
    plan = tr.methods.Swapping(3).plan(DATA, Streams(0))
    asking, fits = of(), np.arange(plan.n_fits)
    with pytest.raises(Refusal, match="changed labels"):
        list(asking.models(plan, 0 * fits, fits))
