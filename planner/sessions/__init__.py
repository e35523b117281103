"""Sessions: one task from start to end, with its events, budget, memory, record and log."""
