"""Observations of the world, and their merge into the belief."""
