"""Tasks, scorers and reports of the experiments, run with Inspect."""
