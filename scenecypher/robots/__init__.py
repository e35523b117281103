"""Robots as worlds of a plan: behind HTTP, as `openapi.json` describes it, or behind ROS's bridge."""
