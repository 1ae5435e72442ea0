"""EigenLayer: staked tokens are deposited, delegated to an operator, may be slashed, and leave by a queue of days."""
