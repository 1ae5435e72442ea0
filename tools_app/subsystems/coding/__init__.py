"""Tools for code: read, write, edit, bash, grep, find, in a folder of the golem's own or on a machine of its owner."""
