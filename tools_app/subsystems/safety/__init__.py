"""The risk board: what an account holds and owes everywhere, what could be lost of it, and what leaving would cost."""
