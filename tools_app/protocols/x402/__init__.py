"""x402: payments for a request, signed for a payee and carried out by whoever settles them, or by nobody."""
