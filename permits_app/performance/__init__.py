"""What a golem earned and lost, by day and by month."""
