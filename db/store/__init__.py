"""Scenes in Neo4j: connections, steady reads, commits, history, leases, publishing."""
