"""Spending limits and rates: what a golem may spend and how often, what it has spent, and the rules over both."""
