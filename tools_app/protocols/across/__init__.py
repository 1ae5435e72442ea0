"""Across: what is paid in on one chain is paid out on another by relayers, out of their own money."""
