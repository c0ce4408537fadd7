"""The `truerisk` command with its subcommands.

Every error is printed as one sentence and becomes an exit code.
"""

from __future__ import annotations

import errno
import importlib
import io
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from truerisk.cli.output import print_stderr, reword_for_command_line, show
from truerisk.cli.signals import interruption_exit_code, interruption_message, sigterm_as_interrupt
from truerisk.cli.streams import OutputStreams, StdoutWriteError, replace_standard_streams
from truerisk.core.arguments import NEW_NAME_BY_OLD
from truerisk.core.errors import (
    BadArgument,
    BadData,
    StudyIncomplete,
    TrueRiskError,
    UnknownName,
)
from truerisk.core.version import __version__

_FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # These errors mean a full disk.
EXIT_FAILURE, EXIT_USAGE, EXIT_BAD_DATA, EXIT_INCOMPLETE = 1, 2, 3, 5
_PYTHON_NAME_BY_OPTION = {  # Some command-line options have another name as arguments in Python.
    "confidence": "confidence_level",
    "errors": "error",
    "permutations": "n_permutations",
    "rows": "n",
    "seed": "random_state",
}

_COMMANDS = {
    "assess": ("assess", "Compare tuned learners on a table and say how wrong the best one is."),
    "report": ("report", "Draw the HTML page of an assessment again from its JSON."),
    "estimate": ("estimate", "Estimate the risk of one model."),
    "validate": ("validate", "What a reviewer asks: calibration, net benefit, optimism."),
    "audit": ("audit", "Audit a search of your own; a refuted claim exits with code 4."),
    "audit-table": ("audit_table", "Audit the losses of any search; exit code 4 if refuted."),
    "ladder submit": ("ladder", "Report a score on a holdout only if it is better beyond noise."),
    "ladder status": ("ladder", "Show the accepted submissions of a ladder."),
    "plan": ("plan", "Plan how many rows to test on, and how to share rows with tuning."),
    "plan development": ("plan", "Plan how many rows it takes to develop a prediction model."),
    "plan validation": ("plan", "Plan how many rows it takes to validate one in other people."),
    "compare": ("compare", "Compare two stored estimates on the rows that both tested."),
    "permute": ("permute", "Test by permuted labels whether a tuned learner beats chance."),
    "roc": ("roc", "The ROC curve of a column of scores, and what thresholds do."),
    "posterior": ("posterior", "What the errors of a test say about the true error."),
    "reproduce": ("reproduce", "Rerun a published experiment, our numbers beside its own."),
    "study": ("study", "Run a study of thousands of replicates, safe from crashes."),
    "methods": ("registries", "List the ways to estimate risk."),
    "engines": ("registries", "List the engines."),
    "datasets": ("registries", "List the data sets that come with truerisk."),
}


class _LazyGroup(click.Group):
    """Group of commands, each imported only when it runs.

    Therefore `--help` imports no numeric packages.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"truerisk.cli.{_COMMANDS[cmd_name][0]}")
        return getattr(module, cmd_name.rpartition(" ")[2].replace("-", "_"))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        first_word, command_and_subcommand = args[0] if args else "", " ".join(args[:2])
        if command_and_subcommand in _COMMANDS:
            return command_and_subcommand, self.get_command(ctx, command_and_subcommand), args[2:]
        subcommands = [
            name.partition(" ")[2] for name in _COMMANDS if name.startswith(f"{first_word} ")
        ]
        if subcommands and first_word not in _COMMANDS:
            commands = " or ".join(f"`truerisk {first_word} {name}`" for name in subcommands)
            if args[1:] in (["--help"], ["-h"]):
                show(f"write {commands}, each with its own --help")
                ctx.exit()
            ctx.fail(f"{first_word!r} is no command of its own: write {commands}.")
        if first_word and not first_word.startswith("-") and first_word not in _COMMANDS:
            from truerisk.core.registry import suggestion_for

            ctx.fail(
                f"No such command {first_word!r}{suggestion_for(first_word, _COMMANDS) or '.'}"
            )
        if subcommands and args[1:] and args[1].isalpha() and not Path(args[1]).exists():
            from truerisk.core.registry import suggestion_for

            # If no subcommand has a similar name, the word is taken for a missing file.
            suggestion = suggestion_for(args[1], subcommands)
            if suggestion:
                ctx.fail(f"No such command {command_and_subcommand!r}{suggestion}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from truerisk import engines

    show(f"truerisk {__version__}")
    disabled_engines, reason = engines.off()
    if disabled_engines:
        show(f"engines {', '.join(disabled_engines)} are off: {reason}")
    ctx.exit()


@click.group(
    cls=_LazyGroup, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version, and which engines are off.")  # fmt: skip
def cli() -> None:
    """Estimate the true risk of a tuned model, with its uncertainty.

    Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data, 4 claim refuted, 5 study incomplete,
    130 interrupted, 143 terminated. A bound that is missed (--fail-above, --min-score) is 4, too.
    """


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; errors of truerisk show no traceback."""
    with replace_standard_streams() as streams, sigterm_as_interrupt():
        exit_code = _flush_stdout(_run_command(arguments, streams), streams)
    sys.exit(exit_code or (EXIT_FAILURE if streams.has_lost_remarks else 0))


def _error_with_new_name(error: click.NoSuchOption) -> click.UsageError:
    """Return an error that names the new option if the user typed an option's former name."""
    new_option = "--" + NEW_NAME_BY_OLD.get(error.option_name.lstrip("-"), "").replace("_", "-")
    known_options = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    if not any(new_option in parameter.opts for parameter in known_options):
        return error
    return click.UsageError(f"{error.option_name} is now {new_option}.", error.ctx)


def _run_command(arguments: list[str] | None, streams: OutputStreams) -> int:
    """Run the command line, print the error if there is one, and return the exit code."""
    original_stdout = sys.stdout
    try:
        exit_code = cli.main(arguments, prog_name="truerisk", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _print_and_return_code(
            f"{interruption_message()}; nothing was kept.", interruption_exit_code()
        )
    except click.ClickException as error:
        message_buffer = io.StringIO()
        if isinstance(error, click.NoSuchOption):
            error = _error_with_new_name(error)
        error.show(message_buffer)
        print_stderr(message_buffer.getvalue().removesuffix("\n"))
        return EXIT_USAGE if isinstance(error, click.UsageError) else error.exit_code
    except SystemExit as error:  # Code of the user may call sys.exit. Our code never does.
        if sys.stdout is not original_stdout:  # click replaced stdout because its pipe is closed.
            streams.drop_stdout()
            return EXIT_FAILURE
        return _print_and_return_code(
            f"the code that was run called sys.exit({error.code!r}): let it return, or raise an "
            "error that says what is wrong.",
            EXIT_FAILURE,
        )
    except TrueRiskError as error:
        exit_codes = {BadArgument: EXIT_USAGE, UnknownName: EXIT_USAGE, BadData: EXIT_BAD_DATA}
        exit_codes[StudyIncomplete] = EXIT_INCOMPLETE
        exit_code = next(
            (
                exit_codes[error_class]
                for error_class in type(error).__mro__
                if error_class in exit_codes
            ),
            EXIT_FAILURE,
        )
        option_by_argument = _map_arguments_to_options(
            sys.argv[1:] if arguments is None else arguments
        )
        return _print_and_return_code(
            reword_for_command_line(error.sentence, option_by_argument), exit_code
        )
    except MemoryError:
        return _print_and_return_code(
            "out of memory: use fewer rows, columns or workers.", EXIT_FAILURE
        )
    except BrokenPipeError:
        streams.drop_stdout()
        return EXIT_FAILURE
    except OSError as error:
        if error.errno not in _FULL_DISK_ERRORS and not isinstance(error, StdoutWriteError):
            raise
        return _report_lost_output(error, streams)
    return exit_code if isinstance(exit_code, int) else 0


def _flush_stdout(exit_code: int, streams: OutputStreams) -> int:
    """Flush stdout and return `exit_code`, or the exit code of a failure if flushing fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:  # The process that reads stdout has ended.
            streams.drop_stdout()
            return exit_code or EXIT_FAILURE
        return exit_code or _report_lost_output(error, streams)
    return exit_code


def _report_lost_output(error: OSError, streams: OutputStreams) -> int:
    """Report why the output on stdout is incomplete, and return the exit code."""
    streams.drop_stdout()
    remedy = (
        "Make room, or write it elsewhere,"
        if error.errno in _FULL_DISK_ERRORS
        else "Write it elsewhere,"
    )
    return _print_and_return_code(
        f"the output is incomplete: {error.strerror}. {remedy} and run the command again.",
        EXIT_FAILURE,
    )


def _map_arguments_to_options(arguments: list[str]) -> dict[str, str]:
    """Map the names of Python arguments to the options of the command that the user typed."""
    command: click.Command = cli
    for command_name in (" ".join(arguments[:2]), *arguments):
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), command_name) or command
    option_by_name = {
        str(parameter.name): parameter.opts[0]
        for parameter in command.params
        if parameter.opts[0].startswith("--")
    }
    options_by_python_name = {
        _PYTHON_NAME_BY_OPTION[name]: option
        for name, option in option_by_name.items()
        if name in _PYTHON_NAME_BY_OPTION
    }
    return option_by_name | options_by_python_name


def _print_and_return_code(sentence: str, exit_code: int) -> int:
    print_stderr(f"truerisk: {' '.join(sentence.split())}")
    return exit_code
