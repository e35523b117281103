"""Scenes in Neo4j: connections, consistent reads, commits, history, leases, publication."""
