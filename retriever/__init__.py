"""Question to Cypher to rows to answer."""
