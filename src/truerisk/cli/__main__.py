"""Entry point of `python -m truerisk.cli`, which runs the `truerisk` command."""

from truerisk.cli import main

main()
