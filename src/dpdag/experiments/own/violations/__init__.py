"""Tables that no model of the evidence made: noise in other places, hidden causes, odd rows."""

from .tables import SIZES, VIOLATIONS, before_hiding, violation

__all__ = ["SIZES", "VIOLATIONS", "before_hiding", "violation"]
