"""The built-in archetypes as data, one file for each category."""
