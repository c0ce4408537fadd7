"""Experiments: replicates that depend on (seed, number) only, and findings computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.experiments.figures import FindingParts, Findings
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

MINIMUM_RULE = Minimum()

# Mapping from the name of a quantity to its values, in one replicate or in all replicates.
Draws = Mapping[str, np.ndarray]
# Function that computes one replicate, given the seed and the number of the replicate.
ReplicateFunction = Callable[[int, int], Draws]


@dataclass(frozen=True)
class Experiment:
    """Experiment that reproduces a table or a figure of a publication from random replicates.

    The default number of replicates is `replicates`; `quick` is a smaller number for a first look.
    `full` is an experiment of the document's size. `replicate(seed, number)` returns all stored
    results of one replicate. The results depend on the seed and the number only, not on how many
    replicates are drawn, on which machine, or in what order. `findings(draws)` returns tables,
    claims and figures; `draws` has the replicates along the first axis. `check()` raises first if
    something cannot be run here.

    >>> from truerisk.experiments import reproduce
    >>> from truerisk.experiments.figures import Findings, PaperTable
    >>> def tossed(seed, number):
    ...     return {"heads": float(replicate_rng("coin", seed, number).random() < 0.5)}
    >>> def found(draws):
    ...     return Findings((PaperTable.from_values("heads", "exact", draws, {"heads": 0.5}),))
    >>> coin = Experiment("coin", "A coin", "tossed", tossed, found, replicates=400, quick=50)
    >>> reproduce(coin).tables[0].rows[0].verdict
    'agrees'
    """

    name: str
    title: str
    document: str
    replicate: ReplicateFunction
    findings: Callable[[Draws], Findings]
    replicates: int
    quick: int
    unit: str = "data sets"
    # Function that raises if the experiment cannot run; the default `tuple` checks nothing.
    check: Callable[[], object] = tuple
    full: Experiment | None = None


def experiment(
    replicate: ReplicateFunction, **experiment_fields: Any
) -> Callable[[Callable[[Draws], FindingParts]], Experiment]:
    """Return a decorator that turns a function that yields findings into an Experiment.

    The experiment is named after the function. The paragraphs of the function's docstring are the
    title, a description of what is run, and notes, with names of its module in braces.
    `experiment_fields` are further fields. Workers receive only `replicate`, because the name of
    the function refers to the experiment.
    """

    def decorate(yield_findings: Callable[[Draws], FindingParts]) -> Experiment:
        name = yield_findings.__name__.replace("_", "-")
        if yield_findings.__doc__ is None:
            raise Refusal(
                "experiments are told in docstrings, of which python -OO (PYTHONOPTIMIZE=2) reads "
                "none: run them without -OO."
            )
        description = yield_findings.__doc__.format(**yield_findings.__globals__)
        title, document, *notes = split_paragraphs(description)

        def findings(draws: Draws) -> Findings:
            return Findings.from_parts(name, notes, yield_findings(draws))

        title = title.removesuffix(".")
        return Experiment(name, title, document, replicate, findings, **experiment_fields)

    return decorate


def split_paragraphs(text: str) -> tuple[str, ...]:
    """Split a text at blank lines into paragraphs, and join the lines of each paragraph."""
    return tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def replicate_rng(name: str, seed: int, replicate_number: int) -> np.random.Generator:
    """Return the random generator of one replicate of the experiment with this name.

    The same name, seed and number always give the same random numbers.
    """
    return np.random.default_rng([seed, replicate_number, *name.encode()])


def two_class_data(X: np.ndarray, codes: np.ndarray) -> Data:
    """Return classification data from class codes 0 and 1, without checking these codes."""
    return Data(X, codes, "classification", np.array([0, 1]), codes)


@dataclass(frozen=True, eq=False)
class Sample:
    """Sample with `n` training rows, followed by fresh rows that only measure the error."""

    data: Data
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
        """Draw training rows and fresh rows from a problem with two classes."""
        samples = [problem(n_rows, shuffle=shuffle, random_state=rng) for n_rows in sizes]
        X, y = (np.concatenate(arrays) for arrays in zip(*samples, strict=True))
        return cls(two_class_data(X, y), len(samples[0][1]))

    @classmethod
    def draw_alternating(
        cls,
        sizes: tuple[int, int],
        n_columns: tuple[int, int],
        mean_difference: float,
        rng: np.random.Generator,
    ) -> Sample:
        """Draw rows of two alternating classes, whose means differ in the first columns only."""
        y = np.arange(sum(sizes)) % 2
        X = rng.standard_normal((len(y), n_columns[0]))
        X[:, : n_columns[1]] += mean_difference * y[:, None]
        return cls(two_class_data(X, y), sizes[0])

    def evaluate(self, method: Method, family: Family, splits: int | Plan) -> Evaluation:
        """Estimate the risk of all candidates by a method that sees only the training rows."""
        return evaluate_method(
            method, family, self.data.subset(np.arange(self.n)), self.loss, splits
        )

    def risks(self, method: Method, family: Family, splits: int | Plan) -> np.ndarray:
        """Return a method's risk estimate of every candidate, computed on the training rows."""
        return risk_values(self.evaluate(method, family, splits).tested)

    def answers(self, family: Family, *training_subsets: np.ndarray) -> Answers:
        """Return the predictions for the fresh rows by rules that are fitted to training rows.

        The rules are fitted to each of the `training_subsets`, or to all training rows if there are
        none.
        """
        training_rows, fresh_rows = np.split(np.arange(self.data.n_rows), [self.n])
        plan = plan_from_splits(
            self.data.n_rows,
            *(
                (training_subset, fresh_rows)
                for training_subset in training_subsets or (training_rows,)
            ),
        )
        return predict_plan(family, self.data, self.loss, plan)

    def errors(self, family: Family, *training_subsets: np.ndarray) -> np.ndarray:
        """Return the error rates on the fresh rows, by candidate and by training subset."""
        predictions = self.answers(family, *training_subsets)
        is_wrong = predictions.values != self.data.codes_of(predictions.plan.positions[0])
        error_rates = is_wrong.reshape(*predictions.answered.shape, -1).mean(axis=2)
        return np.where(predictions.answered, error_rates, np.nan)


@lru_cache(maxsize=8)
def nearest_neighbour_family(ks: range) -> Family:
    """Return the family of nearest-neighbour classifiers with these numbers of neighbours."""
    from sklearn.neighbors import KNeighborsClassifier

    return Family.from_grid(KNeighborsClassifier(), {"n_neighbors": ks})


def plan_from_splits(n_rows: int, *splits: tuple[np.ndarray, np.ndarray]) -> Plan:
    """Return a plan with one fit for each split into training rows and test rows.

    Training sets are listed row by row, and not as all rows except some, because engines would then
    first train on the many fresh rows.
    """
    builder = PlanBuilder(n_rows)
    for train, test in splits:
        builder.ask((builder.block(train), ()), (builder.block(test), ()))
    return builder.build()


def predict_plan(
    family: Family, data: Data, loss: Loss, plan: Plan, engine_name: str = "auto"
) -> Answers:
    """Return the predictions of all candidates for the test rows of a plan.

    They are computed by the engine called `engine_name`. "auto" uses the first engine that supports
    the family.
    """
    return Asking(family, data, loss, engine=engine_name)(plan)


def evaluate_method(
    method: Method,
    family: Family,
    data: Data,
    loss: Loss,
    seed_or_plan: int | Plan,
    engine_name: str = "auto",
    rule: Rule = MINIMUM_RULE,
) -> Evaluation:
    """Evaluate a method for a family: its risk estimates, and the candidate that the rule chooses.

    `seed_or_plan` is the seed with which splits are drawn, or the method's plan.
    """
    asking = Asking(family, data, loss, engine=engine_name)
    plan = (
        seed_or_plan if isinstance(seed_or_plan, Plan) else method.plan(data, Streams(seed_or_plan))
    )
    return method.evaluate(asking, data, loss, plan, evaluation_terms(family, rule))


def risk_values(candidate_estimates: Sequence[Tested]) -> np.ndarray:
    """Return the estimated risk of every candidate as an array."""
    return np.array([estimate.value for estimate in candidate_estimates])


def index_of_first_minimum(curve: np.ndarray) -> int:
    """Return the index of the smallest value of a curve, the first if tied, as rule "min" does."""
    return MINIMUM_RULE.choose(curve, np.full(len(curve), np.nan))


def evaluation_terms(family: Family, rule: Rule = MINIMUM_RULE) -> Terms:
    """Return the terms of an evaluation: its level, selection rule and number of candidates.

    Standard errors are requested only if the rule needs them.
    """
    return Terms(0.95, rule, len(family), with_errors=rule.needs_std_errors)
