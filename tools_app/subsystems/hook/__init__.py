"""The code that strangers put into pools: which there is, what it could do, and what it does when it is tried."""
