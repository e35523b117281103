"""Access to Neo4j, the only one in the code, and the pure values that are read and written."""
