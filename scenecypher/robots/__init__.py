"""Robots as worlds of a plan: messages, both sides of their exchange without any transport, and a socket for it.

A robot's program calls `serve` with a `Robot`; `scenecypher plan … --world robot --url tcp://HOST:PORT` connects to it.
"""

from scenecypher.robots.desk import Robot, RobotDesk
from scenecypher.robots.messages import Act, Thing, View
from scenecypher.robots.sockets import serve

__all__ = ["Act", "Robot", "RobotDesk", "Thing", "View", "serve"]
