"""A private Neo4j without set-up: one per home folder, started on first use and left running."""

from scenecypher.db.local.home import ServerHome
from scenecypher.db.local.server import Server, restart, start, status, stop
from scenecypher.db.local.supervisor import Supervisor

__all__ = ["Server", "ServerHome", "Supervisor", "restart", "start", "status", "stop"]
