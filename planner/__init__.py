"""Planning and acting: operators, the session and the planning methods."""
