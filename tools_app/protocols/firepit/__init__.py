"""Uniswap's jar of protocol fees: what lies in it goes to whoever gives up a fixed amount of UNI for it."""
