"""The command line: parse, call the api, print. Nothing is computed here.

| file | what it holds |
|---|---|
| `app.py` | the group of commands, exit codes, errors as one sentence |
| `estimate.py`, `assess.py`, `validate.py`, `audit.py`, `report.py` | commands |
| `permute.py` | whether a tuned learner is above chance |
| `plan.py`, `posterior.py`, `roc.py`, `compare.py`, `reproduce.py`, `study.py` | more commands |
| `registries.py` | `methods`, `engines`, `datasets`: the tables of words |
| `reviews.py` | what `validate` and `assess --validate` are asked alike |
| `source.py` | a file or a bundled data set as X and y, and the search of a learner's word |
| `options.py` | options that commands share: workers, stores, pages |
| `gate.py` | `--fail-above` and `--min-score`: bounds on the honest end of an interval |
| `streams.py` | stdout and stderr, which are written whole or not at all |
| `signals.py` | SIGTERM, heard like Ctrl-C |
| `output.py` | progress, notes and warnings on stderr, JSON on stdout |
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the `truerisk` command; Ctrl-C and SIGTERM are heard while it is still loaded, too."""
    from truerisk.cli.signals import interrupted_code, sigterm_as_interrupt

    with sigterm_as_interrupt():
        try:
            from truerisk.cli.app import run
        except KeyboardInterrupt:
            sys.exit(interrupted_code())
        run()
