"""Answers lie in flat blocks, and a part of them is the answers to a part of the plan."""

from dataclasses import replace

import numpy as np
import pytest

from truerisk.extend import ALL, Answers, PlanBuilder
from truerisk.plan.answers import Failure, append_candidates, class_code_dtype, merge_runs


def answers_of_three(response: str = "label") -> Answers:
    """Answers of two candidates to three questions of unequal sizes, asked of two fits."""
    builder = PlanBuilder(6)
    a, b, c = builder.partition(np.array([0, 0, 0, 1, 1, 2]))
    for left_out, tested in ((a, a), (b, b), (a, c)):
        builder.ask((ALL, (left_out,)), (tested, ()))
    plan = builder.build()
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


def test_answers_to_a_question_are_its_stretch_of_the_flat_list():
    """For scores, one number."""
    answers = answers_of_three()
    blocks = [block.tolist() for block in answers]
    assert blocks == [[[0, 1, 2], [6, 7, 8]], [[3, 4], [9, 10]], [[5], [11]]]
    assert answers_of_three("scored").for_question(1).tolist() == [1, 4]
    assert answers.n_candidates == 2


@pytest.mark.parametrize("response", ["label", "scored"])
@pytest.mark.parametrize("questions", [[2, 1], [1], [0, 2], []], ids=str)
def test_answers_to_a_part_of_the_plan_follow_the_questions(response, questions):
    answers = answers_of_three(response)
    part = answers.select(np.array(questions, dtype=int))
    for new, old in enumerate(questions):
        assert part.for_question(new).tolist() == answers.for_question(old).tolist()
        assert part.plan.test_rows(new)[0].tolist() == answers.plan.test_rows(old)[0].tolist()
    assert part.answered.tolist() == answers.answered[:, questions].tolist()
    fits = sorted({int(answers.plan.fit[q]) for q in questions})
    assert part.fit_seconds.tolist() == answers.fit_seconds[:, fits].tolist()
    assert [f.fit for f in part.failures] == ([fits.index(1)] if 1 in fits else [])


@pytest.mark.parametrize("n", [2, 126, 127, 128, 32766, 32767, 40000])
def test_code_type_holds_every_class_code_and_minus_one(n):
    info = np.iinfo(class_code_dtype(n))
    assert info.min <= -1
    assert n - 1 <= info.max


@pytest.mark.parametrize("response", ["label", "scored"])
def test_filled_parts_are_what_was_asked_at_once(response):
    whole = replace(answers_of_three(response), also=(answers_of_three(),))
    asked = np.array([[True, False], [False, True]])
    part, rest = whole.part(asked), whole.part(~asked)
    assert part.answered.tolist() == [[True, False, True], [False, False, False]]
    assert (part.n_fits, len(part.failures), len(rest.failures)) == (2, 1, 0)
    np.testing.assert_array_equal(part.made, asked)
    wrong = ~part.made[:, part.plan.fit]
    at = wrong if response == "scored" else np.repeat(wrong, part.plan.test_sizes, axis=1)
    blank = replace(part, values=np.where(at, -1, part.values))
    for one in (merge_runs([blank, rest]), merge_runs([rest, blank])):
        for name in ("values", "answered", "fit_seconds"):
            np.testing.assert_array_equal(getattr(one, name), getattr(whole, name))
        np.testing.assert_array_equal(one.also[0].answered, whole.answered)
        assert (one.n_fits, one.failures) == (4, whole.failures)


def test_joined_candidates_stand_below_each_other():
    """Those of a second part are numbered on, also where they failed."""
    one = answers_of_three()
    both = append_candidates([one, replace(one, engine="another", notes=("a note",))])
    assert both.values.tolist() == [*one.values.tolist(), *one.values.tolist()]
    assert [(f.fit, f.candidate) for f in both.failures] == [(1, 1), (1, 3)]
    assert (both.n_fits, both.engine, both.notes) == (8, "none, another", ("a note",))
    np.testing.assert_array_equal(both.fit_seconds, np.vstack([one.fit_seconds] * 2))
