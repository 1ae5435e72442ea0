"""Thinking of a heartbeat: the interface every planner keeps, and the planner that asks a language model."""
