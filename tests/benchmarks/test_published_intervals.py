"""Published intervals beside ours: problems, formulas and tables are those of the paper."""

import tomllib

import numpy as np
import pytest
from benchmarks.published_intervals import __main__ as command
from benchmarks.published_intervals import formulas, openml, problems, steep
from benchmarks.published_intervals.bagged import LocationShifted, OutOfBag, Plus
from benchmarks.published_intervals.case_bootstrap import CaseBootstrap
from benchmarks.published_intervals.replace_one import ReplaceOne
from benchmarks.published_intervals.tables import rated
from benchmarks.published_intervals.two_halves import FiveByTwo
from benchmarks.published_intervals.two_stage import TwoStage
from sklearn.dummy import DummyRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData, Data, Refusal, Streams, Terms
from truerisk.intervals import as_form
from truerisk.intervals.refitted import HalfEvidence
from truerisk.losses import Squared
from truerisk.selection import as_rule

SMALL = [ReplaceOne(3), ReplaceOne(2, 2), FiveByTwo(), OutOfBag(40), Plus(40), LocationShifted(40),
         CaseBootstrap(5), TwoStage(6, 3)]  # fmt: skip

# mean and variance of y, known by integration; with 40,000 rows both are within three percent
KNOWN = {
    "bates_classif_20": (0.5, 0.25),
    "bates_classif_100": (0.5, 0.25),
    "bates_regr_20": (0.0, 6.0),
    "bates_regr_100": (0.0, 6.0),
    "friedman1": (14.41, 24.8),
}


@pytest.mark.parametrize("name", problems.__all__)
def test_problems_have_the_moments_of_their_formulas(name):
    X, y = getattr(problems, name)()(40_000, random_state=0)
    columns = {"bates_classif_20": 20, "bates_regr_20": 20, "friedman1": 10, "chen_10": 60}
    assert X.shape == (40_000, columns.get(name, 100))
    a, b, c = (np.arange(2000) + 0.5)[None] / 2000 * np.ones((3, 1))
    parts = np.exp(4 * a) / 4, 4 / (1 + np.exp(-20 * (b - 0.5))), 3 * c
    chen = sum(part.mean() for part in parts), sum(part.var() for part in parts) + 0.04
    mean, variance = KNOWN.get(name, chen)
    assert y.mean() == pytest.approx(mean, abs=0.03 * max(1, mean, variance**0.5))
    assert y.var() == pytest.approx(variance, rel=0.03)


# -- formulas: numbers of R ------------------------------------------------------------------------
# R 4.2 and data.table ran `infer_52cv`, `infer_austern_zhou`, `infer_oob`, `est_632plus`,
# `infer_ls_boot` and `infer_bootstrap_ccv` of inferGE (slds-lmu/paper_2023_ci_for_ge, commit
# d4d80b72) on the arrays below; the next test has the same of mlr3inferr (commit f8401a9a).

B, N = np.arange(8)[:, None], np.arange(12)[None]
TIMES = np.array([np.bincount(line, minlength=12) for line in (5 * N**2 + 3 * B * N + 2 * B) % 12])
LOSSES = (7 * N + 4 * B + B * N) % 11 / 10


def test_five_by_two_and_replace_one_are_those_of_inferge():
    """Ten folds of three rows; a half of six rows in two folds, with each of its rows exchanged."""
    place, row = np.mgrid[1:11, 1:4]
    risks = ((7 * place + 5 * row + place * row) % 13 / 12).mean(axis=1).reshape(5, 2)
    found = formulas.five_by_two(risks, 0.95)
    assert found == pytest.approx((0.5, -0.0237452188895, 1.02374521889))
    place, row = np.mgrid[1:15, 1:4]
    risks = ((3 * place + 8 * row + place * row) % 17 / 16).mean(axis=1).reshape(7, 2).mean(axis=1)
    value = (5 * np.arange(1, 13) % 7 / 6).mean()
    found = formulas.replaced(value, risks[0], risks[1:], 0.95)
    assert found == pytest.approx((0.555555555556, 0.131333707957, 0.979777403155))


def test_bootstrap_is_that_of_inferge():
    err, error = formulas.jackknife(TIMES, LOSSES)
    assert (err, error) == pytest.approx((0.515, 0.171331171528))
    found = formulas.around(err, error, 0.95)
    assert found == pytest.approx((0.515, 0.179197074377, 0.850802925623))
    value = formulas.plus(err, 0.21, 0.62)
    assert value == pytest.approx(0.475420472864)
    own = (TIMES * LOSSES).sum(axis=1) / TIMES.sum(axis=1)
    moved = formulas.shifted(value, 0.21, own, 0.95)
    assert moved == pytest.approx((0.475420472864, 0.530837139531, 0.862503806197))
    found = formulas.case_percentiles(own, 0.95)
    assert found == pytest.approx((0.475, 0.265416666667, 0.597083333333))


def test_intervals_are_those_of_mlr3inferr():
    """All to the digit but Wald, which divides by n − 1 where theirs has n.

    Errors of the mean of y, of rows in given folds and splits.
    """
    i = np.arange(12)
    X, y = i[:, None].astype(float), (7 * i % 12 + i % 3) / 4
    tests = [[0, 1, 2], [1, 4, 8], [3, 7, 11], [5, 6, 10]]
    splits = [(np.setdiff1d(i, test), np.array(test)) for test in tests]
    labels = np.array([i % 3, i // 4])
    nested = tr.methods.NestedInterval(folds=labels, bias="mlr3inferr")
    theirs = {
        "holdout": ([(i[:8], i[8:])], "wald", 0.8251953125, 0.161700193793, 1.48869043121),
        "corrected": (splits, "corrected-t", 1.06211419753, 0, 2.75627035692),  # there -.632
        "nested": (nested, None, 0.985677083333, 0.274741333854, 1.69661283281),
    }
    for method, interval, *numbers in theirs.values():
        found = tr.estimate_risk(DummyRegressor(), X, y, cv=method, interval=interval)
        assert (found.value, found.interval.low, found.interval.high) == pytest.approx(numbers)
    folds = tr.methods.KFold(folds=i % 3)
    found = tr.estimate_risk(DummyRegressor(), X, y, cv=folds, interval="wald")
    half = (1.75740787881 - 0.398842121194) / 2 * np.sqrt(12 / 11)
    assert (found.value, found.interval.high) == pytest.approx((1.078125, 1.078125 + half))
    halves = np.array([[[0.3, 0.4], [0.1, 0.5], [0.2, 0.25], [0.6, 0.35]]])
    terms = Terms(0.95, as_rule("min"))
    evidence = HalfEvidence(values=np.array([0.31]), loss=Squared(), terms=terms, half_risks=halves)
    _, interval, _ = as_form("conservative-z").of_each(evidence)[0]
    assert interval.high == pytest.approx(0.645920902681)


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SMALL, ids=lambda method: method.name)
def test_methods_give_an_interval_for_any_learner(method):
    """Also for numbers; the same seed gives the same; losses of whole sets are refused.

    A constant costs what it costs against shuffled rows: the weight of .632+ does not exist.
    """
    X, y = problems.bates_classif_20()(24, random_state=1)
    options = {"cv": method, "random_state": 3}
    near, of_numbers = KNeighborsClassifier(3), KNeighborsRegressor(3)
    found, again = (tr.estimate_risk(near, X, y, **options) for _ in range(2))
    assert found.interval.low <= found.interval.high
    assert str(found) == str(again)
    assert tr.estimate_risk(of_numbers, X, X[:, 0], **options).interval is not None
    with pytest.raises(Refusal, match="needs losses of single rows"):
        tr.estimate_risk(near, X, y, scoring="f1", **options)
    if isinstance(method, Plus | LocationShifted):
        assert tr.estimate_risk(DummyRegressor(), X, 0.0 * y, **options).interval is None


def plan_of(method, n=10):
    """Its plan for n rows."""
    data = Data.check(np.arange(float(n))[:, None], np.arange(n) % 2, task="classification")
    return method.plan(data, Streams(5))


def test_replace_one_exchanges_one_row_of_the_half():
    """Each later drawing tests and trains on the half with one row of the other half in it."""
    plan = plan_of(ReplaceOne(2), 11)
    halves = plan.questions("half")
    rows = [
        {int(row) for q in halves[plan.repeat[halves] == r] for row in plan.test_rows(q)[0]}
        for r in range(6)
    ]
    assert [len(one) for one in rows] == [5] * 6
    assert [len(rows[0] & one) for one in rows[1:]] == [4] * 5
    assert len(set().union(*rows)) == 10
    assert plan.n_fits == 2 + 2 + 5  # of the two fits of a half with a new row one is known
    for q in halves:
        assert not set(plan.train_rows(int(plan.fit[q]))[0]) & set(plan.test_rows(q)[0])


def test_case_bootstrap_leaves_out_copies_of_a_case_together():
    plan = plan_of(CaseBootstrap(3))
    assert np.bincount(plan.repeat).tolist() == [10, 10, 10]
    for q in range(plan.n_questions):
        assert plan.test_rows(q)[0][0] not in plan.train_rows(int(plan.fit[q]))[0]


def test_two_stage_draws_among_the_places_of_the_first():
    """Inner samples have n rows of the outer one, and are tested on the places that they missed."""
    plan = plan_of(TwoStage(4, 2), 9)
    for stage in range(5):
        mine = np.flatnonzero(plan.repeat == stage)
        own = [q for q in mine if q in plan.questions("apparent")]
        rows = sorted(int(row) for q in own for row in plan.test_rows(q)[0])
        assert len(rows) == 9
        for q in set(mine.tolist()) - set(own):
            train, times = plan.train_rows(int(plan.fit[q]))
            assert set(train) <= set(rows) >= set(plan.test_rows(q)[0])
            assert (len(train) if times is None else times.sum()) == 9


# -- data on OpenML --------------------------------------------------------------------------------


def test_open_ml_says_what_a_table_needs_that_cannot_be_loaded(tmp_path, monkeypatch):
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(BadData, match=r"'higgs' \(OpenML 45570\) could not .* needs a network"):
        openml.OpenML("higgs", tmp_path)(10, random_state=0)
    with pytest.raises(UnknownName, match="did you mean 'higgs'"):
        openml.OpenML("higs")
    assert openml.adult().name == "adult"


# -- the command -----------------------------------------------------------------------------------


def test_rated_counts_both_targets():
    """An interval may hold the mean risk and miss that of the model; none holds nothing."""
    rows = [
        {"truth": 0.2, "low": 0.1, "high": 0.35},
        {"truth": 0.4, "low": 0.1, "high": 0.35},
        {"truth": 0.3, "low": None, "high": None},
        {"truth": 0.3, "low": 0.5, "high": 0.2},
    ]
    rows = [{**row, "n_fits": 3, "value": 0.2, "std_error": 0.05} for row in rows]
    found = rated(rows, 0.3)
    assert (found["own"], found["mean"], found["fits"]) == (0.25, 0.5, 3)
    assert found["width"] == pytest.approx(0.25)
    assert found["factor"] == pytest.approx(4)  # off by .1, with an error of .05


@pytest.mark.parametrize("study", ["classes", "numbers"])
def test_studies_are_specifications_of_all_thirteen(study):
    from truerisk.study.spec import read_spec

    path = command.FOLDER / f"{study}.toml"
    spec = read_spec(path, allow_import=True)
    assert len(spec.methods) == 19
    own = [entry.name for entry in spec.methods if not entry.name.startswith("ours")]
    assert len(own) == 15  # thirteen, of which CV Wald with three numbers of folds
    assert [m["name"] for m in tomllib.loads(path.read_text("utf-8"))["methods"]][:15] == own


def test_main_runs_a_part_and_prints_a_table(capsys, tmp_path):
    methods = ["CV Wald (10)", "5 × 2", "ours, default (10)"]
    asked = ["--stores", str(tmp_path), "--sets", "2", "--rows", "30", "--learners", "linear"]
    asked += ["--problems", "bates_classif_20", "--methods", *methods]
    assert command.main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "linear"
    assert [line.split(" | ")[0] for line in lines[4:7]] == [f"| {name}" for name in methods]
    assert lines[8] == "linear, needed factor"
    assert command.main(["--stores", str(tmp_path), "--tables"]) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--learners", "forestt"], "invalid choice: 'forestt'"),
        (["--methods", "CV Wald"], "invalid choice: 'CV Wald'"),
        (["--tables"], "has a result: run a part first"),
    ],
)
def test_main_refuses_a_wrong_word(capsys, tmp_path, words, said):
    with pytest.raises(SystemExit) as left:
        command.main(["--stores", str(tmp_path), *words])
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_steep_counts_the_note_of_a_steep_risk(monkeypatch, capsys):
    monkeypatch.setattr(steep, "CELLS", (("chen_10", "linear_of_numbers", 100),))
    monkeypatch.setattr(steep, "TUNED", ("simple",))
    assert steep.main(["--sets", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "10 folds" in lines[0]
    assert "told in 100%" in lines[0]
    assert lines[2] == "simple 40, tuned, 5 folds: told in 0.0%"
