"""The only code that can spend: nonces, signers, stored bytes, broadcast, outcome."""
