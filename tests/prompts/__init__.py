"""Rendered prompts of all methods, kept as files."""
