"""Structured Self-Consistency: votes over samples of a structured output, validated and in canonical form."""
