"""`python -m truerisk` is the `truerisk` command."""

from truerisk.cli import main

main()
