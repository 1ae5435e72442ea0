"""What an account holds, everywhere: tokens and positions, in base units and dollars."""
