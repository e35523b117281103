"""What is seen of the world, and how it is merged into the belief."""
