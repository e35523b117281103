"""Embodied Agent Interface in VirtualHome: models' recorded outputs, scored with our database."""
