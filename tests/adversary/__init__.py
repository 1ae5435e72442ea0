"""A scripted adversary on the eight tools."""
