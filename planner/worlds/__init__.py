"""Worlds in which actions are carried out: scenes, beliefs, people, MiniGrid, and what moves unseen."""
