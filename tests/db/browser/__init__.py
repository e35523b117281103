"""Tests of the views, the style and the address for Neo4j Browser."""
