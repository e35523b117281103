"""Structured Self-Consistency: samples of a structured output are validated, made canonical and voted on."""
