"""A private Neo4j without set-up: one per home folder, started on first use and left running."""

from scenecypher.db.local.home import ServerHome
from scenecypher.db.local.server import Server, start, status, stop

__all__ = ["Server", "ServerHome", "start", "status", "stop"]
