"""`truerisk methods`, `engines` and `datasets`: print the names in a registry."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

import click

from truerisk.cli.options import json_option
from truerisk.cli.output import show

if TYPE_CHECKING:
    from truerisk.core.registry import Registry


def print_registry_names(registry: Registry, *, as_json: bool) -> None:
    """Print the names in a registry, each with a sentence that describes it."""
    if as_json:
        show(
            json.dumps({name: registry_entry.summary for name, registry_entry in registry.items()})
        )
    else:
        show(str(registry))


def _make_registry_command(package: str, help_text: str) -> click.Command:
    """Return the command that prints the registry of a package."""

    @click.command(package, help=help_text)
    @json_option
    def print_registry(as_json: bool) -> None:
        print_registry_names(import_module(f"truerisk.{package}").registry, as_json=as_json)

    return print_registry


methods = _make_registry_command("methods", "List the ways to estimate risk: the words of --cv.")
engines = _make_registry_command("engines", "List the engines that answer plans.")
datasets = _make_registry_command(
    "datasets", "List the data sets that come with truerisk: the words of --dataset."
)
