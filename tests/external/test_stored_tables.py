"""Tables that other programs left: `audit_table` gives the bootstrap correction of their losses.

`data/tables.R` made `tidymodels.csv`, `caret.csv` and the files of the same names in docs (Rscript
tables.R ../../../docs/patients.csv ../../../docs), and `data/tables.py` made the others.
"""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import truerisk as tr
from truerisk.extend import Streams
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap

DATA = Path(__file__).parent / "data"
DOCS = DATA.parents[2] / "docs"


def tidymodels():
    columns = {".config": "candidate", ".row": "row", "id": "fold", "relapse": "y"}
    shares = {".pred_no": "probability_no", ".pred_yes": "probability_yes"}
    return pd.read_csv(DATA / "tidymodels.csv").rename(columns=columns | shares)


def caret():
    columns = {"k": "candidate", "rowIndex": "row", "Resample": "fold", "obs": "y"}
    shares = {"no": "probability_no", "yes": "probability_yes"}
    return pd.read_csv(DATA / "caret.csv").rename(columns=columns | shares)


def autogluon():
    left, lines = pickle.loads((DATA / "predictor.pickle").read_bytes()), []
    names = [f"probability_{name}" for name in left["classes"]]
    for model, single in left["oof"].items():  # Sums in single precision are not exactly 1.
        shares = single / single.sum(axis=1, keepdims=True, dtype=float)
        lines.append(pd.DataFrame(shares, columns=names).assign(candidate=model, y=left["labels"]))
    return pd.concat(lines).reset_index(names="row")


def prompts():
    columns = {"prompt": "candidate", "item": "row", "document": "group", "target": "y"}
    return pd.read_csv(DATA / "prompts.csv").rename(columns=columns | {"answer": "prediction"})


def errors(lines):
    return lines.prediction != lines.y


def squares(lines):
    return ((lines.y == "yes") - lines.probability_yes) ** 2


def surprise(lines):
    return -np.log([line[f"probability_{line['y']}"] for _, line in lines.iterrows()])


CASES = {
    "tidymodels": (tidymodels, "brier", squares),
    "caret": (caret, "brier", squares),
    "autogluon": (autogluon, "log", surprise),
    "prompts": (prompts, "zero-one", errors),
}


@pytest.mark.parametrize("case", CASES)
def test_stored_table_has_the_bootstrap_correction_of_its_losses(case):
    read, scoring, loss_of = CASES[case]
    lines = read()
    losses = lines.assign(loss=loss_of(lines)).pivot_table("loss", "candidate", "row", sort=False)
    losses = losses[sorted(losses)]
    groups = None
    if "group" in lines:
        groups = lines.drop_duplicates("row").set_index("row").group[losses.columns].to_numpy()
    audit = tr.audit_table(lines, scoring=scoring)
    corrected = correct_risk_by_bootstrap(losses, Streams(0).get("bbc"), groups=groups)
    assert audit.selected.candidate == str(losses.index[losses.mean(axis=1).argmin()])
    assert audit.honest.value == pytest.approx(corrected.value, abs=1e-12)
    assert audit.n_groups == (None if groups is None else len(set(groups)))


@pytest.mark.parametrize("read", [tidymodels, caret])
def test_lines_of_r_on_the_page_were_run(read):
    """The script holds the page's block of R, which wrote the table that the page audits."""
    script = (DATA / "tables.R").read_text("utf-8")
    page = (DOCS / "tables-of-searches.md").read_text("utf-8")
    name = read.__name__
    (block,) = re.findall(rf"## {name}\n.*?```r\n(.*?)```", page, re.S)
    assert block in script
    written = pd.read_csv(DOCS / f"{name}.csv")
    pd.testing.assert_frame_equal(written, read()[list(written)])


@pytest.mark.parametrize("name", ["sa_heart.csv", "gbsg_predictions.csv"])
def test_page_shows_the_rows_that_r_validated(name):
    golden = DATA.parents[1] / "golden" / "clinical" / name
    assert (DOCS / name).read_bytes() == golden.read_bytes()


def test_losses_on_the_page_are_those_of_forty_equal_settings():
    """The page states the true error of all of them, 0.3."""
    rng = np.random.default_rng(0)
    difficulty = rng.choice([0.05, 0.55], size=150)  # Half of the rows are hard.
    losses = (rng.random((40, 150)) < difficulty).astype(int)
    written = pd.read_csv(DOCS / "losses.csv")
    assert list(written) == [f"setting {number}" for number in range(1, 41)]
    assert np.array_equal(written.to_numpy(), losses.T)
