"""No change of the house changes an answer: values, intervals, notes, tables, JSON, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.golden.calls import calls
from tests.golden.records import differences, record

KEPT = Path(__file__).parent / "answers.json"
CALLS = calls()


def write() -> None:
    """Every answer, a line each, so that a diff names the calls."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(record(call), ensure_ascii=False, sort_keys=True)}"
        for name, call in CALLS.items()
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


@pytest.fixture(scope="module")
def kept():
    return json.loads(KEPT.read_text("utf-8"))


def test_every_call_is_kept(kept):
    """None is missing and none is left over: `python -m tests.golden` writes them anew."""
    assert list(kept) == list(CALLS)
    assert sum("refused" in one["answer"] for one in kept.values()) < len(kept) / 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_the_answer_is_the_one_that_was_kept(kept, name):
    """To a ten-millionth in numbers, to the letter in words."""
    new = json.loads(json.dumps(record(CALLS[name])))
    assert differences(kept[name], new) == []
