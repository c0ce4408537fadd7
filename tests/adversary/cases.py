"""A case: one learner, its steps and grid, data, a method and a loss, drawn from one integer."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from tests.adversary import pasted
from tests.adversary.commands import draw_command
from tests.adversary.damage import draw_damage
from tests.adversary.faces import draw_face
from tests.adversary.learners import LEARNERS, Drawn, draw_learner
from tests.adversary.lines import draw_line
from tests.adversary.methods import BY_HAND, draw_loss, draw_method, draw_options
from tests.adversary.outputs import draw_output
from tests.adversary.plain import Plain
from tests.adversary.steps import draw_steps
from tests.adversary.structures import draw_structure
from tests.adversary.tables import Table, draw_table
from tests.adversary.wide import draw_wide
from tests.adversary.writing import Call, imports, listed

__all__ = ["KINDS", "Case", "draw_case"]

KINDS: dict[str, Callable[[np.random.Generator, int], Plain]] = {
    "commands": draw_command,
    "lines": draw_line,
    "faces": draw_face,
    "damage": draw_damage,
    "outputs": draw_output,
    "structures": draw_structure,
    "wide": draw_wide,
}
"""Cases that are no problem of learning."""
OTHERS = {
    3: draw_damage,
    14: draw_damage,
    22: draw_damage,
    16: draw_structure,
    7: draw_command,
    11: draw_line,
    12: draw_output,
    19: draw_face,
    24: draw_wide,
}
"""Which of 25 numbers draw one."""

AUTO, GENERIC = "auto", "generic"
RENAMED = 'ask(auto, y=np.array([f"k{i:03d}" for i in np.unique(y, return_inverse=True)[1]]))'
OUTER = {"'3-fold'": 4, "'holdout'": 2, "'loo'": 1, "tr.methods.Bootstrap('.632', replicates=5)": 2,
         "tr.methods.Bootstrap('.632+', replicates=5)": 2,
         "tr.methods.Bootstrap('optimism', replicates=5)": 2, "tr.methods.MonteCarlo(3)": 1,
         "'reversed 3-fold'": 1}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that is drawn; `sides` are the calls whose results must be the same.

    `outer` and `other` make it an assessment of two learners. `engine` stands for "auto".
    """

    number: int
    learner: Drawn
    steps: tuple[Call, ...]
    table: Table
    method: str
    loss: str
    options: tuple[tuple[str, str], ...] = ()
    other: Drawn | None = None
    outer: str = "'3-fold'"
    more: tuple[str, ...] = ()  # sides besides "auto" and "generic"
    engine: str = '"auto"'
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        return self.learner.kind.task

    @property
    def sides(self) -> dict[str, str]:
        """Names and calls: the engine attacked, the reference, the same problem in other words."""
        every = {
            AUTO: "ask(auto)",
            GENERIC: 'ask("generic")',
            "renamed": RENAMED,
            "columns": "ask(auto, X=X[:, ::-1])",
            "reordered": "ask(auto, learners=dict(reversed(learners.items())))",
            "search": "searched(tr.HonestSearchCV(model, grid or None, cv=method, "
            f"outer=None, engine=auto{self._given}), X, y, groups, sample_weight)",
            "by hand": "by_hand(model, grid, X, y, method, "
            f"{self.loss if self.loss != 'None' else self.usual_loss}, sample_weight)",
        }
        return {name: every[name] for name in (AUTO, GENERIC, *self.more)}

    @property
    def _given(self) -> str:
        """The loss and the options as arguments."""
        return "".join(
            f", {name}={value}" for name, value in (("scoring", self.loss), *self.options)
        )

    @property
    def usual_loss(self) -> str:
        return "'zero-one'" if self.task == "classification" else "'squared'"

    @property
    def script(self) -> str:
        """Everything up to a function `ask` that makes one side."""
        body = "\n".join(
            [self.table.script, self._models(), f"auto = {self.engine}", self._asking()]
        )
        text = body + "\n".join(self.sides.values())
        names = [name for name in pasted.__all__ if re.search(rf"\b{name}\b", text)]
        carried = "\n\n".join(inspect.getsource(getattr(pasted, name)) for name in names)
        needs = "import tempfile\nfrom pathlib import Path\n\n" if "memory_map" in names else ""
        if {"by_hand", "searched"} & {*names}:
            needs += "from sklearn.base import clone\n"
        if "by_hand" in names:
            needs += "from sklearn.metrics import roc_auc_score\n"
            needs += "from sklearn.model_selection import ParameterGrid\n"
        return f"{needs}{imports(body)}\n\n{carried}\n{body}"

    def _models(self) -> str:
        model, grid = _model(self.learner, self.steps)
        lines = [f"model = {model}", f"grid = {grid}", f"method = {self.method}"]
        if self.other is not None:
            other, other_grid = _model(self.other, ())
            given = f'{{"one": (model, grid or None), "two": ({other}, {other_grid} or None)}}'
            lines.append(f"learners = {given}")
        return "\n".join(lines)

    def _asking(self) -> str:
        given = f"groups=groups, sample_weight=sample_weight, engine=engine{self._given}"
        if self.other is None:
            call = f"tr.risk_curve(model, grid or None, X, y, cv=method, {given})"
            return f"\n\ndef ask(engine, X=X, y=y):\n    return {call}\n"
        call = f"tr.assess(learners, X, y, cv=[method], outer={self.outer}, {given})"
        return f"\n\ndef ask(engine, X=X, y=y, learners=learners):\n    return {call}\n"


def _model(learner: Drawn, steps: tuple[Call, ...]) -> tuple[str, str]:
    """The model and its grid as text; names of the grid say the step."""
    prefix = f"{learner.call.step}__" if steps else ""
    grid = ", ".join(f"'{prefix}{name}': {listed(values)}" for name, values in learner.grid)
    model = (
        f"make_pipeline({', '.join(map(str, steps))}, {learner.call})" if steps else learner.call
    )
    return str(model), f"{{{grid}}}"


def draw_case(number: int, only: str | None = None) -> Case | Plain:
    """The case of this number, the same on every machine; `only` draws this learner or kind."""
    rng = np.random.default_rng([14, number])
    other = OTHERS.get(number % 25) if only is None else KINDS.get(only)
    if other is not None:
        return other(rng, number)
    learner = draw_learner(rng, only)
    table = draw_table(rng, learner.kind)
    method = draw_method(rng, learner.kind.task, table)
    loss = draw_loss(rng, learner.kind, table)
    if "auc" in loss and len(np.unique(table.X, axis=0)) < len(table.X):
        loss = "None"  # BLAS gives equal rows scores that differ in the last bit, as it cuts them
    steps = draw_steps(rng, learner.kind.task)
    case = Case(number, learner, steps, table, method, loss, draw_options(rng))
    if _rankable(case):
        case = replace(case, method=BY_HAND["classes"])
    elif rng.random() < 0.08:
        case = _assessment(rng, case)
    return replace(case, more=_sides(rng, case))


def _assessment(rng: np.random.Generator, case: Case) -> Case:
    """A second learner beside the first, and splits outside."""
    allowed = [n for n, k in LEARNERS.items() if k.task == case.task and k.classes is None]
    other = draw_learner(rng, str(rng.choice(allowed)))
    share = np.array(list(OUTER.values()), dtype=float)
    outer = str(rng.choice(list(OUTER), p=share / share.sum()))
    return replace(case, other=other, outer=outer, method="'2-fold'")


def _sides(rng: np.random.Generator, case: Case) -> tuple[str, ...]:
    """Which other words of the same problem can be held against the first."""
    found = ["reordered"] if case.other is not None else []
    table, seeded = case.table, "random_state" in dict(case.learner.call.arguments)
    if case.task == "classification" and rng.random() < 0.2 and not case.options:
        found += ["renamed"] if table.target == "plain" else []
    calm = table.ordinary and table.form == "plain" and table.X.shape[1] > 1
    if case.learner.kind.orderless and calm and not case.steps and case.other is None:
        found.append("columns")
    searched = "Nested" not in case.method and "interval" not in dict(case.options)
    if searched and case.other is None and (not case.learner.grid or rng.random() < 0.2):
        found.append("search")
    random = "random_state" in case.learner.kind.given and not seeded
    usual = case.loss in ("None", "'squared'", "'absolute'") or _rankable(case)
    if case.method in BY_HAND.values() and usual and not random and case.other is None:
        found.append("by hand")
    return tuple(found)


def _rankable(case: Case) -> bool:
    """Whether a loop can find the AUC: every class in both halves, no ties, nothing beside."""
    table = case.table
    alone = table.weights is None and table.groups is None and table.target == "plain"
    calm = table.ordinary and alone and case.learner.kind.shares and not case.options
    return "auc" in case.loss and calm and int(np.unique(table.y, return_counts=True)[1].min()) > 1
