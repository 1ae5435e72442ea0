"""Heists: a caged Safe among real markets, a thief with its session key, and what each of them owns afterwards."""
