"""Entry point of `python -m truerisk`, which runs the `truerisk` command."""

from truerisk.core.registry import check_present

check_present("truerisk.cli")

from truerisk.cli import main  # noqa: E402

main()
