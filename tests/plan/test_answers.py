"""Answers lie in flat blocks, and a part of them is the answers to a part of the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from truerisk.plan.answers import Answers, Failure, code_type, filled, joined
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan


def plan_of_three() -> Plan:
    """Three questions to two fits, of unequal sizes."""
    builder = PlanBuilder(6)
    a, b, c = builder.partition(np.array([0, 0, 0, 1, 1, 2]))
    builder.ask((ALL, (a,)), (a, ()))
    builder.ask((ALL, (b,)), (b, ()))
    builder.ask((ALL, (a,)), (c, ()))
    return builder.build()


def answers_to(plan: Plan, response: str = "label") -> Answers:
    size = plan.n_questions if response == "scored" else int(plan.test_offsets[-1])
    return Answers(
        plan=plan,
        response=response,
        values=np.arange(2 * size).reshape(2, size),
        answered=np.array([[True, True, True], [True, False, True]]),
        engine="none",
        fit_seconds=np.array([[1.0, 2.0], [3.0, 4.0]]),
        answer_seconds=np.zeros((2, 2)),
        failures=(Failure(1, 1, "it failed"),),
        n_fits=4,
    )


def test_each_question_has_its_block() -> None:
    """Answers to a question are its stretch of the flat list; for scores, one number."""
    answers = answers_to(plan_of_three())
    assert [block.tolist() for block in answers] == [
        [[0, 1, 2], [6, 7, 8]],
        [[3, 4], [9, 10]],
        [[5], [11]],
    ]
    assert answers_to(plan_of_three(), "scored").of(1).tolist() == [1, 4]
    assert answers.n_candidates == 2


@pytest.mark.parametrize("response", ["label", "scored"])
def test_a_part_is_the_answers_to_a_part_of_the_plan(response) -> None:
    """Values, failures and seconds follow the questions, whatever their order."""
    answers = answers_to(plan_of_three(), response)
    for questions in ([2, 1], [1], [0, 2], []):
        part = answers.only(np.array(questions, dtype=int))
        for new, old in enumerate(questions):
            assert part.of(new).tolist() == answers.of(old).tolist()
            assert part.plan.test_rows(new)[0].tolist() == answers.plan.test_rows(old)[0].tolist()
        assert part.answered.tolist() == answers.answered[:, questions].tolist()
        fits = sorted({int(answers.plan.fit[q]) for q in questions})
        assert part.fit_seconds.tolist() == answers.fit_seconds[:, fits].tolist()
        assert [f.fit for f in part.failures] == ([fits.index(1)] if 1 in fits else [])


@pytest.mark.parametrize("n", [2, 126, 127, 128, 32766, 32767, 40000])
def test_codes_fit_their_type(n) -> None:
    """The smallest type holds every class code, and -1 for a label that y does not hold."""
    info = np.iinfo(code_type(n))
    assert info.min <= -1
    assert n - 1 <= info.max


@pytest.mark.parametrize("response", ["label", "scored"])
def test_parts_fill_the_whole(response) -> None:
    """What was asked in parts is what was asked at once; nothing else is made, or answered."""
    whole = replace(
        answers_to(plan_of_three(), response), also=(answers_to(plan_of_three(), "label"),)
    )
    asked = np.array([[True, False], [False, True]])
    part, rest = whole.part(asked), whole.part(~asked)
    assert part.answered.tolist() == [[True, False, True], [False, False, False]]
    assert (part.n_fits, len(part.failures), len(rest.failures)) == (2, 1, 0)
    np.testing.assert_array_equal(part.made, asked)
    wrong = ~part.made[:, part.plan.fit]
    at = wrong if response == "scored" else np.repeat(wrong, part.plan.test_sizes, axis=1)
    blank = replace(part, values=np.where(at, -1, part.values))
    for one in (filled([blank, rest]), filled([rest, blank])):
        np.testing.assert_array_equal(one.values, whole.values)
        np.testing.assert_array_equal(one.answered, whole.answered)
        np.testing.assert_array_equal(one.fit_seconds, whole.fit_seconds)
        np.testing.assert_array_equal(one.also[0].answered, whole.answered)
        assert (one.n_fits, one.failures) == (4, whole.failures)


def test_candidates_stand_below_each_other() -> None:
    """Those of a second part are numbered on, also where they failed."""
    one, other = answers_to(plan_of_three()), answers_to(plan_of_three())
    both = joined([one, replace(other, engine="another", notes=("a note",))])
    assert both.values.tolist() == [*one.values.tolist(), *other.values.tolist()]
    assert [(f.fit, f.candidate) for f in both.failures] == [(1, 1), (1, 3)]
    assert (both.n_fits, both.engine, both.notes) == (8, "none, another", ("a note",))
    np.testing.assert_array_equal(both.fit_seconds, np.vstack([one.fit_seconds] * 2))
