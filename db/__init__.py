"""The one place that talks to Neo4j, and the pure values that go in and out of it."""
