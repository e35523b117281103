"""A home seen from above: what stands where, and its picture."""
