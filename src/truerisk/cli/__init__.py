"""The command line: parse the options, call a function of the library, and print its result.

Nothing is computed here.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the `truerisk` command, and handle Ctrl-C and SIGTERM even while modules are loading."""
    from truerisk.cli.signals import interruption_exit_code, sigterm_as_interrupt

    with sigterm_as_interrupt():
        try:
            from truerisk.cli.app import run
        except KeyboardInterrupt:
            sys.exit(interruption_exit_code())
        run()
