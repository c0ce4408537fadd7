"""No change of the house changes an answer: values, intervals, notes, tables, JSON, refusals."""

import json
from pathlib import Path

import pytest
from tests.golden.calls import calls
from tests.golden.records import differences, record

KEPT = Path(__file__).parent / "answers.json"
CALLS = calls()


def write(path=KEPT, calls=CALLS):
    """Write the answer of each call on a line of its own, so that a diff names the calls.

    An answer that agrees with the kept one is not rewritten: its last digits depend on the
    processor.
    """
    kept = json.loads(path.read_text("utf-8"))
    lines = []
    for name, call in calls.items():
        new = json.loads(json.dumps(record(call)))
        if name in kept and not differences(kept[name], new):
            new = kept[name]
        lines.append(f"{json.dumps(name)}: {json.dumps(new, ensure_ascii=False, sort_keys=True)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


@pytest.fixture(scope="module")
def kept():
    return json.loads(KEPT.read_text("utf-8"))


def test_calls_are_kept(kept):
    """None is missing and none is left over: `python -m tests.golden` writes them anew."""
    assert list(kept) == list(CALLS)
    assert sum("refused" in one["answer"] for one in kept.values()) < len(kept) / 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_answer_is_the_one_that_was_kept(kept, name):
    """To a ten-millionth in numbers, to the letter in words."""
    new = json.loads(json.dumps(record(CALLS[name])))
    assert differences(kept[name], new) == []


def test_answers_are_rewritten_only_where_they_differ(tmp_path):
    """The last digit of a kept number stays; a new word and a new call are written."""
    kept = {"close": {"answer": 0.5}, "changed": {"answer": "a"}, "removed": {"answer": 1}}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(kept), "utf-8")
    write(path, {"close": lambda: 0.5 + 1e-12, "changed": lambda: "b", "new": lambda: 2})
    assert path.read_text("utf-8").splitlines() == [
        "{",
        '"close": {"answer": 0.5},',
        '"changed": {"answer": "b"},',
        '"new": {"answer": 2}',
        "}",
    ]
