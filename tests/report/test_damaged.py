"""JSON that is damaged, foreign or newer is refused with a sentence; what is sound is drawn."""

import copy
import json
from pathlib import Path

import pytest
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.extend import BadData, Refusal
from truerisk.report.page import result_from_dict
from truerisk.results.json_values import parse_json

LOST = object()


def put(content, path, value):
    """Return the document with another value in one place, or without the place."""
    changed = copy.deepcopy(content)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    if value is LOST:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return changed


def test_assessment_is_read_as_it_was_written(content, found):
    """It draws as it was; what needs the rows is refused."""
    again = tr.Assessment.from_dict(content)
    assert again.difference("knn", "bayes") == found.difference("knn", "bayes")
    assert again.plot_roc().get_title().startswith(found.plot_roc().get_title())
    with pytest.raises(Refusal, match="answers of rows that were held out"):
        again.best_set(0.5)
    more = {**content, "later": {"a": 1}}  # a key of a later version
    assert draw_any(more) == draw_any(content)


KNN, RISK = ("learners", "knn"), ("learners", "knn", "risk", "interval")
COURSE, CURVE = ("learners", "ridge", "over_time"), ("learners", "lda", "learning_curve")
SLOPE = ("calibration", "measures", "slope")
FIRST = ("subgroups", "risks", 0)


@pytest.mark.parametrize(
    ("name", "path", "value", "sentence"),
    [
        ("assessment", ("best",), LOST, "'best'"),
        ("assessment", (*RISK, "low"), LOST, "'learners.knn.risk.interval' lacks 'low'"),
        ("assessment", (*KNN, "curve", "estimates"), LOST, "'learners.knn.curve' lacks 'esti"),
        ("assessment", ("roc", "fpr"), LOST, "'roc' lacks 'fpr'"),
        ("assessment", ("best",), "nobody", "damaged"),
        ("assessment", ("posterior", "errors"), -1, "'posterior' is"),
        ("assessment", ("n_rows",), -3, "damaged"),
        ("assessment", ("n_rows",), True, "damaged"),
        ("assessment", ("confidence_level",), 1.5, "damaged"),
        ("assessment", (*KNN, "curve", "best"), 99, "damaged"),
        ("assessment", (*KNN, "stability", "frequencies"), {"99": 1}, "damaged"),
        ("assessment", RISK, {"low": 1, "high": 0, "method": "wald"}, "damaged"),
        ("assessment", ("roc", "tpr"), [0.0, 2.0], "damaged"),
        ("assessment", ("roc", "n_positive"), 0, "damaged"),
        ("assessment", ("roc", "thresholds"), ["inf"], "damaged"),
        ("assessment", ("calibration", "low"), [0.5], "damaged"),
        ("audit bbc", ("settings",), LOST, "they lack 'settings'"),
        ("audit bbc", ("chosen",), 58, "damaged"),
        ("audit bbc", ("risks",), [0.1], "damaged"),
        ("audit bbc", ("risks",), ["a"] * 58, "damaged"),
        ("audit bbc", ("within_one_error",), [58], "damaged"),
        ("audit bbc", ("claimed", "value"), "nan", "damaged"),
        ("audit bbc", ("honest", "interval", "low"), 2.0, "damaged"),
        ("audit bbc", ("findings", 0, "code"), "fatal", "damaged"),
        ("audit bbc", ("versions",), {"numpy": 2}, "damaged"),
        ("audit bbc", ("settings",), [3], "damaged"),
        ("many", ("methods",), ["a"], "'methods' is"),
        ("many", ("methods",), ["a", "a", "b", "c"], "'methods' is"),
        ("many", ("ranks",), [1.0], "'ranks' is"),
        ("many", ("values", 0), [1.0], r"values\[0\]"),
        ("many", ("values", 0, 0), "x", r"values\[0\]\[0\]"),
        ("many", ("pairs", 0, "a"), "nobody", r"pairs\[0\].a"),
        ("many", ("pairs", 0, "p_holm"), 2, r"pairs\[0\].p_holm"),
        ("many", ("friedman", "f_df"), [1], "friedman.f_df"),
        ("many", ("terms", "rope"), None, "terms.rope"),
        ("many", ("terms", "better"), "both", "in 'terms', better='both'"),
        ("validation", ("risk",), LOST, "lack 'risk'"),
        ("validation", ("net_benefit", "low"), [0.0], "net_benefit.low"),
        ("validation", ("net_benefit", "thresholds"), "x", "not an array"),
        ("validation", ("calibration", "edges"), [0.0], "an array of 21 numbers"),
        ("validation", ("calibration", "counts"), [], "of 1 entries at least"),
        ("validation", ("calibration", "curve", "high"), [1.0], "as long as 'predicted', 101"),
        ("validation", (*SLOPE, "honest"), "x", "not a number"),
        ("validation", (*SLOPE, "word"), "x", "word of a measure"),
        ("parts", (*FIRST, "whole", "value"), "high", "whole.value"),
        ("parts", (*FIRST, "levels"), {}, "levels"),
        ("parts", (*FIRST, "levels", 0, "subgroup", "n_rows"), -1, "n_rows"),
        ("parts", ("stability", "features", "shares"), [0.5], "as long as 'names', 3"),
        ("parts", ("stability", "predictions", "low"), [0.1], "as long as 'rows', 90"),
        ("parts", ("checklist", "items", 3, "asks"), None, "asks"),
        ("learning", (*CURVE, "sizes"), [10.0], "estimates' is .* not as long as 'sizes'"),
        ("learning", (*CURVE, "sizes"), "many", "sizes"),
        ("learning", (*CURVE, "sizes"), [50.0, 40.0, 30.0, 20.0], "ascending"),
        ("learning", (*CURVE, "confidence_level"), 7, "confidence_level"),
        ("learning", (*CURVE, "lacking"), 3, "lacking"),
        ("over time", (*COURSE, "values"), [1.0], "not as long as 'starts'"),
        ("over time", (*COURSE, "low"), [1.0], "not as long as 'starts'"),
        ("over time", (*COURSE, "starts"), [None] * 10, "starts"),
        ("over time", (*COURSE, "n_rows"), "many", "n_rows"),
        ("over time", (*COURSE, "said"), 3, "said"),
        ("over time", (*COURSE, "confidence_level"), 7, "confidence_level"),
    ],
)
def test_damaged_json_is_refused_by_its_place(results, name, path, value, sentence):
    """What is missing, contradicts itself or its meaning, or is of a later version."""
    content = json.loads(results[name].to_json())
    if value == [50.0, 40.0, 30.0, 20.0]:
        value = content["learners"]["lda"]["learning_curve"]["sizes"][::-1]
    with pytest.raises(BadData, match=sentence):
        result_from_dict(put(content, path, value))


def large(path):
    with path.open("wb") as file:
        file.truncate(2**30)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "is empty: write results"),
        ("<html>", "no JSON"),
        ('{"schema": NaN}', "no JSON"),
        ("[" * 100_000, "too deeply"),
        ("9" * 10_000, "no JSON"),
        ("[]", "not of truerisk"),
        ('{"schema": "skore/1"}', "not of truerisk"),
        ('{"schema": "truerisk.risk-estimate/2"}', "is drawn of an assessment"),
        ('{"schema": "truerisk.assessment/x"}', "no known version"),
        ('{"schema": "truerisk.assessment/2"}', "lack 'learners'"),
        # files, by what makes them
        (lambda _: None, "a.json' cannot be read: No such file"),
        (Path.mkdir, "cannot be read"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "not text in UTF-8"),
        (large, "holds 1,073,741,824 bytes or more, and at most"),
    ],
    ids=[
        *("empty", "html", "nan", "deep", "digits", "list", "other", "estimate", "odd version"),
        *("nothing in it", "no file", "folder", "no text", "large"),
    ],
)
def test_foreign_json_is_refused(tmp_path, source, sentence):
    """Each kind of bad source has its own message.

    Sources are invalid JSON, other JSON, results of another kind or version, and unreadable files.
    """
    if callable(source):
        source(tmp_path / "a.json")
        source = tmp_path / "a.json"
    with pytest.raises(BadData, match=sentence):
        draw_any(parse_json(source))
