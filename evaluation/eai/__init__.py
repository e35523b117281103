"""Embodied Agent Interface in VirtualHome: models' outputs, scored with our simulator."""
