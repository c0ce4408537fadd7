"""The table of a study: which cells compete, by what, and replicates that some lack."""

from dataclasses import replace

import numpy as np
import pytest

import truerisk as tr
from truerisk.comparison.hierarchical import hierarchical_test
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, Refusal
from truerisk.study.results import StudyResults

PROBLEMS = ("one", "two", "three")


def results(*, learners=("knn", "lda"), methods=("5-fold",), sizes=(30,), drop=()):
    """Three problems and four replicates; risks that tell where they come from."""
    rows, asked = [], []
    for p, problem in enumerate(PROBLEMS):
        for size in sizes:
            for j, learner in enumerate(learners):
                for m, method in enumerate(methods):
                    head = {"problem": problem, "size": size, "learner": learner, "method": method}
                    asked.append({**head, "wanted": 4, "correlation": 0.0})
                    for r in range(4):
                        truth = 0.1 * (p + 1) + 0.02 * j + 0.001 * r
                        rows.append(
                            {**head, "replicate": r, "value": truth + 0.01 * (m + 1) * (-1) ** r,
                             "truth": truth, "seconds": 1.0 + m, "target": "Err_XY",
                             "value_is_score": False, "truth_is_score": False}
                        )  # fmt: skip
    kept = [
        row for row in rows
        if (row["problem"], row["learner"], row["replicate"]) not in drop
    ]  # fmt: skip
    return StudyResults("mine", (), tuple(kept), tuple(asked))


def test_study_compare_takes_the_risk_on_fresh_rows():
    """What the study has several of competes; values are means over replicates."""
    found = results().compare()
    assert (found.name, found.quantity) == ("mine", "risk of the chosen setting on fresh rows")
    assert (found.data_sets, found.methods, found.ranks) == (PROBLEMS, ("knn", "lda"), (1, 2))
    assert np.allclose(found.values, [[0.1015, 0.1215], [0.2015, 0.2215], [0.3015, 0.3215]])
    many = results(sizes=(30, 50), methods=("5-fold", "loo"))
    chosen = many.compare("learner", size=50, method="loo", rope=0.005)
    assert (chosen.values, chosen.terms.rope) == (found.values, 0.005)


def test_study_compare_takes_the_error_of_methods():
    many = results(learners=("knn",), methods=("5-fold", "loo"))
    assert np.allclose(many.compare().values, [[0.01, 0.02]] * 3)
    rows = tuple({**row, "target": "Err"} for row in many.rows)
    by_mean = StudyResults("mine", (), rows, many.designs).compare(by="rmse").values
    signed = np.array([-1.5, -0.5, 0.5, 1.5]) * 0.001 + 0.01 * np.array([1, -1, 1, -1])
    assert by_mean[0][0] == pytest.approx(np.sqrt(np.mean(signed**2)))
    assert np.allclose(many.compare(by="seconds").values, [[1.0, 2.0]] * 3)


def test_study_compare_leaves_out_problems_where_a_learner_failed():
    """The rule for missing cells, as of any table; the others keep their replicates."""
    gone = {("two", "lda", r) for r in range(4)}
    many = results(drop=gone)
    found = many.compare()
    assert found.left_out == ("two",)
    assert found.values[1][0] == pytest.approx(0.2015)
    assert many.compare(missing="last").n_compared == 3
    with pytest.raises(Refusal, match="'lda' has no value on any data set"):
        results(drop={(p, "lda", r) for p in PROBLEMS for r in range(4)}).compare()
    # What one learner lacks on a problem counts for none there.
    found = results(drop={("two", "lda", 3), ("two", "lda", 2)}).compare()
    assert np.allclose(found.values[1], [0.2005, 0.2205])
    assert "2 of 24 replicates have no result" in found.notes[0]
    assert found.notes[1].startswith("2 replicates that another competitor lacks")


@pytest.mark.parametrize(
    ("study", "asked", "error", "sentence"),
    [
        ({"methods": ("5-fold", "loo")}, {}, BadArgument, "give of='learner' or of='method'"),
        (
            {"methods": ("5-fold", "loo")},
            {"of": "learner"},
            BadArgument,
            "several methods (5-fold, loo): compare at one of them, method='5-fold'",
        ),
        ({"sizes": (30, 50)}, {}, BadArgument, "several sizes (30, 50)"),
        ({}, {"size": 60}, UnknownName, "no size 60. It has: 30"),
        ({}, {"learner": "knn"}, UnknownName, "leave it out, as learners compete"),
        ({}, {"of": "problem"}, UnknownName, "give 'learner' or 'method', whichever"),
        ({}, {"by": "bias"}, UnknownName, "Known: truth, value, rmse, seconds"),
        ({"learners": ("knn",)}, {}, Refusal, "1 method: a comparison needs"),
    ],
)
def test_study_compare_refuses(study, asked, error, sentence):
    with pytest.raises(error) as caught:
        results(**study).compare(**asked)
    assert sentence in str(caught.value)


def test_study_compare_knows_how_replicates_correlate(tmp_path):
    """0 of generators; of a table the share of the rows that test."""
    spec = {
        "replicates": 2, "sizes": [30], "problems": ["simple", "iris"], "n_test": 50,
        "learners": [{"word": "knn", "set": {"n_neighbors": k}, "name": f"{k}nn"} for k in (1, 5)],
        "methods": ["2-fold"],
    }  # fmt: skip
    study = tr.Study(spec, tmp_path / "runs.db")
    found = study.run()
    assert [cell["correlation"] for cell in found.designs] == [0.0, 0.0, 0.8, 0.8]
    assert study.results().compare() == found.compare()
    assert found.compare().methods == ("1nn", "5nn")


def test_study_compare_gives_replicates_to_the_hierarchical_test():
    """Differences of the truth, of replicates that both found; of nothing but the truth."""
    many = results(drop={("two", "lda", 3)})
    rows = tuple(
        {**row, "truth": row["truth"] + 0.003 * (i % 5)} for i, row in enumerate(many.rows)
    )
    many = StudyResults("mine", (), rows, many.designs)
    truth = {(r["problem"], r["learner"], r["replicate"]): r["truth"] for r in rows}
    apart = [
        np.array([truth[p, "knn", r] - truth[p, "lda", r] for r in range(4 - (p == "two"))])
        for p in PROBLEMS
    ]
    assert many.compare().pairs[0].hierarchical == hierarchical_test(apart, [0.0] * 3, 0.01)
    assert many.compare(by="value").pairs[0].hierarchical is None


def test_study_compare_refuses_methods_in_a_loss_of_their_own():
    """By their estimates; the truth of every learner is in the score of the study."""
    found = results(learners=("knn",), methods=("5-fold", "bic"))
    rows = tuple(
        {**row, "truth_is_score": True, "value_is_score": row["method"] == "5-fold"}
        for row in found.rows
    )
    mixed = replace(found, rows=rows)
    with pytest.raises(BadArgument, match="loss of their own and others in the score .*'truth'"):
        mixed.compare(by="value")
    assert mixed.compare(by="truth").terms.better == "higher"
    assert found.compare(by="value").terms.better == "lower"
