"""The body of `truerisk audit`: audit the search that a user's code makes, on a file."""

from __future__ import annotations

import inspect
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from truerisk.auditing.audit import audited
from truerisk.auditing.correcting import Wanted
from truerisk.auditing.mixed_splits import order_of_columns
from truerisk.cli.gate import CLOSED, judged, refuse_bounds
from truerisk.cli.options import typed
from truerisk.cli.output import say, say_columns, show, shown_progress, worded_warnings, write_page
from truerisk.cli.source import Source, label_written, read_source, words_of
from truerisk.core.errors import MissingExtra, TrueRiskError, UnknownName, message_of
from truerisk.core.formats import clean
from truerisk.core.identity import is_honest_search, usual_score
from truerisk.core.registry import closest
from truerisk.core.tables import frame_of
from truerisk.losses.row_losses import registry
from truerisk.results.interval import Scale
from truerisk.search.claim import OF_ONE_CLASS, perfect_of, scorer_of_class

REPLICATES = 1000
WHERE_AND_HOW = ("report", "figures", "as_json", "n_jobs")
"""Options that do not affect any number."""


def run(requested: Any) -> int:
    """Print the audit that `truerisk audit` requests, and return the exit code."""
    factory = load_factory(requested.search, allowed=requested.allow_import)
    source = read_source(**words_of(requested))
    X = _handed(source)
    # These are notes on what was inferred. Text and missing values are left to the user's search.
    for note in source.notes:
        if "inside the folds" not in note:
            say(f"note: {note}")
    if source.layout.get("text") and X is source.X:  # The array has no column names.
        say("note: text is given to the search as numbers, its place in sorted order")
    if source.layout.get("missing"):
        say("note: empty cells are given to the search as missing values")
    found = _audited(factory, source, X, requested)
    command = typed(click.get_current_context(), WHERE_AND_HOW)
    found = replace(found, source=source.name, command=command)
    show(found.to_json() if requested.as_json else str(found))
    write_page(found, requested.report, requested.figures)
    if X is source.X:
        say_columns(source.columns, found.findings)
    if found.refuted is None and requested.level != "scores":
        say("no interval, so nothing is refuted.")
    for finding in found.findings:
        if finding.code == "claim-refuted":
            say(f"the claim is refuted: {finding.sentence}")
    code = judged(found, requested.fail_above, requested.min_score)
    return CLOSED if found.refuted else code


def load_factory(place: str, *, allowed: bool) -> Any:
    """Return the function at `file.py:name` or `package.module:name`; its import runs that code."""
    origin, colon, name = place.rpartition(":")
    if not colon or not origin or not name.isidentifier():
        raise click.UsageError(f"{place!r} names no function: write file.py:name or module:name.")
    if not allowed:
        raise click.UsageError(
            f"{origin} is code and would be run: add --allow-import if you trust it."
        )
    if origin.endswith(".py"):
        module = _from_file(Path(origin))
    else:
        module = run_code(lambda: import_module(origin), origin)
    if not callable(getattr(module, name, None)):
        functions = [n for n, value in vars(module).items() if callable(value)]
        raise UnknownName(f"{origin} has no function {name!r}{closest(name, functions) or '.'}")
    return getattr(module, name)


def _from_file(path: Path) -> Any:

    if not path.is_file():
        raise UnknownName(f"there is no file {str(path)!r}.")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    run_code(lambda: spec.loader.exec_module(module), str(path))
    return module


def call_factory(factory: Any, X: Any, y: Any) -> Any:
    """Return the function's result, called with the rows if it takes two arguments."""
    name = getattr(factory, "__name__", "the factory")
    wanted = [
        p
        for p in inspect.signature(factory).parameters.values()
        if p.default is inspect.Parameter.empty and p.kind is not p.VAR_KEYWORD
    ]
    if len(wanted) not in (0, 2):
        raise UnknownName(f"{name} takes {len(wanted)} arguments: it must take none, or X and y.")
    return run_code(lambda: factory(X, y) if wanted else factory(), name)


def run_code(code: Any, name: str) -> Any:
    """Run the user's code; report an error by its first and its last line.

    Between them scikit-learn quotes the tracebacks of all failed fits.
    """
    try:
        return code()
    except TrueRiskError:
        raise
    except Exception as error:
        last = str(error).strip().rpartition("\n")[2].strip()
        cause = f" ... {last}" if last and last not in message_of(error) else ""
        raise TrueRiskError(f"{name} failed: {message_of(error)}{cause}") from error


def _handed(source: Source) -> Any:
    """Return the data for the user's code: a frame of the columns as in the file.

    A bundled data set is an array, and so is a file if no package for frames is installed.
    """
    if not source.columns:
        return source.X
    try:
        frame = frame_of({name: source.column(name) for name in source.columns})
    except MissingExtra:
        say("note: neither pandas nor polars is installed: the search gets an array without names")
        return source.X
    if hasattr(frame, "notna"):  # pandas reads missing text as NaN, which encoders know.
        return frame.where(frame.notna(), float("nan"))
    return frame


def _audited(factory: Any, source: Source, X: Any, requested: Any) -> Any:

    y, of_rows = source.y, source.of_rows
    terms = {"fit_params": None, "engine": "auto", **of_rows, "n_jobs": requested.n_jobs}
    terms |= {"confidence_level": requested.confidence, "random_state": requested.seed}
    with worded_warnings(findings=requested.as_json), shown_progress():
        search = call_factory(factory, X, y)
        scoring = getattr(search, "scoring", None)
        if scoring is None and not is_honest_search(search):
            scoring = usual_score(getattr(search, "estimator", None))
        if isinstance(scoring, str):
            remedy = " An audit bounds the score of the search: give it another `scoring`."
            bounds = requested.fail_above, requested.min_score
            is_name = is_honest_search(search) and scoring in registry
            scale = registry.load(scoring)().scale if is_name else Scale(perfect_of(scoring))
            refuse_bounds(*bounds, {scoring: scale}, remedy)
        positive = label_written(source, requested.positive)
        search = _fitted(search, X, y, of_rows, positive)
        order = _order(source)
        wanted = Wanted(
            requested.level,
            requested.outer,
            REPLICATES,
            terms,
            order,
            checks=requested.checks,
            positive=positive,
        )
        return audited(search, X, y, wanted)


def _order(source: Source) -> Any:
    """Return the order of rows that the columns of the file show, by their names."""
    columns = {**source.dates, **{name: source.column(name) for name in source.columns}}
    named = ((f"column {clean(name, 40)!r}", cells) for name, cells in columns.items())
    return order_of_columns(named, source.y)


def _fitted(search: Any, X: Any, y: Any, of_rows: dict[str, Any], positive: Any) -> Any:

    try:
        check_is_fitted(search)
    except NotFittedError:
        say(f"note: {type(search).__name__} is not fitted yet: fitting it on these rows.")
        _score_of_class(search, positive)
        names = ("groups", "time", "block") if is_honest_search(search) else ("groups",)
        row_arrays = {n: of_rows[n] for n in names if of_rows[n] is not None}
        run_code(lambda: search.fit(X, y, **row_arrays), f"the fit of {type(search).__name__}")
    except TypeError:
        pass  # This is no estimator, and the audit reports it.
    return search


def _score_of_class(search: Any, positive: Any) -> None:
    """Let an unfitted search use its score with this positive class."""
    scoring = getattr(search, "scoring", None)
    if positive is None:
        return
    if is_honest_search(search):
        if search.positive is None:
            search.set_params(positive=positive)
    elif isinstance(scoring, str) and scoring in OF_ONE_CLASS and positive != 1:
        search.set_params(scoring=scorer_of_class(scoring, positive))
