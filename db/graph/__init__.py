"""Pure values: scene graphs, what changes them, and their JSON documents."""
