"""Archives: all scenes of a database with their history, in one file that any server can take back."""
