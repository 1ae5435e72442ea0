"""Examines a deployment from outside: what it needs of its servers, files and nodes."""
