"""Where cells run: processes of this machine, or a Ray cluster."""

from .local import Local
from .on_ray import OnRay

__all__ = ["Local", "OnRay"]
