"""From a question to Cypher, rows and an answer."""
