"""What pages show of a golem's money and permits: cards, lines and meters, gathered from rows."""
