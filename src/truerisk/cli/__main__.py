"""`python -m truerisk.cli` is the `truerisk` command."""

from truerisk.cli import main

main()
