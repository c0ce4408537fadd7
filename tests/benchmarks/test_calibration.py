"""The calibration battery knows the truth, resumes, and counts coverage as it should."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from benchmarks.calibration import by_loss as losses
from benchmarks.calibration import ruled_out, trial
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.battery import FULL, HARD, MEANS, SCORES, SHORT, Cell, told
from benchmarks.calibration.picture import draw
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.store import cell_of, collect, lines
from benchmarks.calibration.summary import by_interval, rows, table
from benchmarks.calibration.surplus import surpluses, text
from benchmarks.calibration.tables import TABLES, here
from benchmarks.calibration.trial import run
from sklearn.datasets import load_diabetes, load_digits

from truerisk.datasets import make_simple
from truerisk.datasets.documents import FOLDER_VARIABLE

CELL = Cell("simple", 30, "knn")


def line(seed, truth, estimates, cell=CELL):
    key = {"problem": cell.problem, "n": cell.n, "learner": cell.learner, "seed": seed}
    return {**key, "truth": truth, "estimates": estimates}


def rule(predict):
    """Return a rule that predicts by a function of X."""
    return type("Rule", (), {"predict": staticmethod(predict)})


def test_problems_know_the_risk_of_a_rule():
    """Bayes' rule of 'simple' has its risk, that of the corners errs with chance 1 − Φ(1)²."""
    ones, tails = rule(lambda X: np.ones(len(X))), PROBLEMS["heavy-tails"]
    bayes = PROBLEMS["simple"].risk(rule(make_simple.bayes_rule))
    assert bayes == pytest.approx(make_simple.bayes_risk, abs=0.003)
    assert PROBLEMS["noise"].risk(ones) == 0.5
    assert PROBLEMS["imbalanced"].risk(ones) == pytest.approx(0.9, abs=0.01)
    assert tails.risk(rule(tails.given_x)) == pytest.approx(5 / 3)
    nearest = rule(lambda X: 2 * (X[:, 0] > 0) + (X[:, 1] > 0))
    assert PROBLEMS["corners"].risk(nearest) == pytest.approx(1 - 0.8413447**2, abs=0.005)


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_draw_labels_from_the_chances_that_rate_rules(name):
    problem = PROBLEMS[name]
    drawn = problem.draw(4000, np.random.default_rng(0))
    X, y, groups = drawn.X, drawn.y, drawn.groups
    told = problem.given_x(X)
    if told.ndim == 2:
        y, told = (y == 1).astype(float), told[:, 1]
    each = 1 if groups is None else 4
    spread = np.full(4000, 3.6) if problem.noise is not None else told * (1 - told)
    for some in (told > -np.inf, told > 0.7):  # where the chance is large the class is frequent
        if some.any():
            error = np.sqrt(spread[some].mean() * each / some.sum())
            assert abs(y[some].mean() - told[some].mean()) < 4 * error


def test_patients_have_rows_that_belong_together():
    drawn = PROBLEMS["patients"].draw(800, np.random.default_rng(0))
    X, y, groups = drawn.X, drawn.y, drawn.groups
    assert np.bincount(groups).tolist() == [4] * 200
    assert all(len(set(y[groups == g])) == 1 for g in range(200))
    within = np.mean([X[groups == g].var(axis=0, ddof=1) for g in range(200)])
    assert within < 0.9 < X[y == 0].var(axis=0, ddof=1).mean()
    assert run(Cell("patients", 120, "knn"), 0)["facts"]["engine"] == "knn"


def test_run_has_every_estimate_once():
    found = run(CELL, 3)
    words = {"selected", "wald", "ncv", "beta-ncv", "default", "default, K=5", "one drawing"}
    assert words <= set(found["estimates"])
    for value, low, high in found["estimates"].values():
        assert np.isfinite(value)
        assert low is None or low <= high
    assert 0.15 < found["truth"] < 0.6
    assert json.loads(json.dumps(found)) == found
    assert run(CELL, 3)["estimates"] == found["estimates"]


def test_battery_has_every_problem():
    assert {cell.problem for cell in (*FULL, *HARD, *SCORES)} == {*PROBLEMS, *TABLES}
    assert {cell.problem for cell in SHORT} <= set(PROBLEMS)
    assert not set(HARD) & set(FULL)
    assert {cell.learner for cell in HARD} == {"tree"}


def test_collect_reads_scores_one_by_one(tmp_path):
    """One choice, and for each score the truth and the intervals; a line and a cell for each."""
    cell = Cell("simple", 60, "lda", "zero-one", ("auc", "cost"))
    assert collect(tmp_path / "runs.db", [cell], 2) == 0
    found = list(lines(tmp_path / "runs.db"))
    assert [(cell_of(one), one["seed"]) for one in found] == [
        (one, seed) for seed in (0, 1) for one in told([cell])
    ]
    assert [str(one).rpartition("lda, ")[2] for one in told([cell])] == [
        "zero-one",
        "auc tuned by zero-one",
        "cost tuned by zero-one",
    ]
    assert len({one["truth"] for one in found}) == 6
    ranks = {"default", "influences, K=5", "corrected-t", "cvAUC"}
    assert [ranks <= set(one["estimates"]) for one in found] == [False, True, False] * 2
    assert {row.cell for row in rows(found, [cell])} == set(told([cell]))


def test_run_averages_scores_over_folds_and_pools_the_same_answers():
    cell = Cell("imbalanced", 120, "knn", "f1 by folds", ("f1 pooled",))
    assert cell in MEANS
    found = run(cell, 0)
    pooled = found["scores"]["f1 pooled"]
    assert found["truth"] == pooled["truth"]
    assert found["estimates"]["default"][0] != pooled["estimates"]["default"][0]
    alone = run(Cell("imbalanced", 120, "knn", "f1 by folds", ("f1",)), 0)
    assert pooled["estimates"] == alone["scores"]["f1"]["estimates"]
    words = {word for cell in MEANS for word in (cell.loss, *cell.scores)}
    assert "auc by folds" in words
    assert "auc pooled" not in words


@pytest.mark.parametrize("problem", ["linear", "imbalanced"])
def test_true_value_of_a_score_does_not_depend_on_its_average(problem):
    score = "r2" if problem == "linear" else "f1"
    cell = Cell(problem, 120, "knn", f"{score} by folds", (f"{score} pooled", score))
    found = run(cell, 0)
    truths = [found["truth"], *(one["truth"] for one in found["scores"].values())]
    assert truths == [truths[-1]] * 3
    assert 0 < truths[0] < 2


def test_coverage_leaves_out_a_cell_without_any_interval():
    other = Cell("noise", 50, "knn")
    kept = [line(seed, 0.2, {"one drawing": [0.2, 0.1, 0.3]}) for seed in range(4)]
    none = [line(seed, 0.2, {"one drawing": [0.2, None, None]}, other) for seed in range(4)]
    (total,) = by_interval(rows(kept + none, [CELL, other]))
    assert (total.covers, total.n_sets) == (1.0, 4)


def test_problems_rate_by_weights_costs_and_classes():
    ones = type("Ones", (), {"predict": staticmethod(lambda X: np.ones(len(X), dtype=int))})
    weighted = PROBLEMS["weighted"]
    X, told_x = weighted._test
    share = np.average(told_x, weights=np.exp(0.7 * X[:, 0]))
    assert abs(share - told_x.mean()) > 0.1
    for loss, risk in (("", 1 - share), ("zero-one", 1 - share), ("f1", (1 - share) / (1 + share))):
        assert weighted.risk(ones, loss) == pytest.approx(risk)
    drawn = weighted.draw(50, np.random.default_rng(0))
    assert drawn.weights == pytest.approx(np.exp(0.7 * drawn.X[:, 0]))
    assert PROBLEMS["imbalanced"].risk(ones, "cost") == pytest.approx(0.9, abs=0.01)
    zeros = type("Zeros", (), {"predict": staticmethod(lambda X: np.zeros(len(X), dtype=int))})
    assert PROBLEMS["imbalanced"].risk(zeros, "cost") == pytest.approx(5 * 0.1, abs=0.05)
    assert PROBLEMS["corners"].risk(ones, "balanced-accuracy") == pytest.approx(0.75)
    assert PROBLEMS["corners"].risk(ones, "cost") == pytest.approx(1.0, abs=0.02)


def test_coverage_counts_what_holds_err():
    lines = [
        line(0, 0.1, {"ncv": [0.2, 0.1, 0.3], "x": [0.2, 0.15, 0.25]}),
        line(1, 0.3, {"ncv": [0.4, 0.3, 0.5], "x": [0.2, None, None]}),
        line(1, 0.3, {"ncv": [0.4, 0.3, 0.5], "x": [0.2, None, None]}),
    ]
    found = {row.word: row for row in rows(lines, [CELL])}
    assert found["ncv"].err == pytest.approx(0.2)
    assert (found["ncv"].n_sets, found["ncv"].covers, found["ncv"].covers_rule) == (2, 0.5, 1.0)
    assert found["ncv"].bias == pytest.approx(0.1)
    assert found["ncv"].rmse == pytest.approx(np.sqrt(0.02))
    assert (found["x"].covers, found["x"].covers_rule) == (0.5, 0.0)
    totals = {one.word: one for one in by_interval(list(found.values()))}
    assert totals["x"].width == pytest.approx(0.5)
    assert totals["x"].nominal == np.inf  # one has none, however it is stretched
    assert "simple, n=30, knn: 2 data sets" in table(lines, [CELL])


def test_coverage_by_loss_names_the_problems_below_93_percent():
    """Each loss has its totals, and such a problem both coverages."""
    other = Cell("noise", 30, "knn", loss="auc", by="zero-one")
    first = Cell("simple", 30, "knn", loss="zero-one", scores=("auc",))
    holds, kept = [0.2, 0.1, 0.3], []
    for seed in range(10):
        both = {"default": holds, "one drawing": holds}
        misses = {**both, "default": [0.2, 0.5, 0.6] if seed == 3 else holds}
        for cell, said in (*((cell, both) for cell in told([first])), (other, misses)):
            kept.append({**line(seed, 0.2, said, cell), "loss": cell.loss, "by": cell.by})
    found = losses.by_loss(kept, [first, other])
    found = [one for one in found if one.total.word == "default"]
    assert [(one.loss, one.total.n_sets, one.short) for one in found] == [
        ("zero-one", 10, ()),
        ("auc", 20, (("noise", 0.9, 0.9, 10),)),
    ]
    assert "auc                default        noise 90.0 (90.0, 10)" in losses.text(found)
    assert losses.text(found[:1]) == ""


def test_surplus_is_read_off_what_was_stored():
    """Of nine data sets a variance is not known."""
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.2, 0.3, 0.2, 0.2, 0.3])
    facts = {"rows_var": 0.15, "repeats": [0.2] * 10}
    lines = [
        {**line(seed, 0.2, {}), "facts": {"outer": v, "moments": [v, 0.24, 0], **facts}}
        for seed, v in enumerate(values)
    ]
    (found,) = surpluses(lines, [CELL, Cell("patients", 120, "knn")])
    assert found.factor == pytest.approx(values.var(ddof=1) / (0.15 / 30))
    assert found.instability == pytest.approx((1 - 0.15 / 0.24) * 10 / 9)
    assert "simple, n=30, knn" in text([found])
    assert surpluses(lines[:9], [CELL]) == []
    assert text([]) == ""


def test_widths_are_compared_at_the_same_coverage():
    """An interval of half the width that must be stretched twice is as wide."""
    truths = np.linspace(-1, 1, 201)
    lines = [
        line(seed, 0.0, {"ncv": [t, t - 0.5, t + 0.5], "x": [t, t - 0.25, t + 0.25]})
        for seed, t in enumerate(truths)
    ]
    totals = {one.word: one for one in by_interval(rows(lines, [CELL]))}
    assert totals["x"].width == pytest.approx(0.5)
    assert totals["x"].nominal == pytest.approx(totals["ncv"].nominal)
    assert totals["ncv"].nominal == pytest.approx(0.95 / 0.5)


def test_lines_leave_out_a_cut_line(tmp_path, capsys):
    """Results of earlier runs, in JSON lines, keep their table; a line that a crash cut is none."""
    path = tmp_path / "runs.jsonl"
    kept = [line(seed, 0.1 * seed, {"ncv": [0.2, 0.1, 0.3]}) for seed in range(3)]
    path.write_text("".join(json.dumps(one) + "\n" for one in kept) + '{"problem": "sim')
    assert list(lines(path)) == kept
    assert main(["--short", "--store", str(path)]) == 0
    assert "simple, n=30, knn: 3 data sets" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--store", str(tmp_path / "other.jsonl")])


@pytest.fixture
def ran(monkeypatch):
    """A trial that costs nothing, and the list of its calls."""
    calls = []

    def double(cell, seed):
        calls.append((cell, seed))
        return {"truth": np.float64(0.2), "estimates": {"ncv": [0.2, 0.1, 0.3]}}

    monkeypatch.setattr("benchmarks.calibration.trial.run", double)
    return calls


def test_battery_goes_on_and_draws(tmp_path, ran, capsys):
    """What is stored is not run again; the table is printed and the picture written."""
    path, picture = tmp_path / "runs.db", tmp_path / "coverage.svg"
    given = ["--short", "--store", str(path), "--seeds", "5"]
    assert main([*given, "--picture", str(picture)]) == 0
    first = len(ran)
    assert main(given) == 0
    assert len(ran) == first
    assert "simple, n=30, knn" in capsys.readouterr().out
    drawn = ET.parse(picture)
    said = {title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")}
    assert {"simple: 100.0 ± 4.5 %", "all: 100.0 ± 0.0 %"} <= said


def test_battery_goes_on_after_a_failure(tmp_path, ran, monkeypatch, capsys):
    """It is named, the others have their line, and it is tried again."""
    given, whole = ["--short", "--store", str(tmp_path / "runs.db"), "--seeds", "2"], trial.run
    place = "benchmarks.calibration.trial.run"
    monkeypatch.setattr(place, lambda cell, seed: whole(cell, 1 // seed))
    assert main(given) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setattr(place, whole)
    assert main(given) == 0


def test_picture_has_both_widths(tmp_path):
    """As they are, and at equal coverage; a dash where an interval is missing too often."""
    lines = [
        line(
            s, 0.2, {"ncv": [v, v - 0.1, v + 0.1], "x": [0.2, None, None] if s else [0.2, 0.1, 0.3]}
        )
        for s, v in enumerate(np.linspace(0.1, 0.3, 40))
    ]
    draw(lines, [CELL], tmp_path / "a.svg")
    texts = [t.text for t in ET.parse(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}text")]
    ncv, x = (texts.index(word) for word in ("ncv", "x"))
    totals = {one.word: one for one in by_interval(rows(lines, [CELL]))}
    assert texts[ncv + 1 : ncv + 3] == ["1.00", f"{totals['ncv'].nominal:.2f}"]
    assert totals["ncv"].nominal < 0.99
    assert texts[x + 1 : x + 3] == ["1.00", "–"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--store", "{0}/none/runs.db"], "runs.db cannot be written: there is no folder"),
        (
            ["--store", "{0}/runs.db", "--picture", "{0}/none/a.svg"],
            "a.svg cannot be written: there is no folder",
        ),
        (["--store", "{0}/foreign.db"], "is no store of truerisk"),
    ],
)
def test_battery_names_bad_places_before_anything_runs(tmp_path, ran, capsys, options, sentence):
    (tmp_path / "foreign.db").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="2"):
        main(["--short", *(option.format(tmp_path) for option in options)])
    assert sentence in capsys.readouterr().err
    assert ran == []


@pytest.mark.parametrize(("share", "code"), [(0.99, 0), (1.01, 1)])
def test_battery_ends_with_an_error_below_the_demanded_coverage(
    tmp_path, monkeypatch, capsys, share, code
):
    """Results without the default interval meet no demand."""
    found = {"truth": 0.2, "estimates": {"ncv": [0.2, 0.1, 0.3], "default": [0.2, 0.1, 0.3]}}
    monkeypatch.setattr("benchmarks.calibration.trial.run", lambda cell, seed: found)
    given = ["--short", "--store", str(tmp_path / "runs.db"), "--seeds", "2"]
    assert main([*given, "--at-least", str(share)]) == code
    assert ("default covers 1.000" in capsys.readouterr().err) == bool(code)
    del found["estimates"]["default"]
    given[2] = str(tmp_path / "without.db")
    assert main([*given, "--at-least", "0.1"]) == 1


def test_collect_gives_every_cell_every_seed_and_runs_a_changed_trial_again(
    tmp_path, ran, monkeypatch
):
    """Results of other problems, learners or trials are not mixed with the new ones."""
    path, cells = tmp_path / "runs.db", [CELL, Cell("difficult", 100, "tree")]
    assert collect(path, cells, 4) == 0
    assert sorted(ran) == sorted((cell, seed) for cell in cells for seed in range(4))
    assert {(cell_of(one), one["seed"]) for one in lines(path)} == set(ran)
    monkeypatch.setattr("benchmarks.calibration.store._source", lambda: "changed")
    assert list(lines(path)) == []
    collect(path, cells, 2)
    assert len(ran) == 12
    assert len(list(lines(path))) == 4


def test_battery_runs_and_reads_data_sets_from_first_seed_on(tmp_path, monkeypatch):
    path, seeds = tmp_path / "runs.db", []

    def told_seed(cell, seed):
        seeds.append(seed)
        return {"truth": 0.5, "estimates": {}}

    monkeypatch.setattr("benchmarks.calibration.trial.run", told_seed)
    collect(path, [CELL], 1)
    collect(path, [CELL], 2, first=30)
    assert seeds == [0, 30, 31]
    assert [line["seed"] for line in lines(path)] == [0, 30, 31]


class Recorded:
    """A rule that says zeros and remembers the rows that it was asked about."""

    def predict(self, X):
        self.seen = X
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("name", ["digits", "diabetes"])
def test_tables_rate_rules_by_the_rows_left_out(name):
    """No row is drawn twice, and those that rate a rule are all the others."""
    drawn, rule = TABLES[name].draw(100, np.random.default_rng(0)), Recorded()
    drawn.risk(rule, "")
    whole = {"digits": load_digits, "diabetes": load_diabetes}[name]().data
    sample = {row.tobytes() for row in drawn.X}
    rest = {row.tobytes() for row in rule.seen}
    assert (len(drawn.X), len(rule.seen)) == (100, len(whole) - 100)
    assert len(np.unique(whole, axis=0)) == len(whole)  # so that rows are known by their numbers
    assert (len(sample), len(rest)) == (100, len(whole) - 100)
    assert not sample & rest


def test_tables_rate_rules_by_labels_of_the_rest():
    """A constant rule errs as often as the rest holds other digits; two of each are drawn."""
    digits = load_digits().target
    drawn = TABLES["digits"].draw(60, np.random.default_rng(1))
    zeros = (digits == 0).sum() - (drawn.y == 0).sum()
    assert drawn.risk(Recorded(), "") == pytest.approx(1 - zeros / (len(digits) - 60))
    assert np.bincount(drawn.y).min() >= 2
    odd, same, other = (TABLES["odd-digits"].draw(60, np.random.default_rng(s)) for s in (1, 1, 2))
    assert set(odd.y) == {0, 1}
    left = ((digits % 2).sum() - odd.y.sum()) / (len(digits) - 60)
    assert odd.risk(Recorded(), "zero-one") == pytest.approx(left)
    assert (odd.X == same.X).all()
    assert (odd.X != other.X).any()


def test_tables_of_documents_are_left_out_without_their_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    kept, missing = here(SCORES)
    assert missing == ["a1a", "ozone", "ozone-level", "satellite", "yeast"]
    assert {"digits", "odd-digits", "diabetes", "noise"} <= {cell.problem for cell in kept}
    monkeypatch.setattr(
        "benchmarks.calibration.trial.run", lambda cell, seed: {"truth": 0.2, "estimates": {}}
    )
    monkeypatch.setattr("benchmarks.calibration.battery.SCORES", (Cell("yeast", 150, "knn"),))
    given = ["--scores", "--store", str(tmp_path / "runs.db"), "--seeds", "1"]
    main(given)
    assert "left out for want of --papers: yeast" in capsys.readouterr().err
    monkeypatch.setenv(FOLDER_VARIABLE, "")  # so that it is put back
    main([*given, "--papers", str(tmp_path)])
    assert capsys.readouterr().err.count("--papers") == 0


def test_run_of_a_table_has_every_score():
    found = run(Cell("digits", 60, "knn", "zero-one", ("f1", "kappa")), 0)
    for said in (found, *found["scores"].values()):
        assert 0 < said["truth"] < 1
        value, low, high = said["estimates"]["default"]
        assert 0 <= low <= value <= high
    assert set(found["scores"]) == {"f1", "kappa"}


def test_ruled_out_prints_a_line_for_each_cell(monkeypatch, capsys):
    monkeypatch.setattr(ruled_out, "CELLS", (Cell("digits", 100, "knn", "log"),))
    ruled_out.main(["--sets", "2"])
    cell, every = capsys.readouterr().out.splitlines()
    assert cell.startswith("digits, n=100, knn, log: withheld ")
    assert every.partition("; ")[2] == cell.partition("; ")[2]


def test_ruled_out_rates_what_is_withheld():
    """Four of five data sets have an interval, which three hold; the fifth would have held, too."""
    given = np.array([True, True, True, True, False])
    held = np.array([True, True, True, False, True])
    said = ruled_out._counted(given, held)
    assert said == "withheld 20.0%; held 75.0% of 4, withheld ones 100.0% of 1"
