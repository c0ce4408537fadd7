"""`Study`: what it estimates, what it compares with, and what it refuses before it runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import BadData, BadStore, StoreLocked, TrueRiskWarning
from truerisk.methods.holdout import Holdout
from truerisk.study import replicate as replicates
from truerisk.study.replicate import draw, replicate
from truerisk.study.store import Store
from truerisk.study.values import seed_of

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


def test_one_row_per_replicate_and_one_per_cell(results):
    """As frames; every estimate lies beside its truth."""
    assert len(results) == 24
    assert len(results.cells) == 6
    frame = results.to_frame()
    assert {"problem", "size", "learner", "method", "replicate", "value", "truth"} <= set(frame)
    assert frame["truth"].between(0, 1).all()
    assert len(results.summary()) == 6
    assert "nested" in str(results)


def test_the_summary_is_a_table_on_a_page(results):
    """A row for each cell in HTML, and what is lacking."""
    page = results.to_html()
    assert page.count("<tr") == 1 + len(results.cells)
    assert "RMSE" in page
    assert f"<bdi>{results.cells[0]['rmse']:.4f}</bdi>" in page
    few = replace(results, designs=[{**each, "wanted": 9} for each in results.designs])
    assert "simple, 30, knn, 5-fold: 4 of 9 replicates were found." in few.to_html()


def test_a_replicate_is_what_the_verbs_say(study, results):
    """The estimate of the drawn rows; the truth of the same fit on fresh rows."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    with Store.read(study.store) as store:
        cell = next(c for c in store.cells() if c.content["method"] == "5-fold")
    drawn = draw(cell.content, 2)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    seed = seed_of("method", {"word": "simple"}, cell.content["size"], cell.content["seed"], 2)
    own = tr.estimate_risk(model, drawn.X, drawn.y, cv="5-fold", random_state=seed)
    row = next(
        r for r in results.rows
        if (r["learner"], r["method"], r["replicate"]) == ("knn", "5-fold", 2)
    )  # fmt: skip
    assert (row["value"], row["std_error"]) == (own.value, own.std_error)
    wrong = model.fit(drawn.X, drawn.y).predict(drawn.fresh_rows) != drawn.fresh_labels
    assert row["truth"] == pytest.approx(wrong.mean(), abs=1e-15)


def test_intervals_are_compared_on_the_same_folds(tmp_path, monkeypatch):
    """One estimator with three intervals and two levels is one number; its truth is measured once.

    Streams hung on the whole cell once, its interval and level included.
    """
    measured = []
    monkeypatch.setattr(replicates, "_truths", {})
    truth = replicates._truth
    monkeypatch.setattr(replicates, "_truth", lambda *of: measured.append(1) or truth(*of))
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


def test_learners_and_methods_share_their_data():
    """Cells that differ in learner or method alone are compared on the same rows."""
    base = {
        "problem": {"name": "a", "word": "simple"},
        "size": 30,
        "n_test": 50,
        "seed": 0,
        "learner": {"name": "b", "word": "knn"},
        "method": "loo",
    }
    first = draw(base, 1)
    other = {**base, "method": "nested", "learner": {"name": "c", "word": "lda"}}
    np.testing.assert_array_equal(first.X, draw(other, 1).X)
    np.testing.assert_array_equal(first.fresh_rows, draw(other, 1).fresh_rows)
    renamed = {**base, "problem": {"name": "z", "word": "simple"}}
    np.testing.assert_array_equal(first.X, draw(renamed, 1).X)
    for change in ({"size": 31}, {"seed": 1}):
        assert not np.array_equal(first.X[:5], draw({**base, **change}, 1).X[:5])
    assert not np.array_equal(first.X, draw(base, 2).X)


def test_the_summary_is_computed_by_hand(results):
    """Bias, RMSE and coverage of the mean risk for a method whose target is that."""
    rows = [r for r in results.rows if (r["learner"], r["method"]) == ("tuned", "nested")]
    (cell,) = (c for c in results.cells if (c["learner"], c["method"]) == ("tuned", "nested"))
    value, truth = (np.array([r[k] for r in rows]) for k in ("value", "truth"))
    assert cell["bias"] == pytest.approx((value - truth).mean())
    assert cell["bias_error"] == pytest.approx((value - truth).std(ddof=1) / 2)
    assert cell["rmse"] == pytest.approx(np.sqrt(((value - truth.mean()) ** 2).mean()))
    inside = [r["low"] <= truth.mean() <= r["high"] for r in rows]
    assert cell["coverage"] == pytest.approx(np.mean(inside))
    assert cell["n_fits"] > 10


def test_a_target_without_a_truth_has_no_bias(results):
    """The apparent risk estimates the training risk: nothing to compare it with."""
    cells = [cell for cell in results.cells if cell["method"] == "apparent"]
    assert all(cell["bias"] is None and cell["rmse"] is None for cell in cells)
    assert all(cell["coverage"] is None for cell in cells)


def test_workers_give_the_same(tmp_path, results):
    """Two processes, and again from what is stored."""
    study = tr.Study(SPEC, tmp_path / "runs.db")
    assert bare(study.run(2)) == bare(results)
    assert bare(tr.Study(None, tmp_path / "runs.db").run()) == bare(results)
    assert bare(study.results()) == bare(results)
    assert study.status().complete


def test_a_study_may_grow_and_change(tmp_path, results):
    """More replicates and methods keep what is there; what is no longer wanted is not shown."""
    path = tmp_path / "runs.db"
    tr.Study({**SPEC, "replicates": 2, "methods": ["5-fold", "loo"]}, path).run()
    grown = tr.Study(SPEC, path).run()
    order = {row["method"]: None for row in results.rows}
    assert sorted(map(str, bare(grown))) == sorted(map(str, bare(results)))
    assert "loo" not in order


def test_tables_are_problems(tmp_path):
    """Rows are drawn from a file or a data set; the truth is measured on all others."""
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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"problems": ["iris"], "sizes": [30, 151]}, "has 150 rows, not 151"),
        ({"problems": [{"word": "simple", "nois": 1}]}, "no option 'nois'"),
        ({"problems": [{"word": "kearns", "noise": 0.7}]}, "noise=0.7"),
        ({"problems": [{"word": "kearns", "noise": "much"}]}, "specification"),
        ({"problems": [{"file": "no.csv", "target": "y"}]}, "no.csv"),
        ({"learners": ["ridge"]}, "ridge does regression only"),
        ({"learners": [{"word": "knn", "set": {"k": 3}}]}, "no parameter 'model__k'"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(tmp_path, change, sentence):
    """Nothing is written."""
    with pytest.raises(BadData, match=sentence):
        tr.Study({**SPEC, **change}, tmp_path / "runs.db").run()
    assert not list(tmp_path.iterdir())


def make_line():
    """A problem of one's own."""

    def draw_line(n_rows, *, random_state):
        rng = np.random.default_rng(random_state)
        x = rng.random((n_rows, 2))
        return x, x[:, 0] + rng.normal(0, 0.1, n_rows)

    return draw_line


def make_models():
    """A learner of one's own, with its grid."""
    from sklearn.linear_model import Ridge

    return Ridge(), {"alpha": [0.1, 1.0]}


def test_code_of_ones_own(tmp_path):
    """Problems and learners by import, where it is allowed."""
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
    bad = {**spec, "problems": [{"import": "nowhere:thing"}]}
    with pytest.raises(BadData, match="No module named 'nowhere'"):
        tr.Study(bad, tmp_path / "runs.db", allow_import=True).run()


def test_refusals_of_a_method_are_stored(tmp_path):
    """Per replicate, with their sentence; the others end."""
    study = tr.Study({**SPEC, "methods": ["bee", "5-fold"]}, tmp_path / "runs.db")
    study.run()
    status = study.status()
    assert (status.done, status.failed) == (8, 8)
    assert "linear_rule" in status.errors[0]["error"]
    assert study.retry() == 8
    assert study.status().waiting == 8


def test_other_versions_are_refused(tmp_path, monkeypatch):
    """Numbers can depend on them; mixing is a choice."""
    from truerisk.study import versions as kept

    path = tmp_path / "runs.db"
    tr.Study({**SPEC, "replicates": 1}, path).run()
    monkeypatch.setattr(kept, "versions", lambda: {"numpy": "0.1"})
    with pytest.raises(BadStore, match=r"was begun with .*numpy .* \(now 0.1\)"):
        tr.Study(SPEC, path).run()
    assert len(tr.Study({**SPEC, "replicates": 1}, path).run(mixed_versions=True)) == 6


def test_one_run_at_a_time(tmp_path):
    """The second is refused; looking is free."""
    path = tmp_path / "runs.db"
    tr.Study({**SPEC, "replicates": 1}, path).run()
    with Store.write(path), pytest.raises(StoreLocked):
        tr.Study(SPEC, path).run()
    with pytest.raises(BadData, match="attempts=0"):
        tr.Study(SPEC, path).run(attempts=0)
    with Store.write(tmp_path / "other.db") as store:
        store.note({"kind": "reproduction"})
    with pytest.raises(BadStore, match="no specification"):
        tr.Study(None, tmp_path / "other.db")


def test_a_replicate_holds_no_clock():
    """But for `seconds`, which is kept apart."""
    content = {
        "problem": {"name": "a", "word": "simple"}, "size": 30, "n_test": 50, "seed": 0,
        "learner": {"name": "b", "word": "lda"}, "method": "5-fold", "scoring": "log",
        "rule": "min",
        "confidence_level": 0.9,
    }  # fmt: skip
    first, second = replicate(content, 0), replicate(content, 0)
    assert first.pop("seconds") > 0
    second.pop("seconds")
    assert first == second


class Halves(Holdout):
    """A method of one's own."""


def half():
    """What a study imports."""
    return Halves(0.5)


NUMBERS = {"problems": ["diabetes"], "learners": ["ridge"]}


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


def test_a_method_may_name_its_interval_and_options(tmp_path):
    """The interval that is asked for, of the method with its options; both targets are counted."""
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


def test_a_name_of_a_method_changes_no_number(tmp_path):
    """Names are for reading; and a bare word has the key that it always had."""
    one = {"word": "5-fold", "interval": "wald", "name": "a"}
    given = [{**SPEC, "methods": [{**one, "name": name}]} for name in "ab"]
    found = [tr.Study(s, tmp_path / f"{i}.db").run() for i, s in enumerate(given)]
    values = [[row["value"] for row in results.rows] for results in found]
    assert values[0] == values[1]
    with Store.read(tmp_path / "0.db") as store:
        assert store.cells()[0].content["method"] == one


@pytest.mark.parametrize(
    ("method", "change", "sentence"),
    [
        ({"word": "5-fold", "interval": "beta-cv"}, NUMBERS, "interval 'beta-cv' needs"),
        ({"word": "oob", "interval": "ncv"}, {}, "which method 'oob' .* cannot give"),
        ({"import": f"{__name__}:SPEC"}, {}, "'dict' object is not callable"),
        ({"import": f"{__name__}:no_method"}, {}, "gives 3, which is no method"),
        ({"import": f"{__name__}:dict_"}, {}, "dict_"),
    ],
)  # fmt: skip
def test_an_interval_that_cannot_be_is_refused_before_it_runs(tmp_path, method, change, sentence):
    """Loss, method and import are tried once."""
    spec = {**SPEC, **change, "methods": ["5-fold", method]}
    study = tr.Study(spec, tmp_path / "runs.db", allow_import=True)
    with pytest.raises(BadData, match=f"in the specification: .*{sentence}"):
        study.run()
    assert not (tmp_path / "runs.db").exists()


def test_cells_of_an_earlier_release_begin_anew(tmp_path, monkeypatch):
    """A sentence says so, once; what was found stays in the file and is no result any more."""
    path, spec = tmp_path / "runs.db", {**SPEC, "replicates": 1, "methods": ["apparent"]}
    with monkeypatch.context() as then:
        then.setattr("truerisk.study.study.SCHEMA", "truerisk.study-cell/1")
        old = tr.Study(spec, path).run()
    with pytest.warns(TrueRiskWarning, match="holds 2 cells of an earlier release.* begin anew"):
        new = tr.Study(spec, path).run()
    assert len(old) == len(new) == 2
    assert tr.Study(spec, path).run().rows == new.rows
    with Store.read(path) as store:
        assert len(store.cells(every=True)) == 2 * len(store.cells()) == 4
