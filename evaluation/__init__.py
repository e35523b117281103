"""Tasks, scorers and reports: what a model is worth, measured."""
