"""The built-in archetypes as data, one file for each category of facts and seeds; our own words throughout."""
