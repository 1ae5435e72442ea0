"""Backups of a deployment, its keys apart, and what has to hold before a restored one acts again."""
