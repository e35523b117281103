"""SG-RwR."""
