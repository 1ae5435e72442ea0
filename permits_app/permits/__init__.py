"""What a permit is: its plan, its states, what seals it and what is kept of it."""
