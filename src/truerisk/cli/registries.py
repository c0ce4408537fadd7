"""`truerisk methods | engines | datasets`: each registry prints itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from truerisk.cli.options import json_option
from truerisk.cli.output import show

if TYPE_CHECKING:
    from truerisk.core.registry import Registry


def _print(registry: Registry, as_json: bool) -> None:
    if as_json:
        show(json.dumps({word: line.about for word, line in registry.items()}))
    else:
        show(str(registry))


@click.command()
@json_option
def methods(as_json: bool) -> None:
    """List the ways to estimate risk: the words of --method."""
    from truerisk.methods import registry

    _print(registry, as_json)


@click.command()
@json_option
def engines(as_json: bool) -> None:
    """List the engines that answer plans."""
    from truerisk.engines import registry

    _print(registry, as_json)


@click.command()
@json_option
def datasets(as_json: bool) -> None:
    """List the data sets that come with truerisk: the words of --dataset."""
    from truerisk.datasets import registry

    _print(registry, as_json)
