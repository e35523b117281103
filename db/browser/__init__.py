"""Neo4j Browser as its users expect it: queries of a scene, a style, and an address that brings both there."""
