"""JSON that is damaged, foreign or newer is refused with a sentence; what is sound is drawn."""

from __future__ import annotations

import copy
import json
import random

import pytest
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.errors import BadData, Refusal
from truerisk.results.json_values import parse


def places(value, path=()):
    """Every place of a document, arrays of numbers by their first entries."""
    yield path
    if isinstance(value, dict):
        for name, one in value.items():
            yield from places(one, (*path, name))
    elif isinstance(value, list):
        for i, one in enumerate(value[:2]):
            yield from places(one, (*path, i))


def put(content, path, value):
    """The document with another value in one place."""
    changed = copy.deepcopy(content)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return changed


def drop(content, path):
    """The document without one place."""
    changed = copy.deepcopy(content)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    del inside[path[-1]]
    return changed


def refusal(read, content) -> str:
    """The sentence of a refusal, nothing where there is none."""
    try:
        read(content)
    except BadData as error:
        return str(error)
    return ""


def test_what_was_written_is_read(content, found):
    """And prints, draws and is written as it was; what needs the rows is refused."""
    again = tr.Assessment.from_dict(content)
    assert str(again) == str(found)
    assert again._repr_html_() == found._repr_html_()
    assert again.to_html() == found.to_html()
    assert json.loads(again.to_json()) == content
    assert again.difference("knn", "bayes") == found.difference("knn", "bayes")
    assert again.plot_roc().get_title() == found.plot_roc().get_title()
    with pytest.raises(Refusal, match="answers of rows that were held out"):
        again.best_set(0.5)


def test_a_changed_document_is_drawn_or_refused(content):
    """Wrong values in 120 places: each is a page or a sentence, never another error."""
    draw = random.Random(0)
    every = [path for path in places(content) if path]
    wrong = [None, True, -1, 1e308, "x", "nan", [], {}, [None], {"a": "b"}, "</script>"]
    refused = 0
    for path in draw.sample(every, min(120, len(every))):
        changed = put(content, path, draw.choice(wrong))
        said = refusal(tr.Assessment.from_dict, changed)
        refused += said != ""
        assert len(said) < 400, path
    assert refused > 15


def test_some_changed_documents_are_drawn(content):
    """What is not refused can be drawn."""
    draw = random.Random(1)
    every = [path for path in places(content) if path]
    drawn = 0
    for path in draw.sample(every, 70):
        changed = put(content, path, draw.choice([None, 0, 0.5, "x", []]))
        drawn += refusal(draw_any, changed) == ""
    assert drawn > 6


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (("best",), "'best'"),
        (
            ("learners", "knn", "risk", "interval", "low"),
            "'learners.knn.risk.interval' lacks 'low'",
        ),
        (("learners", "knn", "curve", "estimates"), "'learners.knn.curve' lacks 'estimates'"),
        (("roc", "fpr"), "'roc' lacks 'fpr'"),
    ],
)
def test_a_lost_field_is_named(content, path, sentence):
    """The sentence says what is missing and where."""
    with pytest.raises(BadData, match="damaged") as refused:
        tr.Assessment.from_dict(drop(content, path))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("best",), "nobody"),
        (("n_rows",), -3),
        (("n_rows",), True),
        (("confidence_level",), 1.5),
        (("learners", "knn", "curve", "best"), 99),
        (("learners", "knn", "stability", "frequencies"), {"99": 1}),
        (("learners", "knn", "risk", "interval"), {"low": 1, "high": 0, "method": "wald"}),
        (("roc", "tpr"), [0.0, 2.0]),
        (("roc", "n_positive"), 0),
        (("roc", "thresholds"), ["inf"]),
        (("calibration", "low"), [0.5]),
    ],
)
def test_a_wrong_value_is_named(content, path, value):
    """Values that contradict each other or their meaning are refused by their place."""
    with pytest.raises(BadData, match="damaged"):
        tr.Assessment.from_dict(put(content, path, value))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: write results"),
        ("<html>", "no JSON"),
        ('{"schema": NaN}', "no JSON"),
        ("[" * 100_000, "too deeply"),
        ("9" * 10_000, "no JSON"),
        ("[]", "not of truerisk"),
        ('{"schema": "skore/1"}', "not of truerisk"),
        ('{"schema": "truerisk.risk-estimate/2"}', "is drawn of an assessment"),
        (
            '{"schema": "truerisk.assessment/3"}',
            "of version 3 of .* reads versions 1 to 2: upgrade",
        ),
        ('{"schema": "truerisk.assessment/x"}', "no known version"),
        ('{"schema": "truerisk.assessment/2"}', "lack 'learners'"),
    ],
    ids=lambda value: value[:24],
)
def test_foreign_text_is_refused(text, sentence):
    """No JSON, other JSON, other results, newer results: each has its sentence."""
    with pytest.raises(BadData, match=sentence):
        draw_any(parse(text))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """Missing, a folder, not text, too large."""
    with pytest.raises(BadData, match=r"nothing.json' cannot be read: No such file"):
        draw_any(parse(tmp_path / "nothing.json"))
    with pytest.raises(BadData, match="cannot be read"):
        parse(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadData, match="not text in UTF-8"):
        parse(tmp_path / "bytes")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(BadData, match="holds 1,073,741,824 bytes or more, and at most"):
        parse(tmp_path / "large")


def test_keys_of_later_versions_are_left_alone(content):
    """A field that this version does not know changes nothing."""
    more = {**content, "later": {"a": 1}}
    assert draw_any(more) == draw_any(json.loads(json.dumps(content)))
