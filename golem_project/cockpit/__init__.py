"""What an owner watches: one page per golem and one for all of them, live. It only reads."""
