"""The past of a scene as nodes that queries may read: built from its events when it is first asked about."""

from scenecypher.db.past.build import PastNotBuilt, PastState, build_past, past_state

__all__ = ["PastNotBuilt", "PastState", "build_past", "past_state"]
