"""A home as a page: rooms with furniture with things on it, its versions, questions and actions; on paper too."""
