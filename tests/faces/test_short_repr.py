"""What a notebook shows unasked of every result is short."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, Y = tr.datasets.make_simple(80, random_state=0)
GRID = {"n_neighbors": [3, 5]}
KNN = KNeighborsClassifier()


def _parts(result, *, fitted):
    """What hangs on a result under a public name; of a search what its fit has left."""
    for name in vars(result) if fitted else {*dir(type(result)), *vars(result)}:
        if name.endswith("_") == fitted and not name.startswith("_") and name != "problem":
            yield name, getattr(result, name, None)  # a problem is the question, not a result


def _results(folder):
    search = tr.HonestSearchCV(KNN, GRID, scoring=["zero-one", "auc"], cv=5).fit(X, Y)
    learners = {"knn": (KNN, GRID), "line": LogisticRegression()}
    assessment = tr.assess(learners, X, Y, scoring=["zero-one", "auc"], cv=["5-fold"])
    validation = tr.validate(LogisticRegression(), X, Y, subgroups=X[:, :1] > 0)
    audit = tr.audit(GridSearchCV(KNN, GRID).fit(X, Y), X, Y)
    yield from _parts(search, fitted=True)
    for result in (assessment, validation, audit):
        yield type(result).__name__, result
        yield from _parts(result, fitted=False)
    yield "estimate", tr.estimate_risk(KNN, X, Y, scoring=["zero-one", "auc"])
    yield "curve", tr.risk_curve(KNN, {"n_neighbors": list(range(1, 20))}, X, Y)
    yield "learning curve", tr.learning_curve(KNN, X, Y)
    yield "permutations", tr.permutation_test(KNN, X, Y, n_permutations=19)
    yield "difference", assessment.difference("knn", "line")
    yield "roc", tr.RocCurve.of(Y, X[:, 0])
    (folder / "a.csv").write_text(
        "x,y\n" + "\n".join(f"{x},{y}" for (x, _), y in zip(X, Y, strict=True))
    )
    yield "table", tr.datasets.read_table(folder / "a.csv", "y")
    yield "data set", tr.datasets.load("digits")
    spec = {"replicates": 2, "sizes": list(range(20, 32)), "problems": ["simple"]}
    spec |= {"learners": ["lda"], "methods": ["5-fold"]}
    yield "study", tr.Study(spec, folder / "runs.db").run()
    yield "many", tr.compare_many(np.random.default_rng(0).random((6, 3)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_repr_of_a_result_is_short(tmp_path):
    found = {
        name: repr(result)
        for name, result in _results(tmp_path)
        if type(result).__module__.startswith("truerisk") and not callable(result)
    }
    assert len(found) > 25
    long = {name: len(text) for name, text in found.items() if len(text) > 1500}
    assert not long
    assert not {name for name, text in found.items() if text.count("\n") > 11}
