"""A Neo4j of one's own: no set-up, one a home folder, started on first use and left running."""

from scenecypher.db.local.home import Home
from scenecypher.db.local.server import Server, restart, start, status, stop
from scenecypher.db.local.supervisor import Supervisor

__all__ = ["Home", "Server", "Supervisor", "restart", "start", "status", "stop"]
