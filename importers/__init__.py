"""Files to SceneGraph values, one file a format; no database here."""
