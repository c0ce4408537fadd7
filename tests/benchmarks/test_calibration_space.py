"""The calibration in space asks the library, and resumes."""

import json
from itertools import pairwise

import numpy as np
import pytest
from benchmarks.calibration import all_rows, credible, finished, space, survival, validated
from benchmarks.calibration.credible import COLUMNS, Held, coverage
from benchmarks.calibration.space import Cell, main, run, table
from benchmarks.calibration.usual import corrected_t, cvauc, influences
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks import space_folds
from truerisk.datasets import make_simple
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks
from truerisk.extend import Family
from truerisk.methods import KFold
from truerisk.methods.bayesian import rule_errors
from truerisk.results import evaluation as found

CELL = Cell(0.15, 40)


@pytest.fixture(scope="module")
def lines():
    return [line for seed in range(2) for line in run(CELL, seed)]


def test_run_says_risk_and_intervals_of_each_learner(lines):
    """Around the value, and of the region for those that are not tuned."""
    assert len(lines) == 2 * len(space.LEARNERS)
    for line in lines:
        assert line["spatial"][0] < line["value"] < line["spatial"][1]
        assert line["labels"][0] < line["label_value"] < line["labels"][1]
        assert (line["region"] is None) == ("tuned" in line["learner"])


def test_truth_of_a_field_is_the_mean_of_the_others(lines):
    """No interval took part in it. Learners of one field count as one."""
    assert space._of_others([1.0, 2.0, 6.0]) == pytest.approx([4.0, 3.5, 1.5])
    words = table(lines).splitlines()
    assert words[0].split()[0] == "cell"
    assert any(word.startswith("all: ") for word in words)
    # Both hold in one field and neither in the other: half, give or take .35, and not .25.
    assert space._share({1: [True, True], 2: [False, False]}) == "0.500 ± 0.354"
    assert space._share({1: [True, False], 2: [False, True]}) == "0.500 ± 0.000"
    assert space._share({1: []}) == "–"


def test_run_asks_a_score_of_the_classifiers_alone():
    """Its intervals stand beside its values; a width without Wald's is no number."""
    told = [line for seed in range(3) for line in run(CELL, seed, "auc")]
    assert {line["learner"].split()[0] for line in told} == {"classification"}
    for line in told:
        assert line["spatial"][0] < line["value"] < line["spatial"][1]
        assert (line["region"], line["wald"]) == (None, None)
    assert "nan" in table(told)


def test_space_goes_on_where_it_ended(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(space, "CELLS", (CELL,))
    store = tmp_path / "space.jsonl"
    for seeds in ("1", "2"):
        main(["--seeds", seeds, "--store", str(store)])
    kept = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    assert np.bincount([line["seed"] for line in kept]).tolist() == [6, 6]
    assert "all:" in capsys.readouterr().out


class Drawn(Exception):
    """Nothing is drawn but the first number."""


@pytest.mark.parametrize(
    "battery", ["credible", "space", "space_folds", "validated", "finished", "survival"]
)
def test_cells_share_no_data_set(battery, monkeypatch):
    """The first random number of every cell, also of those of as many rows, is its own."""
    seen = []

    def draw(rng):
        seen.append(rng.random())
        raise Drawn

    def field(*given, **options):
        return lambda n, random_state: draw(random_state)

    for of_models in (validated.Cell, finished.Cell, survival.Cell, survival.Table):
        monkeypatch.setattr(of_models, "draw", lambda self, n, rng, **own: draw(rng))
    monkeypatch.setattr(space, "FieldProblem", field)
    monkeypatch.setattr(space_folds, "FieldProblem", field)
    makers = {name: (field(), 50, 1.0) for name in credible.PROBLEMS}
    monkeypatch.setattr(credible, "PROBLEMS", makers)
    cells, start = {
        "credible": (makers, lambda name: coverage(name, 1)),
        "space": (space.CELLS, lambda cell: run(cell, 3)),
        "space_folds": (
            space_folds.RANGES,
            lambda range_: space_folds.measured("15 neighbours", range_, 3),
        ),
        "validated": (validated.CELLS, lambda cell: validated.rate(cell, 1, 3)),
        "finished": (finished.CELLS, lambda cell: finished.rate(cell, 1, 3)),
        "survival": (survival.CELLS, lambda cell: survival.rate(cell, 1, 3)),
    }[battery]
    for cell in cells:
        with pytest.raises(Drawn):
            start(cell)
    assert len(set(seen)) == len(cells) > 2


# What a note says of a model of all rows, held to drawings: a line for each cell and law


def test_law_of_all_rows_prints_a_line_for_every_cell_and_law(monkeypatch, capsys):
    """A law that takes nothing off leaves the fall as bias and the error as it is."""
    monkeypatch.setattr(all_rows, "CELLS", all_rows.CELLS[:1])
    monkeypatch.setattr(all_rows, "STEEP", -1.0)
    all_rows.main(["--sets", "3"])
    cell, nothing, *laws = capsys.readouterr().out.splitlines()
    assert cell.startswith("digits, n=100, knn, zero-one: risk 0.1")
    risk, fall = (float(cell.split(word)[1].split()[0]) for word in ("risk ", "falls by "))
    assert abs(float(nothing.split("|bias| ")[1].split(",")[0]) - abs(fall) / risk) < 0.002
    assert nothing.endswith("error 1.000, at most 1.000")
    assert len(laws) == 9


# The credible interval in the battery: counted by column, None where there is no posterior


def test_coverage_of_credible_intervals_is_counted_by_column():
    """Every interval holds the truth, lies above it or below it; standardised ones lie above."""
    found = coverage("difficult, n = 50", 20)
    assert list(found) == list(COLUMNS)
    for held in found.values():
        assert held.inside + held.above + held.below == pytest.approx(1)
    assert found["own rows"].above > 0.2
    assert found["raw units, own rows"].inside > 0.8


def test_coverage_of_many_features_is_low_by_own_rows_and_held_by_others():
    """No interval of `flat` is stated for 20 features and 50 rows; as if one were, it is high."""
    found = coverage("sparse, n = 100", 10)
    assert found["flat, own rows"].above == 1
    assert found["jeffreys, own rows"].inside > 0.3
    assert rule_errors.MAX_EXCESS_VARIANCE == 1
    found = coverage("sparse, n = 28", 10)
    assert found["flat, own rows"] is None
    assert found["own rows"].below > 0.1 > found["other rows"].below
    assert found["other rows"].inside > 0.8


def test_credible_prints_a_row_per_problem_and_the_inflation_of_priors(monkeypatch, capsys):
    """Far beyond the bound of a prior no interval holds the error; within it most do."""
    simple = {"simple, n = 50": credible.PROBLEMS["simple, n = 50"]}
    monkeypatch.setattr(credible, "WIDENED", [(50, 20, "flat"), (50, 2, "flat")])
    credible.main(["--inflation", "--sets", "5"])
    beyond, within = capsys.readouterr().out.splitlines()
    assert beyond.startswith("| 50 20 flat |")
    assert beyond.endswith("0 0 |")
    assert min(map(int, within.strip("| ").split()[-4:])) >= 60
    monkeypatch.setattr(credible, "PROBLEMS", simple)
    credible.main(["--sets", "2"])
    head, row = capsys.readouterr().out.splitlines()
    assert head == "| | " + " | ".join(COLUMNS) + " |"
    assert row.startswith("| simple, n = 50 | ")
    assert str(Held(0.951, 0.03, 0.019)) == "95.1 (+3.0 −1.9)"


# The intervals of a validation in the battery: a line for each number, held to its truth


def test_validated_holds_every_number_to_its_truth(monkeypatch, capsys):
    """The truth is that of fresh rows, and the shares are those of the sets."""
    monkeypatch.setattr(validated, "FRESH", 2_000)
    validated.main(["--sets", "3", "--cell", "0"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "LogisticRegression 150 x 3, shift -0.5: 3 sets"
    assert [line.split(" truth ")[0].strip() for line in lines] == list(validated.NAMES)
    slope = lines[0].split()
    assert 0.7 < float(slope[2].rstrip(",")) < 1.4
    assert float(slope[-1]) in (0, 0.333, 0.667, 1)


# ---------------- What others give of a score, against the formulas row by row


@pytest.fixture(scope="module")
def computed():
    X, y = make_simple(67, random_state=1)
    posed = problem_from_arguments(
        Family.from_grid(LogisticRegression(), {"C": [1.0]}), X, y, scoring="auc"
    )
    return compute_risks(posed, KFold(5))


def test_corrected_t_of_folds_is_nadeau_and_bengios(computed):
    """With K folds as J splits."""
    (tested,) = computed.tested
    value, low, high = corrected_t(tested, computed.problem.loss)
    error = np.sqrt(tested.split_risks.var(ddof=1) * (1 / 5 + 1 / 4))
    expected = tested.value, tested.value + stats.t(4).ppf(0.975) * error
    assert (value, high) == pytest.approx(expected)
    assert low == pytest.approx(max(0, 2 * value - high))
    alike = found.Tested(0.1, split_risks=np.full(5, 0.1))
    assert corrected_t(alike, computed.problem.loss) == [0.1, None, None]


def test_cvauc_interval_follows_its_influence_curve(computed):
    """A row at a time, as the R package has it."""
    (tested,) = computed.tested
    answers, data = computed.answers, computed.problem.data
    rows, ends = answers.plan.positions[0], answers.plan.test_offsets
    y, said = data.codes_of(rows), answers.values[0]
    weight = {1: 1 / y.mean(), 0: 1 / (1 - y.mean())}
    squares = []
    for a, b in pairwise(ends):
        auc, of_fold = roc_auc_score(y[a:b], said[a:b]), []
        for i in range(a, b):
            others = said[a:b][y[a:b] != y[i]]
            right = others < said[i] if y[i] else others > said[i]
            of_fold.append(weight[y[i]] * (right.mean() - auc))
        squares.append(np.mean(np.square(of_fold)))
    half = stats.norm.ppf(0.975) * np.sqrt(np.mean(squares) / len(rows))
    value, low, high = cvauc(tested, answers, data)
    assert (value, high) == pytest.approx((tested.value, tested.value + half))
    assert low == pytest.approx(max(0, tested.value - half))


def test_influences_are_normal_on_the_logit_or_the_log(computed):
    loss = computed.problem.loss
    value, low, high = influences(found.Tested(0.2, 0.05), loss)
    logit = np.log([v / (1 - v) for v in (low, value, high)])
    assert np.diff(logit) == pytest.approx([1.959964 * 0.05 / 0.16] * 2)
    assert influences(found.Tested(0.0, 0.05), loss) == [0.0, None, None]
