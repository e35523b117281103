"""The Embodied Agent Interface in VirtualHome: recorded outputs of models, scored through our database."""
