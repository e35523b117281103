"""Sandbox for model-written Python, which can only compute and call the given tools."""
