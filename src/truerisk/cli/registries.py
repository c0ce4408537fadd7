"""`truerisk methods | engines | datasets`: each registry prints itself."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

import click

from truerisk.cli.options import json_option
from truerisk.cli.output import show

if TYPE_CHECKING:
    from truerisk.core.registry import Registry


def show_words(registry: Registry, *, as_json: bool) -> None:
    """Print the words of a registry, each with its sentence."""
    if as_json:
        show(json.dumps({name: line.about for name, line in registry.items()}))
    else:
        show(str(registry))


def _command(package: str, about: str) -> click.Command:
    """Return the command that prints the registry of a package."""

    @click.command(package, help=about)
    @json_option
    def shown(as_json: bool) -> None:
        show_words(import_module(f"truerisk.{package}").registry, as_json=as_json)

    return shown


methods = _command("methods", "List the ways to estimate risk: the words of --cv.")
engines = _command("engines", "List the engines that answer plans.")
datasets = _command(
    "datasets", "List the data sets that come with truerisk: the words of --dataset."
)
