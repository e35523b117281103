"""LookPlanGraph."""
