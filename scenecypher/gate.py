"""The gate by itself: check, bound and run read-only Cypher of untrusted authors on any graph in Neo4j.

    from neo4j import GraphDatabase
    from scenecypher.gate import Gate

    with GraphDatabase.driver(uri, auth=(user, password)) as driver:
        gate = Gate(driver)
        films = gate.graph()
        print(gate.run("MATCH (f:Film) RETURN f.title LIMIT 3", films).rows)

It is the same gate that all queries of SceneCypher pass. `docs/gate.md` shows it, `docs/safety.md` what it guarantees.
"""

from scenecypher.db.gate import Answer, Explanation, Gate, Graph, Limits, Plan
from scenecypher.db.gate.cost import Cost
from scenecypher.db.schema import Schema
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused

__all__ = ["Answer", "Bounds", "Cost", "Explanation", "Gate", "Graph", "Limits", "Plan", "QueryRefused", "Schema"]
