"""Structured Self-Consistency: samples of a structured output are validated, brought to canonical forms and voted on."""
