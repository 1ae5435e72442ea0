"""A protocol that nobody runs: claims that are due at a date, coupons that may bring nothing, a pool of both."""
