"""Implementation of `truerisk audit`: audit, on a file, a search object that user code creates."""

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

from truerisk.auditing.audit import run_audit
from truerisk.auditing.correcting import AuditOptions
from truerisk.auditing.mixed_splits import order_of_columns
from truerisk.cli.gate import EXIT_CLAIM_OR_BOUND_MISSED, judge_bounds, refuse_invalid_bounds
from truerisk.cli.options import format_command_line
from truerisk.cli.output import (
    print_column_numbers,
    print_stderr,
    print_warnings_at_end,
    show,
    show_progress,
    write_page,
)
from truerisk.cli.source import Source, label_from_text, read_source, source_arguments
from truerisk.core.errors import MissingExtra, TrueRiskError, UnknownName, describe_error
from truerisk.core.formats import escape_and_truncate
from truerisk.core.identity import is_honest_search, standard_score_name
from truerisk.core.registry import suggestion_for
from truerisk.core.tables import frame_from_columns
from truerisk.losses.row_losses import registry
from truerisk.results.interval import Scale
from truerisk.search.claim import ONE_CLASS_SCORES, find_perfect_score, make_scorer_for_class

N_BOOTSTRAP_REPLICATES = 1000
OPTIONS_WITHOUT_EFFECT = ("report", "figures", "as_json", "n_jobs")
"""Options of `truerisk audit` that do not affect any number in the result."""


def run(args: Any) -> int:
    """Audit the search that the options name, print the result and return the exit code."""
    search_factory = load_search_factory(args.search, is_allowed=args.allow_import)
    source = read_source(**source_arguments(args))
    X = _data_for_search(source)
    # Encoding and imputation are left to the user's search, so notes on them are omitted.
    for source_note in source.notes:
        if "inside the folds" not in source_note:
            print_stderr(f"note: {source_note}")
    if (
        source.column_layout.get("text") and X is source.X
    ):  # X is an array, which has no column names.
        print_stderr("note: text is given to the search as numbers, its place in sorted order")
    if source.column_layout.get("missing"):
        print_stderr("note: empty cells are given to the search as missing values")
    result = _audit_search(search_factory, source, X, args)
    command = format_command_line(click.get_current_context(), OPTIONS_WITHOUT_EFFECT)
    result = replace(result, source=source.name, command=command)
    show(result.to_json() if args.as_json else str(result))
    write_page(result, args.report, args.figures)
    if X is source.X:
        print_column_numbers(source.columns, result.findings)
    if result.refuted is None and args.level != "scores":
        print_stderr("no interval, so nothing is refuted.")
    for finding in result.findings:
        if finding.code == "claim-refuted":
            print_stderr(f"the claim is refuted: {finding.sentence}")
    exit_code = judge_bounds(result, args.fail_above, args.min_score)
    return EXIT_CLAIM_OR_BOUND_MISSED if result.refuted else exit_code


def load_search_factory(function_location: str, *, is_allowed: bool) -> Any:
    """Import and return the function that `file.py:name` or `package.module:name` refers to.

    If the name is that of a search, the function returns this search. The import runs the code of
    that file or module, so it is refused unless `is_allowed`.
    """
    file_or_module, separator, function_name = function_location.rpartition(":")
    if not separator or not file_or_module or not function_name.isidentifier():
        raise click.UsageError(
            f"{function_location!r} names no search: write file.py:name or module:name."
        )
    if not is_allowed:
        raise click.UsageError(
            f"{file_or_module} is code and would be run: add --allow-import if you trust it."
        )
    if file_or_module.endswith(".py"):
        module = _import_file(Path(file_or_module))
    else:
        module = run_user_code(lambda: import_module(file_or_module), file_or_module)
    search_or_function = getattr(module, function_name, None)
    if hasattr(search_or_function, "fit") and not isinstance(search_or_function, type):
        return lambda: search_or_function
    if not callable(search_or_function):
        known_names = [
            name for name, value in vars(module).items() if callable(value) or hasattr(value, "fit")
        ]
        raise UnknownName(
            f"{file_or_module} has no search or function "
            f"{function_name!r}{suggestion_for(function_name, known_names) or '.'}"
        )
    return search_or_function


def _import_file(path: Path) -> Any:

    if not path.is_file():
        raise UnknownName(f"there is no file {str(path)!r}.")
    module_spec = spec_from_file_location(path.stem, path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = module_from_spec(module_spec)
    run_user_code(lambda: module_spec.loader.exec_module(module), str(path))
    return module


def call_search_factory(search_factory: Any, X: Any, y: Any) -> Any:
    """Call the user's function and return its result, which is the search to audit.

    A function with two required arguments is called with X and y. A function without required
    arguments is called without any.
    """
    factory_name = getattr(search_factory, "__name__", "the factory")
    required_parameters = [
        parameter
        for parameter in inspect.signature(search_factory).parameters.values()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind is not parameter.VAR_KEYWORD
    ]
    if len(required_parameters) not in (0, 2):
        raise UnknownName(
            f"{factory_name} takes {len(required_parameters)} arguments: it must take "
            "none, or X and y."
        )
    return run_user_code(
        lambda: search_factory(X, y) if required_parameters else search_factory(), factory_name
    )


def run_user_code(user_function: Any, function_name: str) -> Any:
    """Call the user's function; if it raises, report the first and last line of its message.

    Between these lines scikit-learn quotes the tracebacks of all failed fits.
    """
    try:
        return user_function()
    except TrueRiskError:
        raise
    except Exception as error:
        last_line = str(error).strip().rpartition("\n")[2].strip()
        last_line_text = (
            f" ... {last_line}" if last_line and last_line not in describe_error(error) else ""
        )
        raise TrueRiskError(
            f"{function_name} failed: {describe_error(error)}{last_line_text}"
        ) from error


def _data_for_search(source: Source) -> Any:
    """Return the features that the user's search is fitted on, as a data frame if possible.

    The frame has the columns of the file. A bundled data set is an array, and so is a file if
    neither pandas nor polars is installed.
    """
    if not source.columns:
        return source.X
    try:
        feature_frame = frame_from_columns({name: source.column(name) for name in source.columns})
    except MissingExtra:
        print_stderr(
            "note: neither pandas nor polars is installed: the search gets an array without names"
        )
        return source.X
    if hasattr(feature_frame, "notna"):  # Encoders recognise NaN as missing, also in text columns.
        return feature_frame.where(feature_frame.notna(), float("nan"))
    return feature_frame


def _audit_search(search_factory: Any, source: Source, X: Any, args: Any) -> Any:

    y, row_arguments = source.y, source.row_arguments
    search_arguments = {
        "fit_params": None,
        "engine": "auto",
        **row_arguments,
        "n_jobs": args.n_jobs,
    }
    search_arguments |= {"confidence_level": args.confidence, "random_state": args.seed}
    with print_warnings_at_end(findings=args.as_json), show_progress():
        search = call_search_factory(search_factory, X, y)
        scoring = getattr(search, "scoring", None)
        if scoring is None and not is_honest_search(search):
            scoring = standard_score_name(getattr(search, "estimator", None))
        if isinstance(scoring, str):
            remedy = " An audit bounds the score of the search: give it another `scoring`."
            requested_bounds = args.fail_above, args.min_score
            is_known_loss = is_honest_search(search) and scoring in registry
            score_scale = (
                registry.load(scoring)().scale
                if is_known_loss
                else Scale(find_perfect_score(scoring))
            )
            refuse_invalid_bounds(*requested_bounds, {scoring: score_scale}, remedy)
        positive_label = label_from_text(source, args.positive)
        search = _fit_if_needed(search, X, y, row_arguments, positive_label)
        row_order = _row_order(source)
        audit_options = AuditOptions(
            args.level,
            args.outer,
            N_BOOTSTRAP_REPLICATES,
            search_arguments,
            row_order,
            checks=args.checks,
            positive=positive_label,
        )
        return run_audit(search, X, y, audit_options)


def _row_order(source: Source) -> Any:
    """Return the order of rows that a column of the file reveals, such as sorted dates."""
    cells_by_column = {
        **source.date_columns,
        **{name: source.column(name) for name in source.columns},
    }
    named_cells = (
        (f"column {escape_and_truncate(name, 40)!r}", cells)
        for name, cells in cells_by_column.items()
    )
    return order_of_columns(named_cells, source.y)


def _fit_if_needed(
    search: Any, X: Any, y: Any, row_arguments: dict[str, Any], positive_label: Any
) -> Any:

    try:
        check_is_fitted(search)
    except NotFittedError:
        print_stderr(f"note: {type(search).__name__} is not fitted yet: fitting it on these rows.")
        _set_positive_class(search, positive_label)
        argument_names = ("groups", "time", "block") if is_honest_search(search) else ("groups",)
        row_arrays = {
            name: row_arguments[name] for name in argument_names if row_arguments[name] is not None
        }
        run_user_code(lambda: search.fit(X, y, **row_arrays), f"the fit of {type(search).__name__}")
    except TypeError:
        pass  # The object is no estimator. The audit reports this.
    return search


def _set_positive_class(search: Any, positive_label: Any) -> None:
    """Set the positive class of an unfitted search, to which a score such as `f1` refers."""
    scoring = getattr(search, "scoring", None)
    if positive_label is None:
        return
    if is_honest_search(search):
        if search.positive is None:
            search.set_params(positive=positive_label)
    elif isinstance(scoring, str) and scoring in ONE_CLASS_SCORES and positive_label != 1:
        search.set_params(scoring=make_scorer_for_class(scoring, positive_label))
