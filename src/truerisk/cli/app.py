"""The group of commands; every error becomes one sentence and an exit code."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from truerisk.cli.output import in_options, say, show
from truerisk.cli.signals import interrupted_code, interruption_message, sigterm_as_interrupt
from truerisk.cli.streams import NotPrinted, Streams, whole_streams
from truerisk.core.arguments import NEW_NAMES
from truerisk.core.errors import (
    BadArgument,
    BadData,
    StudyIncomplete,
    TrueRiskError,
    UnknownName,
)
from truerisk.core.version import __version__

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of a full disk
FAILURE, USAGE, BAD_DATA, INCOMPLETE = 1, 2, 3, 5
_IN_PYTHON = {  # names of options in Python
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


class _Lazy(click.Group):
    """Commands that are imported when they run, so that --help imports no numeric packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"truerisk.cli.{_COMMANDS[cmd_name][0]}")
        return getattr(module, cmd_name.rpartition(" ")[2])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in _COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        label, both = args[0] if args else "", " ".join(args[:2])
        if both in _COMMANDS:
            return both, self.get_command(ctx, both), args[2:]
        if label and not label.startswith("-") and label not in _COMMANDS:
            from truerisk.core.registry import closest

            ctx.fail(f"No such command {label!r}{closest(label, _COMMANDS) or '.'}")
        seconds = [name.partition(" ")[2] for name in _COMMANDS if name.startswith(f"{label} ")]
        if seconds and args[1:] and args[1].isalpha() and not Path(args[1]).exists():
            from truerisk.core.registry import closest

            near = closest(args[1], seconds)  # Otherwise it is a file that does not exist.
            if near:
                ctx.fail(f"No such command {both!r}{near}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from truerisk import engines

    show(f"truerisk {__version__}")
    off, reason = engines.off()
    if off:
        show(f"engines {', '.join(off)} are off: {reason}")
    ctx.exit()


@click.group(
    cls=_Lazy, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Show the version, and which engines are off.")  # fmt: skip
def cli() -> None:
    """Estimate the true risk of a tuned model, with its uncertainty.

    Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data, 4 claim refuted, 5 study incomplete,
    130 interrupted, 143 terminated. A bound that is missed (--fail-above, --min-score) is 4, too.
    """


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; no traceback for what truerisk words itself."""
    with whole_streams() as streams, sigterm_as_interrupt():
        code = _flushed(_code_of(arguments, streams), streams)
    sys.exit(code or (FAILURE if streams.has_lost_remarks else 0))


def _with_new_name(error: click.NoSuchOption) -> click.UsageError:
    """Name the new option in place of an old one that the command had."""
    new = "--" + NEW_NAMES.get(error.option_name.lstrip("-"), "").replace("_", "-")
    known = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    if not any(new in parameter.opts for parameter in known):
        return error
    return click.UsageError(f"{error.option_name} is now {new}.", error.ctx)


def _code_of(arguments: list[str] | None, streams: Streams) -> int:
    """Run the command line and return its exit code; errors are printed before."""
    stdout = sys.stdout
    try:
        code = cli.main(arguments, prog_name="truerisk", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _say_end(f"{interruption_message()}; nothing was kept.", interrupted_code())
    except click.ClickException as error:
        buffer = io.StringIO()
        if isinstance(error, click.NoSuchOption):
            error = _with_new_name(error)
        error.show(buffer)
        say(buffer.getvalue().removesuffix("\n"))
        return USAGE if isinstance(error, click.UsageError) else error.exit_code
    except SystemExit as error:  # A user's code may exit in this way, ours never does.
        if sys.stdout is not stdout:  # click has replaced stdout, because its reader is gone.
            streams.drop_stdout()
            return FAILURE
        return _say_end(
            f"the code that was run called sys.exit({error.code!r}): let it return, or raise an "
            "error that says what is wrong.",
            FAILURE,
        )
    except TrueRiskError as error:
        codes = {BadArgument: USAGE, UnknownName: USAGE, BadData: BAD_DATA}
        codes[StudyIncomplete] = INCOMPLETE
        code = next((codes[kind] for kind in type(error).__mro__ if kind in codes), FAILURE)
        options = _options_of(sys.argv[1:] if arguments is None else arguments)
        return _say_end(in_options(error.sentence, options), code)
    except MemoryError:
        return _say_end("out of memory: use fewer rows, columns or workers.", FAILURE)
    except BrokenPipeError:
        streams.drop_stdout()
        return FAILURE
    except OSError as error:
        if error.errno not in _FULL and not isinstance(error, NotPrinted):
            raise
        return _say_lost(error, streams)
    return code if isinstance(code, int) else 0


def _flushed(code: int, streams: Streams) -> int:
    """Flush stdout and return the exit code, or a failure code if flushing fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:  # The reader of the output is gone.
            streams.drop_stdout()
            return code or FAILURE
        return code or _say_lost(error, streams)
    return code


def _say_lost(error: OSError, streams: Streams) -> int:
    """Report that the output is incomplete, and why."""
    streams.drop_stdout()
    remedy = "Make room, or write it elsewhere," if error.errno in _FULL else "Write it elsewhere,"
    return _say_end(
        f"the output is incomplete: {error.strerror}. {remedy} and run the command again.", FAILURE
    )


def _options_of(arguments: list[str]) -> dict[str, str]:
    """Return the options of the typed command by the names of their arguments."""
    command: click.Command = cli
    for label in (" ".join(arguments[:2]), *arguments):
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), label) or command
    options = {str(o.name): o.opts[0] for o in command.params if o.opts[0].startswith("--")}
    in_python = {_IN_PYTHON[name]: option for name, option in options.items() if name in _IN_PYTHON}
    return options | in_python


def _say_end(sentence: str, code: int) -> int:
    say(f"truerisk: {' '.join(sentence.split())}")
    return code
