"""The command line: parse, call the verb, print. Nothing is computed here."""

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
