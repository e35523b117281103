"""Rules of a house: read from words, kept with a scene, and sets of them to take."""
