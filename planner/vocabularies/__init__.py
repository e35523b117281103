"""Vocabularies: a package each, of one typed `Vocabulary`; `scenecypher.db.vocabulary` has the row of each."""
