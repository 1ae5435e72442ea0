"""What pages show of a golem, whichever app they are of."""
