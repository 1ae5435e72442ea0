"""A lender that nobody runs, whose `withdraw` also borrows and whose `supply` also repays, as Compound V3 has them."""
