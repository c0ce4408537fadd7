"""From a plan to answers: which engine, and the seed of each pass."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.engines.closed_forms import plan_of
from tests.support.data import checked, normal_rows

from truerisk.extend import Asking, Family, Refusal
from truerisk.losses import ZeroOne
from truerisk.methods import Bootstrap, Swapping
from truerisk.plan.answers import merge_runs

X, Y = normal_rows(40)[:2]
DATA = checked(np.hstack([X, X[::-1]]), Y)
PLAN = plan_of("4-fold", DATA)
SPLITS = Family.from_grid(DecisionTreeClassifier(splitter="random"))


def asking_of(family=SPLITS, **options):
    return Asking(family, DATA, ZeroOne(), **options)


def test_asking_gives_each_pass_a_seed_of_its_own():
    """The same seed makes the same passes, and a pass can be made again by its number."""
    one, again = asking_of(seed=5), asking_of(seed=5)
    first, second = one(PLAN).values, one(PLAN).values
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again(PLAN).values)
    np.testing.assert_array_equal(second, again(PLAN).values)
    np.testing.assert_array_equal(asking_of(seed=5, passes=1)(PLAN).values, second)


@pytest.mark.parametrize(
    ("model", "engine", "refused"),
    [
        (KNeighborsClassifier(), "knn", []),
        (DecisionTreeClassifier(splitter="random"), "tree", []),
        (KNeighborsClassifier(weights=np.exp), "generic", ["knn"]),
    ],
)
def test_asking_says_who_answered_and_who_refused(model, engine, refused):
    asking = asking_of(Family.from_grid(model))
    asking(PLAN)
    assert (asking.engine, list(asking.refusals)) == (engine, refused)


def test_asking_knows_answers_by_their_pass():
    """Answers of the second pass spare its fits; the first is asked, and the other way round."""
    plain = asking_of(seed=5)
    first, second = plain(PLAN), plain(PLAN)
    for known in ((None, second), (first, None), (first, second)):
        again = asking_of(seed=5, known=known)
        np.testing.assert_array_equal(again(PLAN).values, first.values)
        np.testing.assert_array_equal(again(PLAN).values, second.values)
        assert again.n_known == sum(one.n_fits for one in known if one is not None)


def test_asking_in_parts_draws_as_in_a_whole():
    """Fits keep their numbers; what is known of a part is not asked again."""
    whole = asking_of(seed=5, engine="generic")(PLAN)
    asking = asking_of(seed=5, engine="generic")
    parts = [np.arange(4)[None] % 2 == rest for rest in (0, 1)]
    found = [asking(PLAN, requested=part, number=0) for part in parts]
    assert [one.n_fits for one in found] == [2, 2]
    np.testing.assert_array_equal(merge_runs(found).values, whole.values)
    again = asking_of(seed=5, engine="generic", known=[found[0]])
    np.testing.assert_array_equal(again(PLAN).values, whole.values)
    assert again.n_known == 2


def models_of_swapping():
    plan = plan_of(Swapping(3), DATA)
    fits = np.arange(plan.n_fits)
    return list(asking_of().models(plan, 0 * fits, fits))


def in_parts():
    asking = asking_of(Family.from_grid(KNeighborsClassifier()))
    return asking(PLAN, requested=np.ones((1, 4), dtype=bool), number=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (in_parts, "engine 'knn' answers all settings in one pass"),
        (models_of_swapping, "changed labels"),  # rather than models of the labels as given
    ],
)
def test_asking_refuses(call, message):
    with pytest.raises(Refusal, match=message):
        call()


def test_asking_makes_again_the_models_that_answered():
    """The copies of a bootstrap sample train, and random models have the seeds of that pass."""
    plan = plan_of(Bootstrap(replicates=3), DATA)
    answered, again = asking_of(seed=5)(plan), asking_of(seed=5)
    fits = np.array([0, 2])
    models = again.models(plan, np.zeros(plan.n_fits, int), fits)
    for fit, model in zip(fits.tolist(), models, strict=True):
        question = int(np.flatnonzero(plan.fit == fit)[0])
        told = model.predict(DATA.X[plan.test_rows(question)[0]])
        np.testing.assert_array_equal(told, DATA.classes[answered.for_question(question)[0]])
