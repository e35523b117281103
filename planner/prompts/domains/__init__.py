"""The making of the PDDL domain in which a model writes a problem (LLM+P)."""
