"""Experiments: replicates that depend only on (seed, number), and findings from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.experiments.figures import Findings, Parts
from truerisk.extend import (
    Answers,
    Asking,
    Data,
    Evaluation,
    Family,
    Method,
    Plan,
    PlanBuilder,
    Refusal,
    Rule,
    Streams,
    Terms,
    Tested,
)
from truerisk.losses import Loss, ZeroOne
from truerisk.selection import Minimum

SMALLEST = Minimum()

Draws = Mapping[str, np.ndarray]  # values of every quantity, in one replicate or in all
Replicate = Callable[[int, int], Draws]  # function of a seed and a number


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a document.

    `replicates` are drawn by default, `quick` for a first look; `full` is an experiment of the
    document's size. `replicate(seed, number)` returns all stored results of one replicate. It
    depends on these two only, not on how many replicates are drawn, where, or in what order.
    `findings(draws)` returns tables, claims and figures; `draws` has the replicates along the first
    axis. `check()` raises first if something cannot be run here.

    `replicate(seed, number)` gives all that is kept of one replicate, and depends on both alone:
    not on how many are drawn, where, or in what order. `findings(draws)` gives tables, claims and
    figures; `draws` has the replicates along the first axis. `check()` first refuses what cannot be
    run here.

    >>> from truerisk.experiments import reproduce
    >>> from truerisk.experiments.figures import Findings, PaperTable
    >>> def tossed(seed, number):
    ...     return {"heads": float(stream("coin", seed, number).random() < 0.5)}
    >>> def found(draws):
    ...     return Findings((PaperTable.from_values("heads", "exact", draws, {"heads": 0.5}),))
    >>> coin = Experiment("coin", "A coin", "tossed", tossed, found, replicates=400, quick=50)
    >>> reproduce(coin).tables[0].rows[0].verdict
    'agrees'
    """

    name: str
    title: str
    document: str
    replicate: Replicate
    findings: Callable[[Draws], Findings]
    replicates: int
    quick: int
    unit: str = "data sets"
    check: Callable[[], object] = tuple  # The default finds nothing missing.
    full: Experiment | None = None


def experiment(
    replicate: Replicate, **others: Any
) -> Callable[[Callable[[Draws], Parts]], Experiment]:
    """Make an experiment of a function that yields findings; the function's name is its word.

    The paragraphs of the function's docstring are the title, a description of what is run, and
    notes, with names of its module in braces. `others` are further fields. Workers receive only
    `replicate`, because the name of the function refers to the experiment.
    """

    def of(found: Callable[[Draws], Parts]) -> Experiment:
        name = found.__name__.replace("_", "-")
        if found.__doc__ is None:
            raise Refusal(
                "experiments are told in docstrings, of which python -OO (PYTHONOPTIMIZE=2) reads "
                "none: run them without -OO."
            )
        text = found.__doc__.format(**found.__globals__)
        title, document, *notes = paragraphs(text)

        def findings(draws: Draws) -> Findings:
            return Findings.from_parts(name, notes, found(draws))

        title = title.removesuffix(".")
        return Experiment(name, title, document, replicate, findings, **others)

    return of


def paragraphs(text: str) -> tuple[str, ...]:
    """Split a text at blank lines, and join the lines of each part."""
    return tuple(" ".join(part.split()) for part in text.split("\n\n"))


def stream(name: str, seed: int, number: int) -> np.random.Generator:
    """Return the random generator of replicate `number`; equal names give equal data."""
    return np.random.default_rng([seed, number, *name.encode()])


def two_classes(X: np.ndarray, codes: np.ndarray) -> Data:
    """Return data with classes 0 and 1 that are known to be valid, without repeated checks."""
    return Data(X, codes, "classification", np.array([0, 1]), codes)


@dataclass(frozen=True, eq=False)
class Sample:
    """`n` training rows, followed by rows that only measure the error."""

    whole: Data
    n: int
    loss: Loss = field(default_factory=ZeroOne)

    @classmethod
    def draw(
        cls,
        problem: Callable[..., tuple[np.ndarray, np.ndarray]],
        sizes: tuple[Any, Any],
        rng: np.random.Generator,
        *,
        shuffle: bool = False,
    ) -> Sample:
        """Draw training and measuring rows of these sizes from a problem with two classes."""
        parts = [problem(size, shuffle=shuffle, random_state=rng) for size in sizes]
        X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
        return cls(two_classes(X, y), len(parts[0][1]))

    @classmethod
    def alternating(
        cls,
        sizes: tuple[int, int],
        columns: tuple[int, int],
        apart: float,
        rng: np.random.Generator,
    ) -> Sample:
        """Draw rows that alternate between classes, whose means differ in the first few columns."""
        y = np.arange(sum(sizes)) % 2
        X = rng.standard_normal((len(y), columns[0]))
        X[:, : columns[1]] += apart * y[:, None]
        return cls(two_classes(X, y), sizes[0])

    def evaluated(self, method: Method, family: Family, splits: int | Plan) -> Evaluation:
        """Return a method's evaluation on the training rows."""
        return evaluated(method, family, self.whole.subset(np.arange(self.n)), self.loss, splits)

    def risks(self, method: Method, family: Family, splits: int | Plan) -> np.ndarray:
        """Return a method's risk of every candidate on the training rows."""
        return values_of(self.evaluated(method, family, splits).tested)

    def answers(self, family: Family, *learned: np.ndarray) -> Answers:
        """Return predictions of the measuring rows by rules of all training rows, or of some."""
        own, fresh = np.split(np.arange(self.whole.n_rows), [self.n])
        plan = plan_of(self.whole.n_rows, *((some, fresh) for some in learned or (own,)))
        return answered(family, self.whole, self.loss, plan)

    def errors(self, family: Family, *learned: np.ndarray) -> np.ndarray:
        """Return the shares of wrong labels among these predictions, by candidate and rule."""
        answers = self.answers(family, *learned)
        is_wrong = answers.values != self.whole.codes_of(answers.plan.positions[0])
        shares = is_wrong.reshape(*answers.answered.shape, -1).mean(axis=2)
        return np.where(answers.answered, shares, np.nan)


@lru_cache(maxsize=8)
def neighbours(ks: range) -> Family:
    """Return nearest neighbours with every k."""
    from sklearn.neighbors import KNeighborsClassifier

    return Family.from_grid(KNeighborsClassifier(), {"n_neighbors": ks})


def plan_of(n_rows: int, *splits: tuple[np.ndarray, np.ndarray]) -> Plan:
    """Return a plan in which each fit is trained on some rows and tested on others.

    No training set is defined as "all rows but": engines would then train on the many fresh rows
    first.
    """
    builder = PlanBuilder(n_rows)
    for train, test in splits:
        builder.ask((builder.block(train), ()), (builder.block(test), ()))
    return builder.build()


def answered(family: Family, data: Data, loss: Loss, plan: Plan, by: str = "auto") -> Answers:
    """Return the predictions of all candidates.

    "auto" uses the first engine that does not refuse.
    """
    return Asking(family, data, loss, engine=by)(plan)


def evaluated(
    method: Method,
    family: Family,
    data: Data,
    loss: Loss,
    splits: int | Plan,
    by: str = "auto",
    rule: Rule = SMALLEST,
) -> Evaluation:
    """Return the method's evaluation for a rule that chooses a candidate.

    `splits` is the seed that they are drawn with, or the method's plan.
    """
    asking = Asking(family, data, loss, engine=by)
    plan = splits if isinstance(splits, Plan) else method.plan(data, Streams(splits))
    return method.evaluate(asking, data, loss, plan, terms_of(family, rule))


def values_of(tested: Sequence[Tested]) -> np.ndarray:
    """Return the risk of every candidate."""
    return np.array([one.value for one in tested])


def first_least(curve: np.ndarray) -> int:
    """Return the index of the smallest value, the first one if tied, as the rule "min" does."""
    return SMALLEST.choose(curve, np.full(len(curve), np.nan))


def terms_of(family: Family, rule: Rule = SMALLEST) -> Terms:
    """Return terms with a rule, and with standard errors only if it needs them."""
    return Terms(0.95, rule, len(family), with_errors=rule.needs_std_errors)
