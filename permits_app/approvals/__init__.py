"""Approval by owners: how many must agree and how long it waits, what they are shown, which operations wait."""
