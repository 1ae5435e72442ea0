"""Alerts by mail and chat: channels of a person, what is told through them, when, and what became of it."""
