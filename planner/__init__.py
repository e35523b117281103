"""Deciding and acting: operators, the session, planning methods."""
