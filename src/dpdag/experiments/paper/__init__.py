"""The tables and figures of the paper, an experiment each."""

from . import (  # noqa: F401
    structure,
)
