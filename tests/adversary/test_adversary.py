"""Fixed cases through every engine, and the adversary itself on engines that are broken."""

import contextlib
import io
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.adversary.attacking import attacked, report, small
from tests.adversary.cases import GENERIC, Case, draw_case
from tests.adversary.commands import COMMANDS, PLACES, Command
from tests.adversary.comparing import failures
from tests.adversary.damage import EDITS, KINDS_OF_RESULTS, Damage
from tests.adversary.faces import FACES, Face
from tests.adversary.learners import ALWAYS, LEARNERS, Drawn
from tests.adversary.lines import LINES, Line
from tests.adversary.methods import COMMON
from tests.adversary.outputs import OUTPUTS, PRINTED, Output
from tests.adversary.running import Here, Worker
from tests.adversary.steps import STEPS
from tests.adversary.structures import DRAWN_STRUCTURES, Structure
from tests.adversary.tables import FORMS, LABELS, STRUCTURES, TARGETS, Table
from tests.adversary.wide import CELLS, Wide
from tests.adversary.writing import Call

HOLDING = {name for name, kind in LEARNERS.items() if ALWAYS & kind.given.keys()}
CASES, CHUNK = 40, 8
HERE = Here()


@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_attacked_engines_agree_on_drawn_cases(first):
    """Every engine says what the generic one says, of the first cases that are drawn."""
    found = [
        attacked(draw_case(number), HERE, shrink=False) for number in range(first, first + CHUNK)
    ]
    assert not any(found), "\n\n".join(filter(None, found))


class Moved:
    """Makes sides in this process, and moves the generic value, each time by another `step`."""

    def __init__(self, step: float) -> None:
        self.by, self.step = 1.0, step

    def outcomes(self, case):
        found = HERE.outcomes(case)
        numbers = {**found[GENERIC].numbers, "0 value": self.by}
        self.by += self.step
        return {**found, GENERIC: replace(found[GENERIC], numbers=numbers)}


def test_attacked_takes_no_random_model_for_a_finding():
    """One that is wrong in the same way each time is; one without a fault is let pass."""
    assert attacked(simple("Truthful"), HERE) == ""
    case = simple("Truthful")
    assert "differs, auto and generic" in attacked(case, Moved(0.0), shrink=False)
    assert not attacked(case, Moved(1.0), shrink=False)


def simple(double: str) -> Case:
    """A ridge regression over three folds, by an engine that is broken."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    table = Table(X, X[:, 0] + rng.normal(size=24), np.ones(24), None, "fortran")
    learner = Drawn(Call("Ridge"), (("alpha", ("0.1", "10.0")),), LEARNERS["Ridge"])
    steps = (Call("StandardScaler"),)
    return Case(0, learner, steps, table, "'3-fold'", "None", engine=f"doubles.{double}()")


@pytest.mark.parametrize(
    ("double", "kind"),
    [
        ("OffByAMillionth", "differs"),
        ("Losing", "raises alone"),
        ("Raising", "bare exception"),
        ("Warning", "warns alone"),
    ],
)
def test_failures_name_a_broken_engine_and_its_script_shows_it(double, kind):
    """What is found is made small, and the printed script alone shows two sides that differ."""
    case = simple(double)
    found = failures(case, HERE.outcomes(case))
    assert kind in {one.kind for one in found}
    first = next(one for one in found if one.kind == kind)
    least = small(case, first, HERE)
    assert len(least.table.X) <= 6
    assert least.table.X.shape[1] == 1
    assert (least.steps, least.table.weights, least.table.form) == ((), None, "plain")
    assert len(least.script) < len(case.script) / 2
    auto, generic = sides_shown(report(least, [first]))
    assert auto != generic


def sides_shown(script: str) -> list[str]:
    """What a script prints of each side."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
    return [part.split("\n", 1)[1] for part in said.getvalue().split("ask(") if part]


def test_worker_ends_a_side_that_hangs():
    """The process is replaced, and the other side is still asked."""
    worker = Worker(limit=2.0)
    case = simple("Sleeping")
    found = failures(case, worker.outcomes(case))
    again = failures(simple("Truthful"), worker.outcomes(simple("Truthful")))
    worker.close()
    assert [one.kind for one in found] == ["late"]
    assert not again


def test_failures_by_hand_find_what_both_engines_share():
    """A side that is made by hand is held against the engine as well."""
    splits = "list(KFold(3, shuffle=True, random_state=1).split(np.zeros(len(y))))"
    case = replace(simple("OffByAMillionth"), method=splits, more=("by hand",))
    assert ("auto", "by hand") in {one.sides for one in failures(case, HERE.outcomes(case))}
    assert not failures(
        replace(case, engine='"auto"'), HERE.outcomes(replace(case, engine='"auto"'))
    )


def test_draw_case_depends_on_its_number_alone():
    """The same number is the same script; others are others."""
    assert draw_case(7).script == draw_case(7).script
    drawn = [draw_case(number) for number in range(20)]
    assert len({(case.script, *case.sides.values()) for case in drawn}) == 20
    assert str(draw_case(7)) == str(draw_case(7)) != str(draw_case(32))


def _grouped(case: Case) -> set[str]:
    return {case.learner.call.name} if case.table.groups is not None else set()


def test_draw_case_draws_everything():
    """Thousands of cases hold every learner, step, form of X and y, method, command and face."""
    drawn = [draw_case(number) for number in range(2500)]
    cases = [case for case in drawn if isinstance(case, Case)]
    seen = Counter(case.learner.call.name for case in cases)
    seen.update(one for c in drawn if isinstance(c, Command) for one in (c.words, c.place))
    seen.update(c.call.split("(")[0].removeprefix("tr.") for c in drawn if isinstance(c, Face))
    seen.update(c.words[0] for c in drawn if isinstance(c, Line) and c.words)
    seen.update(edit for c in drawn if isinstance(c, Damage) for _, edit in c.edits)
    seen.update(c.kind for c in drawn if isinstance(c, Damage | Structure | Wide))
    seen.update(one for c in drawn if isinstance(c, Output) for one in (c.words, c.output))
    seen.update(case.table.structure for case in cases)
    of_classes = [c for c in cases if len(np.unique(c.table.y)) > 2 and c.task == "classification"]
    seen.update("several classes" for c in of_classes if "auc" in c.loss)
    seen.update("held, in groups" for c in cases if c.learner.call.name in HOLDING & _grouped(c))
    seen.update(step.name for case in cases for step in case.steps)
    seen.update(case.table.form for case in cases)
    seen.update(case.table.target for case in cases)
    seen.update(case.method for case in cases)
    assert {
        *LEARNERS,
        *STEPS,
        *FORMS,
        *TARGETS,
        *LABELS,
        *COMMON,
        *COMMANDS,
        *PLACES,
        *EDITS,
        *KINDS_OF_RESULTS,
        *OUTPUTS,
        *PRINTED,
        *CELLS,
        *STRUCTURES,
        *DRAWN_STRUCTURES,
        *(line.split()[0] for line in LINES),
        *(face for face in FACES if "." not in face),
        "several classes",
        "held, in groups",
    } <= seen.keys()
