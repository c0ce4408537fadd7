"""Losses and scores: by word, by class, and from what users write as `scoring=`."""

from typing import TYPE_CHECKING

from truerisk.losses.row_losses import *  # noqa: F403  its `__all__` is the one list of names
from truerisk.losses.row_losses import __all__ as __all__

if not TYPE_CHECKING:  # which would take every name for one that is there
    from truerisk.losses.row_losses import __dir__ as __dir__
    from truerisk.losses.row_losses import __getattr__ as __getattr__
