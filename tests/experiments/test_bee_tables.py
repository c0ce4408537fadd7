"""002, Tables 2 and 3: who chooses the better penalty or cost."""

import numpy as np
import pytest

from truerisk.experiments import bee_tables, reproduce
from truerisk.experiments.bee_choosing import METHOD_NAMES, NOT_CONVERGED, ORACLE, TRAINING_SIZES
from truerisk.experiments.bee_tables import (
    LEAST_NOISE,
    METHOD_NAMES_3,
    METHOD_NAMES_4,
    MOST_NOISE,
    NOISE_COUNT_BY_COLUMN,
    ONE_SE,
    PRINTED_ERRORS_4,
    bee_table_2,
    bee_table_4,
)


def test_bee_table_2_compares_every_choice_at_every_size(findings_of):
    tables = findings_of("bee-table-2").tables
    for place, n in enumerate(TRAINING_SIZES):
        assert tables[place].title.startswith(f"n = {n},")
        assert [row.name for row in tables[place].rows] == [*METHOD_NAMES, ORACLE]
        assert tables[4 + place].columns == (*METHOD_NAMES, ORACLE)
        assert len(tables[4 + place].rows) == len(NOISE_COUNT_BY_COLUMN) == 9
        means = [row.ours for row in tables[place].rows]
        assert list(tables[4 + place].rows[0].means) == means
    assert tables[4].rows[4].name == "30 (document: .163 .159 .148 .145 .187)"
    assert tables[7].rows[8].name == "250 (document: .067 .065 .062 .066 .063)"


def test_bee_table_2_choices_never_beat_the_oracle():
    draws = bee_table_2.replicate(0, 0)
    for column, names in ((LEAST_NOISE, (*METHOD_NAMES, "LOO")), (MOST_NOISE, METHOD_NAMES)):
        for name in names:
            assert (draws[f"{column} {name}"] >= draws[f"{column} {ORACLE}"]).all()
    fewer = draws[f"{LEAST_NOISE} CV-5 features"] - draws[f"{ONE_SE} CV-5 features"]
    assert (fewer >= 0).all()
    assert fewer.any()


def test_bee_table_3_is_drawn_beside_the_document(findings_of):
    found = findings_of("bee-table-3")
    assert len(found.tables) == 6
    assert [row.name for row in found.tables[0].rows] == [*METHOD_NAMES_3, ORACLE]
    assert [row.name for row in found.tables[5].rows] == [*METHOD_NAMES_3]
    ours, theirs = found.figures[0].panels
    assert [one.label for one in ours.series] == [one.label for one in theirs.series]
    assert {panel.kind for panel in (ours, theirs)} == {"shades"}
    errors = {row.name: row.ours for row in found.tables[0].rows}
    assert all(errors[ORACLE] <= errors[name] < 0.3 for name in METHOD_NAMES_3)
    assert {one.label: one.y[0] for one in ours.series} == pytest.approx(
        {name: errors[name] for name in ("CV-5", "BEEp", "BEEi")}
    )
    assert theirs.series[1].y == pytest.approx([0.106, 0.081, 0.064, 0.048])
    last = findings_of("bee-table-2").figures[0].panels[-1]
    assert [one.y[0] for one in last.series] == [0.208, 0.208, 0.207, 0.205, 0.437]


def test_bee_table_4_compares_both_learners(monkeypatch):
    monkeypatch.setattr(bee_tables, "TRAINING_SIZES_4", (40, 40, 40, 40))
    monkeypatch.setattr(bee_tables, "TEST_ROWS", 400)
    logistic, machine, printed = reproduce("bee-table-4", replicates=2, seed=1).tables
    assert [row.name for row in logistic.rows] == [*METHOD_NAMES_4["LR"], "oracle"]
    assert [row.name for row in machine.rows] == [*METHOD_NAMES_4["SVM"], "oracle"]
    assert {row.verdict for row in printed.rows} == {"not printed"}
    for grid in (logistic, machine):
        *others, oracle = [row.means[0] for row in grid.rows]
        assert min(others) >= oracle > 0.05


def test_bee_table_4_judges_signs():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 4))  # alike for all: the gaps are what is printed
    draws = {f"LR {name}": np.full((100, 4), 0.5) for name in ("CV-10", "EBIC", "oracle")}
    draws |= {"SVM oracle": np.full((100, 4), 0.05), f"LR {NOT_CONVERGED}": np.zeros((100, 4))}
    for name, cells in PRINTED_ERRORS_4.items():
        means, spreads = zip(*[map(float, cell.split(" ± ")) for cell in cells])
        draws[name] = np.array(means) + noise * spreads + 1e-3 * rng.normal(size=(100, 4))
    verdicts = [claim.verdict for claim in bee_table_4.findings(draws).claims]
    assert verdicts[:-1] == ["holds"] * 11
    swapped = {**draws, "LR BEEp": draws["LR CV-5"], "LR CV-5": draws["LR BEEp"]}
    verdicts = [claim.verdict for claim in bee_table_4.findings(swapped).claims]
    assert verdicts[:3] == ["does not hold"] * 3
