"""Methods that the papers compare with."""
