"""Lending across lenders: loops, unwinding, comparing rates. Which lenders there are is the shelf's to say."""
