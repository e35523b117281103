"""A private Neo4j without set-up: one per home folder, started on first use and left running."""

from scenecypher.db.local.config import ServerHome
from scenecypher.db.local.server import Server, Supervisor, restart, start, status, stop

__all__ = ["Server", "ServerHome", "Supervisor", "restart", "start", "status", "stop"]
