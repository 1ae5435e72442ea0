"""Approval by owners: who must agree, what they are shown, and the operations that wait for them."""
