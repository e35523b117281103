"""Tests in a real Chromium: the pages of `scenecypher ui`, and Neo4j Browser."""
