"""An experiment: replicates that depend on (seed, number) alone, drawn, kept, and reported on."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.contracts import Method, Rule, Streams, Terms
from truerisk.core.arguments import check_count, check_flag, even_array, is_count, shown, store_of
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    Refusal,
    StudyIncomplete,
    TrueRiskError,
    UnknownName,
    is_failure,
)
from truerisk.core.family import Family
from truerisk.core.old_names import refuses_old_names
from truerisk.core.present import clean, listed
from truerisk.core.progress import listen, stage, tell
from truerisk.data.data import Data
from truerisk.engines.asking import Asking
from truerisk.engines.workers.executors import executor_of, run_batches, workers_of
from truerisk.experiments import registry
from truerisk.experiments.figures import Findings, Parts, Report
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods.parts.set_risks import split_risks
from truerisk.plan.answers import Answers
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, values_of
from truerisk.selection.rules import Minimum
from truerisk.study.tasks import one_thread

BATCHES_PER_WORKER = 8
LARGEST_BATCH = 50
KIND = "reproduction"  # of a store
MOST_REPLICATES = 10_000_000
LARGEST_SEED = 2**63 - 1
SMALLEST = Minimum()

Draws = Mapping[str, np.ndarray]  # for every quantity, its value in one replicate or in all
Replicate = Callable[[int, int], Draws]  # of a seed and a number


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a document.

    `replicates` are drawn by default, `quick` for a first look; `full` has the document's breadth.

    `replicate(seed, number)` gives all that is kept of one replicate, and depends on both alone:
    not on how many are drawn, where, or in what order. `findings(draws)` gives tables, claims and
    figures; `draws` has the replicates along the first axis. `check()` first refuses what cannot be
    run here.

    >>> from truerisk.experiments.figures import Findings, PaperTable
    >>> def tossed(seed, number):
    ...     return {"heads": float(stream("coin", seed, number).random() < 0.5)}
    >>> def found(draws):
    ...     return Findings((PaperTable.of("heads", "exact", draws, {"heads": 0.5}),))
    >>> coin = Experiment("coin", "A coin", "tossed", tossed, found, replicates=400, quick=50)
    >>> reproduce(coin).tables[0].rows[0].verdict
    'agrees'
    """

    word: str
    title: str
    document: str
    replicate: Replicate
    findings: Callable[[Draws], Findings]
    replicates: int
    quick: int
    unit: str = "data sets"
    check: Callable[[], object] = tuple  # nothing is lacking
    full: Experiment | None = None


def experiment(
    replicate: Replicate, **others: Any
) -> Callable[[Callable[[Draws], Parts]], Experiment]:
    """The experiment that stands over what it finds: the function's name is its word.

    The paragraphs of the function's text are the title, what is run, and notes; what stands there
    in braces is computed from the names of its module. `others` are further fields. Workers are
    sent `replicate` alone: under the name of the function stands the experiment.
    """

    def of(found: Callable[[Draws], Parts]) -> Experiment:
        word = found.__name__.replace("_", "-")
        if found.__doc__ is None:
            raise Refusal(
                "experiments are told in docstrings, of which python -OO (PYTHONOPTIMIZE=2) reads "
                "none: run them without -OO."
            )
        text = found.__doc__.format(**found.__globals__)
        title, document, *notes = paragraphs(text)

        def findings(draws: Draws) -> Findings:
            return Findings.of(word, notes, found(draws))

        title = title.removesuffix(".")
        return Experiment(word, title, document, replicate, findings, **others)

    return of


def paragraphs(text: str) -> tuple[str, ...]:
    """What stands between blank lines, each in one line."""
    return tuple(" ".join(part.split()) for part in text.split("\n\n"))


def stream(name: str, seed: int, number: int) -> np.random.Generator:
    """The random numbers of replicate `number`; experiments that share a name share data."""
    return np.random.default_rng([seed, number, *name.encode()])


@refuses_old_names
def reproduce(
    name: str | Experiment,
    *,
    quick: bool = False,
    full: bool = False,
    replicates: int | None = None,
    seed: int = 0,
    n_jobs: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    mixed_versions: bool = False,
) -> Report:
    """Run the experiment of that word, or one of your own.

    Parameters
    ----------
    name : str or Experiment
        ``names()`` lists the words.
    quick : bool
        A first look: fewer replicates.
    full : bool
        The whole breadth of "bee-figure-2" and "bee-figure-3": the document's nineteen sizes.
    replicates : int, optional
        How many; by default the experiment's own number.
    seed : int
    n_jobs : None, int, str or executor
        This process, that many worker processes (-1 for one per core), or anything with ``submit``;
        the numbers do not depend on it. With a store also ``"dask://host:port"``.
    store : path, optional
        A file that keeps every replicate as it is found (`truerisk.study`).
    resume : bool
        Go on with the replicates that the store holds.
    mixed_versions : bool
        Also with those of other versions of Python, NumPy, SciPy or scikit-learn.
    """
    flags = {"quick": quick, "full": full, "resume": resume, "mixed_versions": mixed_versions}
    for word, flag in flags.items():
        check_flag(word, flag)
    is_own = isinstance(name, Experiment)
    experiment = name if isinstance(name, Experiment) else registry.load(name)
    if is_own:
        _check_fields(experiment)
    if full:
        if experiment.full is None:
            raise UnknownName(
                f"{experiment.word} has no --full (full=): it is whole as it is; leave it out."
            )
        experiment = experiment.full
    if replicates is None:
        replicates = experiment.quick if quick else experiment.replicates
    if not is_count(replicates) or not 2 <= replicates <= MOST_REPLICATES:
        raise UnknownName(
            f"replicates={shown(replicates)}: give a whole number from 2 to {MOST_REPLICATES:,}; "
            "every number is a mean with its standard error, which one replicate does not have."
        )
    if not (is_count(seed) or (isinstance(seed, Integral) and seed == 0)) or seed > LARGEST_SEED:
        raise UnknownName(
            f"seed={shown(seed)}: use 0 or a positive number, {LARGEST_SEED:,} at most."
        )
    replicates, seed, executor = int(replicates), int(seed), executor_of(n_jobs)
    path = None if store is None else store_of(store)
    going_on = {"resume": resume, "mixed_versions": mixed_versions}
    for word in (word for word, given in going_on.items() if given and store is None):
        raise UnknownName(f"{word}= goes on with a store: name it by store=.")
    with _own_code(f"the check of {experiment.word} failed"):
        experiment.check()
    started = time.perf_counter()
    with stage(experiment.word):
        if path is None:
            draws = draw_replicates(experiment, replicates, seed, executor)
        else:
            draws = stored_replicates(experiment, replicates, seed, executor, path, **going_on)
    with _own_code(f"the findings of {experiment.word} cannot be made"):
        findings = experiment.findings(draws)
    if not isinstance(findings, Findings):
        raise BadData(
            f"the findings of {experiment.word} are {shown(findings)}: give a "
            "truerisk.experiments.figures.Findings."
        )
    report = Report(
        word=experiment.word,
        title=experiment.title,
        document=experiment.document,
        replicates=replicates,
        unit=experiment.unit,
        seed=seed,
        seconds=time.perf_counter() - started,
        **{each.name: getattr(findings, each.name) for each in fields(Findings)},
    )
    if is_own:
        with _own_code(f"the findings of {experiment.word} cannot be shown"):
            str(report), report.to_json(), report.to_html()
    return report


@contextmanager
def _own_code(what: str) -> Iterator[None]:
    """Raise FitFailed for whatever the code of an experiment raises, `sys.exit` included."""
    try:
        yield
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise FitFailed.of(error, what) from error


def _check_fields(experiment: Experiment) -> None:
    """Raise BadArgument if a field of an experiment of one's own is of a wrong type."""
    for name in ("word", "title", "document", "unit"):
        value = getattr(experiment, name)
        if not isinstance(value, str) or not value.strip():
            raise BadArgument(f"an experiment has {name}={shown(value)}: give a text.")
    for name in ("replicate", "findings", "check"):
        value = getattr(experiment, name)
        if not callable(value):
            raise BadArgument(f"{experiment.word} has {name}={shown(value)}: give a function.")
    for name in ("replicates", "quick"):
        check_count(name, getattr(experiment, name), 2, "an experiment has 2 replicates or more")
    if experiment.full is not None:
        if not isinstance(experiment.full, Experiment):
            raise BadArgument(
                f"{experiment.word} has full={shown(experiment.full)}: give another Experiment."
            )
        _check_fields(experiment.full)


def _checked_draws(draws: Any, number: int) -> dict[str, np.ndarray]:
    """Return what a replicate gave as arrays by name, or raise BadData if it gave anything else."""
    if not isinstance(draws, Mapping) or not draws:
        raise BadData(
            f"replicate {number} gives {shown(draws)}: give a dict of numbers, or of arrays of "
            "them, by their names."
        )
    arrays = {}
    for name, value in draws.items():
        if not isinstance(name, str):
            raise BadData(f"replicate {number} gives the name {shown(name)}: name numbers by text.")
        arrays[name] = even_array(f"{name!r} of replicate {number}", value, "numbers are wanted")
        if arrays[name].dtype.kind not in "biuf":
            raise BadData(
                f"replicate {number} gives {name}={shown(value)}: give real numbers, or an array "
                "of them."
            )
    return arrays


def _stacked(draws: Sequence[Draws]) -> Draws:
    """Stack the replicates along the first axis of every quantity; all must have the same ones."""
    shapes = [{name: np.shape(value) for name, value in draw.items()} for draw in draws]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            differing = [*dict(shape.items() ^ shapes[0].items())]
            raise BadData(
                f"replicates 0 and {number} differ in the names or the shapes of what they give "
                f"({listed([repr(clean(name, 40)) for name in sorted(differing)])}): every "
                "replicate must give the same."
            )
    return {name: np.stack([np.asarray(draw[name]) for draw in draws]) for name in draws[0]}


# ---------------------------------------------------------------- in memory


def draw_replicates(
    experiment: Experiment, replicates: int, seed: int = 0, executor: Any = None
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity."""
    workers = workers_of(executor)
    # one thread is set once where all is drawn here: looking for the BLAS takes milliseconds
    here, there = (one_thread, nullcontext) if workers is None else (nullcontext, one_thread)
    size = 1 if workers is None else max(1, replicates // (BATCHES_PER_WORKER * workers))
    numbers, size = range(replicates), min(size, LARGEST_BATCH)
    batches = [numbers[start : start + size] for start in numbers[::size]]
    drawn: list[Draws] = [{}] * replicates
    done = 0
    tell(0, replicates, experiment.unit)
    shared = experiment.replicate, seed, there
    with here(), closing(run_batches(executor, _batch, shared, batches)) as every:
        for place, draws in every:
            drawn[batches[place].start : batches[place].stop] = draws
            done += len(draws)
            tell(done, replicates, experiment.unit)
    return _stacked(drawn)


def _batch(
    replicate: Replicate, seed: int, threads: Callable[[], Any], numbers: range
) -> list[Draws]:
    """Replicates of a batch; what an engine tells inside is not passed on."""
    with threads(), listen(None):
        found: list[Draws] = []
        for number in numbers:
            with _own_code(f"replicate {number} failed"):
                draws = replicate(seed, number)
            found.append(_checked_draws(draws, number))
        return found


# ---------------------------------------------------------------- in a store


def stored_replicates(
    experiment: Experiment,
    replicates: int,
    seed: int,
    executor: Any,
    path: Path,
    *,
    resume: bool = False,
    mixed_versions: bool = False,
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity.

    Those that the store holds are read, if `resume` says that they may be; the others are drawn.
    A change of the experiment's file makes its replicates new ones.
    """
    from truerisk.study.driving import drive
    from truerisk.study.queue import Rules
    from truerisk.study.schema import State
    from truerisk.study.store import Store
    from truerisk.study.values import key_of
    from truerisk.study.versions import begin

    try:
        source = inspect.getsource(inspect.getmodule(experiment.replicate) or experiment.replicate)
    except (OSError, TypeError):
        raise UnknownName(
            f"{experiment.word} is kept by the text of its functions, and they stand in no file: "
            "import them from one, or leave out store."
        ) from None
    content = {"experiment": experiment.word, "source": key_of(source), "seed": seed}
    with Store.write(path) as store:
        begin(store, KIND, {"name": path.name}, mixed_versions=mixed_versions)
        (cell,) = store.want([content], replicates)
        held = len(store.ended(cell))
        if held and not resume:
            raise UnknownName(
                f"{path} holds {held} of {replicates} replicates of {experiment.word}: add "
                "--resume (in Python resume=True) to go on with them, or name another file."
            )
        store.forget([State.FAILED])  # what was mended since may work now
        rules = Rules(unit=experiment.unit)
        drive(store, [cell], partial(_draw, experiment.replicate), executor, rules=rules)
        errors = store.errors(cell)
        if errors:
            number, state, _, error = errors[0]
            last = error.strip().splitlines()[-1]
            raise StudyIncomplete(
                f"{len(errors)} of {cell.wanted} replicates of {experiment.word} have no result "
                f"(replicate {number} {state.name.lower()}: {last}); {store.path} keeps the others."
            )
        return _stacked([draws for *_, draws in store.results(cell)])


def _draw(
    replicate: Replicate, content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    return _checked_draws(replicate(content["seed"], number), number)


def two_classes(X: np.ndarray, codes: np.ndarray) -> Data:
    """Classes 0 and 1, known to be sound: nothing to check ten thousand times."""
    return Data(X, codes, "classification", np.array([0, 1]), codes)


@dataclass(frozen=True, eq=False)
class Sample:
    """`n` rows to learn from and, after them, rows that only measure."""

    whole: Data
    n: int
    loss: Loss = field(default_factory=ZeroOne)

    @classmethod
    def of(
        cls,
        problem: Callable[..., tuple[np.ndarray, np.ndarray]],
        sizes: tuple[Any, Any],
        rng: np.random.Generator,
        *,
        shuffle: bool = False,
    ) -> Sample:
        """Two classes of a problem: sizes of what is to learn from, and of what measures."""
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
        """Every second row is positive; of so many columns the first few have means apart."""
        y = np.arange(sum(sizes)) % 2
        X = rng.standard_normal((len(y), columns[0]))
        X[:, : columns[1]] += apart * y[:, None]
        return cls(two_classes(X, y), sizes[0])

    def evaluated(self, method: Method, family: Family, splits: int | Plan) -> Evaluation:
        """What a method finds in the rows to learn from."""
        return evaluated(method, family, self.whole.subset(np.arange(self.n)), self.loss, splits)

    def risks(self, method: Method, family: Family, splits: int | Plan) -> np.ndarray:
        """The risk that it finds there of every candidate."""
        return values_of(self.evaluated(method, family, splits).tested)

    def answers(self, family: Family, *learned: np.ndarray) -> Answers:
        """What is said of the rows that measure, by rules of all rows to learn from, or of some."""
        own, fresh = np.split(np.arange(self.whole.n_rows), [self.n])
        plan = plan_of(self.whole.n_rows, *((some, fresh) for some in learned or (own,)))
        return answered(family, self.whole, self.loss, plan)

    def errors(self, family: Family, *learned: np.ndarray) -> np.ndarray:
        """The errors of these answers, by candidate and rows learned."""
        return split_risks(self.answers(family, *learned), self.whole, self.loss)


@lru_cache(maxsize=8)
def neighbours(ks: range) -> Family:
    """Nearest neighbours with every k."""
    from sklearn.neighbors import KNeighborsClassifier

    return Family.of(KNeighborsClassifier(), {"n_neighbors": ks})


def plan_of(n_rows: int, *splits: tuple[np.ndarray, np.ndarray]) -> Plan:
    """Each fit sees some rows and is asked about others.

    No train set is told as "all rows but": engines would learn from the many fresh rows first.
    """
    builder = PlanBuilder(n_rows)
    for train, test in splits:
        builder.ask((builder.block(train), ()), (builder.block(test), ()))
    return builder.build()


def answered(family: Family, data: Data, loss: Loss, plan: Plan, by: str = "auto") -> Answers:
    """The answers of all candidates; "auto" is the first engine that does not refuse."""
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
    """What the method finds for a rule that chooses a candidate.

    `splits` are the seed that they are drawn with, or the method's plan.
    """
    asking = Asking(family, data, loss, engine=by)
    plan = splits if isinstance(splits, Plan) else method.plan(data, Streams(splits))
    return method.evaluate(asking, data, loss, plan, terms_of(family, rule))


def first_least(curve: np.ndarray) -> int:
    """The place of the least; of equal ones the first, as the rule "min" has it."""
    return SMALLEST.choose(curve, np.full(len(curve), np.nan))


def terms_of(family: Family, rule: Rule = SMALLEST) -> Terms:
    """A rule, and standard errors only where it needs them."""
    return Terms(0.95, rule, len(family), with_errors=rule.needs_std_errors)
