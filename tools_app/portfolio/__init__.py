"""What an account holds, everywhere: tokens and positions, in base units and dollars, and the net asset value."""
