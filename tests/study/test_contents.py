"""Results as JSON and .npy bytes, and keys of learners and data: equal where fits are equal."""

import importlib
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from tests.support.words import built_here

import truerisk as tr
from truerisk.exceptions import BadStore
from truerisk.extend import Data, Family, Refusal
from truerisk.models import learner
from truerisk.study.keeping import data_content, learner_content, to_key_content
from truerisk.study.results import _summarise_cell
from truerisk.study.values import (
    derive_seed,
    hash_array,
    hash_plain_value,
    pack_result,
    to_canonical_json,
    unpack_result,
)


def test_pack_and_unpack_keep_every_bit():
    content = {
        "a": 0.1 + 0.2,
        "b": None,
        "c": ["x", {"d": True}],
        "e": np.array([[1.5, np.nan], [-0.0, np.inf]]),
        "f": np.float32(0.1),
        "g": np.array(["ä", "bcd"]),
    }
    packed = pack_result(content)
    back = unpack_result(packed.text, packed.npy)
    assert {k: back[k] for k in "abc"} == {k: content[k] for k in "abc"}
    for name in "efg":
        want = np.asarray(content[name])
        assert back[name].dtype == want.dtype
        assert back[name].tobytes() == want.tobytes()


def test_summed_losses_whose_squares_overflow_warn_of_nothing():
    cell = {"problem": "p", "size": 30, "learner": "l", "method": "m", "target": "Err"}
    found = {"low": None, "high": None, "n_fits": 1, "seconds": 1e205}
    rows = [{**cell, **found, "value": value, "truth": 1.0} for value in (1e200, 3e200)]
    summed = _summarise_cell(rows)
    assert summed["value"] == 2e200
    assert summed["rmse"] == np.inf


@pytest.mark.parametrize(
    "content",
    [
        {"x": object()},
        {"x": float("nan")},
        {"x": np.array([object()], dtype=object)},
        {"x": {1, 2}},
        {"arrays": 1},
    ],
)
def test_pack_refuses_what_is_no_json_and_the_reserved_name(content):
    with pytest.raises((ValueError, TypeError)):
        pack_result(content)


@pytest.mark.parametrize(
    ("text", "npy"),
    [("{", None), ("[]", None), ('{"arrays": ["x"]}', None), ('{"arrays": ["x"]}', b"\x93NUMPY")],
)
def test_unpack_refuses_changed_results(text, npy):
    with pytest.raises(BadStore, match="cannot be read"):
        unpack_result(text, npy)


def test_key_of_depends_on_content_alone():
    assert hash_plain_value({"a": 1, "b": [1, 2]}) == hash_plain_value({"b": [1, 2], "a": 1})
    assert hash_plain_value({"a": 1}) != hash_plain_value({"a": 1.5})
    assert hash_plain_value({"a": [1, 2]}) != hash_plain_value({"a": [2, 1]})
    assert hash_plain_value({"n": 30, "method": "loo"}) == "bcedd2cacb188753d51a1d17c6bb9c43"
    with pytest.raises(ValueError, match="JSON"):
        to_canonical_json({"x": float("nan")})


def test_seed_of_differs_by_number_and_stays_what_it_is():
    assert derive_seed("data", {"n": 30}, 7) == 5524585810055082709
    seeds = {derive_seed("x", number) for number in range(1000)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_digest_of_array_is_of_type_shape_and_content():
    A = np.arange(6.0).reshape(2, 3)
    assert hash_array(A) == hash_array(np.asfortranarray(A))
    others = [A.astype("f4"), A.reshape(3, 2), A + 1, np.array(["a"]), np.empty((0, 3))]
    ones = [np.array(1.0), np.array([1.0])]
    assert len({hash_array(a) for a in [A, *others, *ones]}) == 8


X, Y = tr.datasets.make_simple(12, random_state=0)


def key(value):
    """The key of one parameter."""
    return hash_plain_value(to_key_content(value, "learner 'a'"))


def made():
    """Models, pipelines, searches, kernels, splitters, scorers, NumPy's numbers, sets."""
    selector = make_column_selector("x")
    return [
        SVC(C=0.5, class_weight={0: 1, 1: 2.5}),
        make_pipeline(SimpleImputer(missing_values=np.nan), StandardScaler(), SVC()),
        ColumnTransformer([("a", "drop", slice(0, 1)), ("b", SVC(), selector)]),
        GridSearchCV(SVC(), {"C": (1, 2)}, cv=KFold(3), scoring=make_scorer(f1_score)),
        GaussianProcessClassifier(RBF(2.0) + WhiteKernel()),
        FunctionTransformer(np.log1p, kw_args={"where": np.array([True])}),
        PredefinedSplit([0, 1, 0]),
        get_scorer("roc_auc"),
        [np.float32(1), np.int64(2), np.str_("a"), b"x", 1j, range(3), {1, 2}, np.dtype("f4")],
        np.array([SVC(), None], dtype=object),
    ]


def test_learner_content_of_every_word_has_a_key():
    for word, task in built_here():
        model = learner(word, task, n_rows=100, n_classes=2, n_features=3)
        _, settings = learner_content(Family.from_grid(*model), word)
        assert len({hash_plain_value(setting) for setting in settings}) == len(settings) > 1


DIFFERENT = [
    1, 1.0, True, "1", None, float("nan"), float("inf"), np.float64(1), np.float32(1), [1], (1,),
    {1}, {"a": 1}, [1, 2], [2, 1], np.array([1]), np.array([1.0]), np.array([[1]]), b"1", 1j,
    SVC(), SVC(C=2), SVC(C=1), SVC(gamma=0.1), SVC(class_weight={0: 1}), SVC(class_weight={0: 2}),
    SVC, np.log, np.exp, KFold(3), KFold(4), StratifiedKFold(3), make_pipeline(SVC()),
    make_pipeline(SVC(C=2)), make_pipeline(StandardScaler(), SVC()),
    StandardScaler().set_output(transform="pandas"), StandardScaler(),
    get_scorer("f1"), make_scorer(f1_score, pos_label=0), GaussianNB(), RBF(1.0), RBF(2.0),
]  # fmt: skip


def test_content_has_one_key_for_equal_values_and_another_where_fits_may_differ():
    keys = [key(value) for value in made()]
    assert [key(value) for value in made()] == keys
    assert len(set(keys)) == len(keys)
    assert len({key(value) for value in DIFFERENT}) == len(DIFFERENT)


class Seen(GaussianNB):
    """Its source can be read."""


def only_here():
    """A function and a class that no one else can find."""

    class Hidden(GaussianNB):
        pass

    return lambda y, p: 0, Hidden()


UNKNOWN, HIDDEN = only_here()


@pytest.mark.parametrize(
    ("model", "grid", "named"),
    [
        (SVC(kernel=UNKNOWN), None, "learner 'a': kernel is <function"),
        (SVC(), {"kernel": [UNKNOWN]}, "learner 'a': kernel is <function"),
        (make_pipeline(SVC(kernel=UNKNOWN)), None, "learner 'a': steps__kernel is <function"),
        (HIDDEN, None, "only_here.<locals"),
        (FrozenEstimator(SVC()), None, "learner 'a' is FrozenEstimator"),
        (
            RandomForestClassifier(random_state=np.random.RandomState(0)),
            None,
            "learner 'a': random_state is RandomState",
        ),
        (FunctionTransformer(partial(np.add, 1)), None, "learner 'a': func is functools.partial"),
        (GridSearchCV(SVC(), {}, cv=KFold(3).split(X)), None, "learner 'a': cv is <generator"),
        (GridSearchCV(SVC(), {}, scoring=make_scorer(UNKNOWN)), None, "scoring___score_func is"),
        (SVC(class_weight={0: object()}), None, "learner 'a': class_weight__0 is <object"),
    ],
)
def test_learner_content_refuses_what_has_no_key_by_name(model, grid, named):
    with pytest.raises(Refusal, match="cannot be written down as a key") as caught:
        learner_content(Family.from_grid(model, grid), "a")
    assert named in str(caught.value)


def test_content_of_changed_class_has_another_key(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = (
        "from sklearn.naive_bayes import GaussianNB\n"
        "class Mine(GaussianNB):\n    def predict(self, X):\n        return {}\n"
        "class Child(Mine):\n    pass\n"
        "def loss(y, p):\n    return {}\n"
    )
    keys = []
    for body in ("1", "1", "22"):
        (tmp_path / "mine_of_test.py").write_text(text.format(body, body))
        sys.modules.pop("mine_of_test", None)
        importlib.invalidate_caches()
        module = importlib.import_module("mine_of_test")
        keys.append([key(module.Mine()), key(module.Child()), key(module.loss)])
    assert keys[0] == keys[1]
    assert all(a != b for a, b in zip(keys[0], keys[2], strict=True))


def test_content_has_the_version_of_the_package(monkeypatch):
    package = sys.modules[Seen.__module__.partition(".")[0]]
    before = key(Seen())
    monkeypatch.setattr(package, "__version__", "2.0", raising=False)
    second = key(Seen())
    monkeypatch.setattr(package, "__version__", "2.1")
    assert len({before, second, key(Seen())}) == 3


def of(X=X, y=Y, task="classification", **more):
    """The key of data."""
    return hash_plain_value(data_content(Data.check(X, y, task=task, **more)))


def changed():
    """The same rows, each time with one thing changed."""
    one, other = X.copy(), Y.copy()
    one[3, 1] = np.nextafter(one[3, 1], 9)
    other[0] = 1 - other[0]
    frame = pd.DataFrame(X, columns=list("ab"))
    letters = pd.Series(list("xy") * 6)
    return {
        "nothing": of(),
        "one bit": of(one),
        "-0": of(X * 0.0),
        "+0": of(X * -0.0),
        "label": of(y=other),
        "words": of(y=np.array(["u", "v"])[Y]),
        "task": of(task="regression", y=Y.astype(float)),
        "columns": of(np.asfortranarray(X)),
        "type": of(X.astype("f4")),
        "frame": of(frame),
        "names": of(frame.rename(columns={"a": "c"})),
        "text": of(frame.assign(a=letters.astype(object))),
        "categories": of(frame.assign(a=letters.astype("category"))),
        "their order": of(frame.assign(a=pd.Categorical(letters, categories=["y", "x"]))),
        "sparse": of(sparse.csr_array(X)),
        "wider": of(sparse.csr_array(np.hstack([X, np.zeros((12, 1))]))),
        "groups": of(groups=np.arange(12) % 4),
        "weights": of(sample_weight=np.arange(12.0)),
        "fitted weights": of(fit_params={"sample_weight": np.arange(12.0)}),
        "other weights": of(fit_params={"sample_weight": np.arange(1, 13.0)}),
        "a flag": of(fit_params={"check": True}),
    }


def test_data_content_has_one_key_for_equal_data_and_another_for_changed():
    assert of() == of(X.copy(), Y.copy())
    assert of(pd.DataFrame(X, columns=list("ab"))) == of(pd.DataFrame(X, columns=list("ab")))
    weights = np.linspace(1, 2, 12)
    first, second = (of(fit_params={"sample_weight": pd.Series(weights)}) for _ in range(2))
    assert first == second
    keys = changed()
    assert len(set(keys.values())) == len(keys)
