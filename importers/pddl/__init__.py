"""PDDL domains and problems of a user's own: their facts as facts of a scene graph, their actions as data."""
