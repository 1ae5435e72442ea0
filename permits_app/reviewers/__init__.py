"""Reviewers: deterministic second opinions that answer APPROVE or VETO with reasons."""
