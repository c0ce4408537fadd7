"""Old names of parameters, options and attributes are refused with the names that replaced them."""

from inspect import signature

import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.adversary.commands import called

import truerisk as tr
from truerisk.core.arguments import NEW_NAME_BY_OLD
from truerisk.extend import Family, IntervalForm, Loss, Method, OnePass, Plan, Rule
from truerisk.validation.subgroups import Subgroup

X, Y = tr.datasets.make_difficult(40, random_state=2)
CALLS = {
    "HonestSearchCV": lambda **old: tr.HonestSearchCV(GaussianNB(), **old),
    "set_params": lambda **old: tr.HonestSearchCV(GaussianNB()).set_params(**old),
    "estimate_risk": lambda **old: tr.estimate_risk(GaussianNB(), X, Y, **old),
    "risk_curve": lambda **old: tr.risk_curve(GaussianNB(), {}, X, Y, **old),
    "assess": lambda **old: tr.assess(["lda"], X, Y, **old),
    "audit": lambda **old: tr.audit(GaussianNB(), X, Y, **old),
    "learning_curve": lambda **old: tr.learning_curve(GaussianNB(), X, Y, **old),
    "validate": lambda **old: tr.validate(GaussianNB(), X, Y, **old),
    "permutation_test": lambda **old: tr.permutation_test(GaussianNB(), X, Y, **old),
    "reproduce": lambda **old: tr.experiments.reproduce("mehta", **old),
}
COMMANDS = ["estimate", "assess", "validate", "permute", "audit", "plan", "reproduce"]


FACES = {**{name: getattr(tr, name, None) for name in CALLS}, "set_params": tr.HonestSearchCV}
FACES["reproduce"] = tr.experiments.reproduce
RENAMED = [
    (name, old, new)
    for name, face in FACES.items()
    for old, new in NEW_NAME_BY_OLD.items()
    if new in signature(face).parameters
]


@pytest.mark.parametrize(("name", "old", "new"), RENAMED)
def test_old_name_is_refused_with_the_new_one(name, old, new):
    with pytest.raises(TypeError, match=f"^`{old}` is now `{new}`.$"):
        CALLS[name](**{old: None})


def test_old_names_are_refused_by_the_faces_that_have_the_new_ones():
    words = ("cv", "scoring", "n_jobs")
    faces = [{name for name, _, new in RENAMED if new == word} for word in words]
    assert [len(each) for each in faces] == [6, 7, len(CALLS)]
    with pytest.raises(TypeError, match="unexpected keyword argument 'method'"):
        CALLS["audit"](method="loo")


def test_old_name_is_refused_by_set_params_within_a_pipeline():
    search = tr.HonestSearchCV(GaussianNB(), n_jobs=2)
    assert clone(search).get_params(deep=False)["n_jobs"] == 2
    assert not NEW_NAME_BY_OLD.keys() & search.get_params(deep=False).keys()
    with pytest.raises(TypeError, match="`executor` is now `n_jobs`"):
        make_pipeline(search).set_params(honestsearchcv__executor=2)


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [(command, "--executor", "--n-jobs") for command in COMMANDS]
    + [(command, "--method", "--cv") for command in COMMANDS[:4]]
    + [(command, old, "--scoring") for command in COMMANDS[:4] for old in ("--loss", "--scores")],
)
def test_old_option_is_refused_with_the_new_one(command, old, new):
    code, _, said = called([command, old, "2"])
    assert code == 2
    assert f"Error: {old} is now {new}." in said


def test_old_option_of_a_command_without_the_new_one_is_unknown():
    code, _, said = called(["audit", "--method", "loo"])
    assert code == 2
    assert "--method" in said
    assert "is now" not in said


@pytest.mark.parametrize(
    ("owner", "old", "new"),
    [
        (tr.RocCurve, "of", "from_scores"),
        (Subgroup, "shown", "display_name"),
        (tr.Assessment, "told_scores", "reported_scores"),
        (tr.RiskOverTime, "said", "trend_sentence"),
        (Family, "of", "from_grid"),
        (Plan, "of", "from_folds"),
        (tr.methods.KFold(5), "word", "name"),
        (tr.losses.AUC(), "word", "name"),
    ],
)
def test_old_attribute_is_refused_with_the_new_one(owner, old, new):
    assert hasattr(owner, new)
    with pytest.raises(AttributeError, match=f"{old}` is now `{new}`"):
        getattr(owner, old)


@pytest.mark.parametrize(
    ("base", "old", "new"),
    [
        (Method, "word", "name"),
        (Rule, "word", "name"),
        (Loss, "word", "name"),
        (IntervalForm, "word", "name"),
        (IntervalForm, "of", "compute"),
        (OnePass, "word", "name"),
        (OnePass, "answers_besides", "answers_extras"),
        (OnePass, "together", "answer_together"),
        (tr.engines.Trees, "whole", "covering_value"),
    ],
)
def test_subclass_cannot_define_an_old_attribute(base, old, new):
    """It would be ignored. A subclass of a subclass cannot, either."""
    with pytest.raises(TypeError, match=f"^Own: `{old}` is now `{new}`.$"):
        type("Own", (base,), {old: "own"})
    with pytest.raises(TypeError, match=f"^Own: `{old}` is now `{new}`.$"):
        type("Own", (type("Between", (base,), {}),), {old: "own"})


@pytest.mark.parametrize(
    ("kind", "made", "argument"),
    [
        ("method", tr.methods.KFold(5), "cv"),
        ("loss", tr.losses.AUC(), "scoring"),
        ("interval", tr.intervals.as_form("wald"), "interval"),
        ("engine", tr.engines.NearestNeighbours(), "engine"),
    ],
)
def test_object_without_a_name_is_refused_before_any_fit(kind, made, argument):
    nameless = type("Own", (type(made),), {"name": None})()
    with pytest.raises(TypeError, match=f"^{kind} Own has no name: give its class a `name`"):
        tr.estimate_risk(GaussianNB(), X, Y, **{argument: nameless})
