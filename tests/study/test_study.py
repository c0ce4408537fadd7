"""`Study`: what it estimates, what it compares with, and what it refuses before it runs."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.missing import output_without

import truerisk as tr
from truerisk.exceptions import BadStore, StoreLocked
from truerisk.extend import BadData, TrueRiskWarning
from truerisk.methods.holdout import Holdout
from truerisk.study import replicate as replicates
from truerisk.study import versions
from truerisk.study.replicate import compute_replicate, draw_replicate_data
from truerisk.study.store import Store
from truerisk.study.values import derive_seed

SPEC = {
    "replicates": 4,
    "sizes": [30],
    "problems": ["simple"],
    "learners": [{"word": "knn", "set": {"n_neighbors": 3}}, {"word": "knn", "name": "tuned"}],
    "methods": ["5-fold", "nested", "apparent"],
    "n_test": 400,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A small study that has run, undisturbed."""
    made = tr.Study(SPEC, tmp_path_factory.mktemp("study") / "runs.db")
    made.run()
    return made


@pytest.fixture(scope="module")
def results(study):
    """Its results."""
    return study.results()


def bare(results):
    """The rows without what the clock says."""
    return [{k: v for k, v in row.items() if k != "seconds"} for row in results.rows]


def test_replicate_is_what_estimate_risk_says(study, results):
    with Store.open_for_reading(study.store) as store:
        cell = next(c for c in store.cells() if c.content["method"] == "5-fold")
    drawn = draw_replicate_data(cell.content, 2)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    seed = derive_seed("method", {"word": "simple"}, cell.content["size"], cell.content["seed"], 2)
    own = tr.estimate_risk(model, drawn.X, drawn.y, cv="5-fold", random_state=seed)
    row = next(
        r for r in results.rows
        if (r["learner"], r["method"], r["replicate"]) == ("knn", "5-fold", 2)
    )  # fmt: skip
    assert (row["value"], row["std_error"]) == (own.value, own.std_error)
    wrong = model.fit(drawn.X, drawn.y).predict(drawn.fresh_features) != drawn.fresh_y
    assert row["truth"] == pytest.approx(wrong.mean(), abs=1e-15)


def test_study_compares_intervals_on_the_same_folds_and_truths(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(replicates, "_true_risk_cache", {})
    truth = replicates._measure_true_risk
    monkeypatch.setattr(
        replicates, "_measure_true_risk", lambda *of: measured.append(1) or truth(*of)
    )
    intervals = [{"word": "10-fold", "interval": word} for word in ("beta-cv", "corrected-t")]
    spec = {**SPEC, "methods": ["10-fold", *intervals], "replicates": 3}
    spec["learners"] = SPEC["learners"][:1]
    found = tr.Study(spec, tmp_path / "one.db").run()
    values = np.array([row["value"] for row in found.rows]).reshape(3, 3)
    assert (values == values[0]).all()
    assert len(measured) == 3
    other = tr.Study({**spec, "confidence_level": 0.9}, tmp_path / "other.db").run()
    assert [row["value"] for row in other.rows] == values.ravel().tolist()
    assert [row["truth"] for row in other.rows] == [row["truth"] for row in found.rows]


def test_study_results_have_rows_and_a_summary_computed_by_hand(results):
    assert (len(results), len(results.cells), len(results.summary())) == (24, 6, 6)
    frame = results.to_frame()
    assert {"problem", "size", "learner", "method", "replicate", "value", "truth"} <= set(frame)
    assert frame["truth"].between(0, 1).all()
    assert "nested" in str(results)
    rows = [r for r in results.rows if (r["learner"], r["method"]) == ("tuned", "nested")]
    (cell,) = (c for c in results.cells if (c["learner"], c["method"]) == ("tuned", "nested"))
    value, truth = (np.array([r[k] for r in rows]) for k in ("value", "truth"))
    assert cell["bias"] == pytest.approx((value - truth).mean())
    assert cell["bias_error"] == pytest.approx((value - truth).std(ddof=1) / 2)
    assert cell["rmse"] == pytest.approx(np.sqrt(((value - truth.mean()) ** 2).mean()))
    inside = [r["low"] <= truth.mean() <= r["high"] for r in rows]
    assert cell["coverage"] == pytest.approx(np.mean(inside))
    assert cell["n_fits"] > 10
    for cell in results.cells:  # the apparent error has no truth
        if cell["method"] == "apparent":
            assert {cell[name] for name in ("bias", "rmse", "coverage")} == {None}
    page = results.to_html()
    assert page.count("<tr") == 1 + len(results.cells)
    assert f"<bdi>{results.cells[0]['rmse']:.4f}</bdi>" in page
    few = replace(results, designs=[{**each, "wanted": 9} for each in results.designs])
    assert "simple, 30, knn, 5-fold: 4 of 9 replicates were found." in few.to_html()


def test_study_gives_the_same_by_workers_and_after_it_has_grown(tmp_path, results):
    path, grown = tmp_path / "runs.db", tmp_path / "grown.db"
    study = tr.Study(SPEC, path)
    assert repr(study) == f"<Study {study.spec.name!r} in {path}>"
    assert bare(study.run(2)) == bare(results)
    assert bare(tr.Study(None, path).run()) == bare(results)
    assert bare(study.results()) == bare(results)
    assert study.status().complete
    tr.Study({**SPEC, "replicates": 2, "methods": ["5-fold", "loo"]}, grown).run()
    more = tr.Study(SPEC, grown).run()
    assert sorted(map(str, bare(more))) == sorted(map(str, bare(results)))


def test_study_takes_tables_as_problems(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{'uv'[i % 2]},{'pq'[i % 3 == 0]}" for i, a in enumerate(rng.normal(size=90))]
    (tmp_path / "table.csv").write_text("a,b,y\n" + "\n".join(lines))
    (tmp_path / "spec.toml").write_text(
        'replicates = 2\nsizes = [40]\nmethods = ["holdout"]\nlearners = ["tree"]\n'
        'problems = [{file = "table.csv", target = "y"}, "iris", "diabetes"]\n'
        .replace('"tree"', '{word = "tree", grid = {min_samples_leaf = [2, 5]}}')
    )  # fmt: skip
    study = tr.Study(tmp_path / "spec.toml", tmp_path / "runs.db")
    found = study.run()
    assert {(r["problem"], r["truth"] is not None) for r in found.rows} == {
        ("table", True), ("iris", True), ("diabetes", True),
    }  # fmt: skip
    (tmp_path / "moved").mkdir()
    (tmp_path / "table.csv").rename(tmp_path / "moved" / "table.csv")
    text = (tmp_path / "spec.toml").read_text().replace("table.csv", "moved/table.csv")
    (tmp_path / "spec.toml").write_text(text)
    tr.Study(tmp_path / "spec.toml", tmp_path / "runs.db").run()
    assert study.status().n_runs == 1  # the content is the same: nothing was left to do
    small = {**SPEC, "problems": ["iris"], "learners": ["lda"], "methods": ["5-fold"]}
    whole = tr.Study({**small, "sizes": [150]}, tmp_path / "b.db").run()
    assert {row["truth"] for row in whole.rows} == {None}
    assert whole.cells[0]["bias"] is None


def make_line():
    """A problem of one's own."""

    def draw_line(n_rows, *, random_state):
        rng = np.random.default_rng(random_state)
        x = rng.random((n_rows, 2))
        return x, x[:, 0] + rng.normal(0, 0.1, n_rows)

    return draw_line


def make_models():
    """A learner of one's own, with its grid."""
    return Ridge(), {"alpha": [0.1, 1.0]}


def test_study_imports_problems_and_learners_if_allowed(tmp_path):
    spec = {
        **SPEC,
        "methods": ["5-fold"],
        "problems": [{"import": f"{__name__}:make_line"}],
        "learners": [{"import": f"{__name__}:make_models"}],
    }
    with pytest.raises(BadData, match="allow_import=True"):
        tr.Study(spec, tmp_path / "runs.db")
    found = tr.Study(spec, tmp_path / "runs.db", allow_import=True).run()
    assert found.rows[0]["problem"] == "make_line"
    assert {row["chosen"]["alpha"] for row in found.rows} <= {0.1, 1.0}
    one = {"word": "5-fold", "interval": "wald", "name": "a"}
    named = [{**spec, "methods": [{**one, "name": name}]} for name in "ab"]
    values = []
    for place, each in enumerate(named):
        rows = tr.Study(each, tmp_path / f"{place}.db", allow_import=True).run().rows
        values.append([row["value"] for row in rows])
    assert values[0] == values[1]
    with Store.open_for_reading(tmp_path / "0.db") as store:
        assert store.cells()[0].content["method"] == one


def test_study_stores_refusals_of_methods(tmp_path):
    study = tr.Study({**SPEC, "methods": ["bee", "5-fold"]}, tmp_path / "runs.db")
    study.run()
    status = study.status()
    assert (status.done, status.failed) == (8, 8)
    assert "linear_rule" in status.errors[0]["error"]
    assert study.retry() == 8
    assert study.status().waiting == 8


class Halves(Holdout):
    """A method of one's own."""


def half():
    """What a study imports."""
    return Halves(0.5)


def no_method():
    """What a study may import by mistake."""
    return 3


OF_INTERVALS = {
    **SPEC,
    "learners": SPEC["learners"][:1],
    "replicates": 3,
    "methods": [
        "5-fold",
        {"word": "5-fold", "interval": "beta-cv"},
        {"word": "monte-carlo", "splits_drawn": 4, "test_share": 0.2, "name": "four"},
        {"import": f"{__name__}:half", "interval": "beta", "name": "half"},
    ],
}


def test_study_method_may_name_its_interval_and_options(tmp_path):
    study = tr.Study(OF_INTERVALS, tmp_path / "runs.db", allow_import=True)
    results = study.run()
    assert [cell["method"] for cell in results.cells] == [
        "5-fold",
        "5-fold:beta-cv",
        "four",
        "half",
    ]
    intervals = {row["method"]: row["interval"] for row in results.rows}
    assert intervals["5-fold:beta-cv"] == "beta-cv"
    assert (intervals["5-fold"], intervals["half"]) == ("wald", "beta")
    fits = {row["method"]: row["n_fits"] for row in results.rows}
    assert (fits["four"], fits["half"]) == (4, 1)
    for cell in results.cells:
        own = "coverage_Err_XY" if cell["target"] == "Err_XY" else "coverage_Err"
        assert cell["coverage"] == cell[own]
        mine = [row for row in results.rows if row["method"] == cell["method"]]
        held = [row["low"] <= row["truth"] <= row["high"] for row in mine]
        assert cell["coverage_Err_XY"] == pytest.approx(np.mean(held))


def test_study_begins_cells_of_an_earlier_release_anew(tmp_path, monkeypatch):
    path, spec = tmp_path / "runs.db", {**SPEC, "replicates": 1, "methods": ["apparent"]}
    with monkeypatch.context() as then:
        then.setattr("truerisk.study.study.CELL_SCHEMA", "truerisk.study-cell/1")
        old = tr.Study(spec, path).run()
    with pytest.warns(TrueRiskWarning, match="holds 2 cells of an earlier release.* begin anew"):
        new = tr.Study(spec, path).run()
    assert len(old) == len(new) == 2
    assert tr.Study(spec, path).run().rows == new.rows
    with Store.open_for_reading(path) as store:
        assert len(store.cells(every=True)) == 2 * len(store.cells()) == 4


CELL = {
    "problem": {"name": "a", "word": "simple"},
    "size": 30,
    "n_test": 50,
    "seed": 0,
    "learner": {"name": "b", "word": "lda"},
    "method": "5-fold",
    "scoring": "log",
    "rule": "min",
    "confidence_level": 0.9,
}


def test_replicate_draws_by_problem_size_and_seed_and_holds_no_clock():
    first = draw_replicate_data(CELL, 1)
    other = {**CELL, "method": "nested", "learner": {"name": "c", "word": "knn"}}
    renamed = {**CELL, "problem": {"name": "z", "word": "simple"}}
    for same in (other, renamed):
        np.testing.assert_array_equal(first.X, draw_replicate_data(same, 1).X)
        np.testing.assert_array_equal(
            first.fresh_features, draw_replicate_data(same, 1).fresh_features
        )
    for change in ({"size": 31}, {"seed": 1}):
        assert not np.array_equal(first.X[:5], draw_replicate_data({**CELL, **change}, 1).X[:5])
    assert not np.array_equal(first.X, draw_replicate_data(CELL, 2).X)
    one, again = compute_replicate(CELL, 0), compute_replicate(CELL, 0)
    assert one.pop("seconds") > 0
    again.pop("seconds")
    assert one == again


def method(word, **change):
    return {**change, "methods": ["5-fold", word]}


NUMBERS = {"problems": ["diabetes"], "learners": ["ridge"]}
IMPOSSIBLE = [
    ({"problems": ["iris"], "sizes": [30, 151]}, "has 150 rows, not 151"),
    ({"problems": [{"word": "simple", "nois": 1}]}, "no option 'nois'"),
    ({"problems": [{"word": "kearns", "noise": 0.7}]}, "noise=0.7"),
    ({"problems": [{"word": "kearns", "noise": "much"}]}, "specification"),
    ({"problems": [{"file": "no.csv", "target": "y"}]}, "no.csv"),
    ({"problems": [{"import": "nowhere:thing"}]}, "No module named 'nowhere'"),
    ({"learners": ["ridge"]}, "ridge does regression only"),
    ({"learners": [{"word": "knn", "set": {"k": 3}}]}, "no parameter 'model__k'"),
    (method({"word": "5-fold", "interval": "beta-cv"}, **NUMBERS), "interval 'beta-cv' needs"),
    (method({"word": "oob", "interval": "ncv"}), "which method 'oob' .* cannot give"),
    (method({"import": f"{__name__}:SPEC"}), "'dict' object is not callable"),
    (method({"import": f"{__name__}:no_method"}), "gives 3, which is no method"),
    (method({"import": f"{__name__}:dict_"}), "dict_"),
]


@pytest.mark.parametrize(("change", "sentence"), IMPOSSIBLE)
def test_study_refuses_before_it_runs(tmp_path, change, sentence):
    with pytest.raises(BadData, match=sentence):
        tr.Study({**SPEC, **change}, tmp_path / "runs.db", allow_import=True).run()
    assert not list(tmp_path.iterdir())


def test_study_refuses_store_of_other_versions_in_use_or_of_something_else(tmp_path, monkeypatch):
    path, spec = tmp_path / "runs.db", {**SPEC, "replicates": 1}
    tr.Study(spec, path).run()
    with Store.open_for_writing(path), pytest.raises(StoreLocked):
        tr.Study(SPEC, path).run()
    with pytest.raises(BadData, match="attempts=0"):
        tr.Study(SPEC, path).run(attempts=0)
    with Store.open_for_writing(tmp_path / "other.db") as store:
        store.note({"kind": "reproduction"})
    with pytest.raises(BadStore, match="no specification"):
        tr.Study(None, tmp_path / "other.db")
    monkeypatch.setattr(versions, "versions", lambda: {"numpy": "0.1"})
    with pytest.raises(BadStore, match=r"was begun with .*numpy .* \(now 0.1\)"):
        tr.Study(SPEC, path).run()
    assert len(tr.Study(spec, path).run(mixed_versions=True)) == 6


MISSING = """
import os
import truerisk as tr
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from truerisk.cli import app

os.chdir({folder!r})
app.sys.stderr = app.sys.stdout
for call in (
    lambda: tr.Study({{}}, "runs.db"),
    lambda: tr.HonestSearchCV(GaussianNB(), store="a.db").fit(*load_iris(return_X_y=True)),
    lambda: app.run(["study", "status", "--store", "runs.db"]),
):
    try:
        call()
    except Exception as error:
        print(error)
    except SystemExit:
        pass
"""


def test_study_and_stores_name_the_workers_that_are_missing(tmp_path):
    code = MISSING.format(folder=str(tmp_path))
    said = output_without("truerisk.engines.workers", code=code)
    assert len(said) == 3
    for line in said:
        assert "this call needs truerisk.engines.workers, which is missing" in line
