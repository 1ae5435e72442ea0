"""Ten thousand golems in a real database: how they are made, what is watched of them, and the plan that follows."""
