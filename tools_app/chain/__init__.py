"""Reading chains: blocks, tokens, fees, prices from feeds.

Nothing in this package can sign or send; spending lives in `permits_app/execution/`.
"""
