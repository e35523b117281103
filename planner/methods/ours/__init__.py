"""Methods of our own."""
