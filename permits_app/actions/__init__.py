"""What is done with permits, limits, wallets and approvals, one verb per file.

Views, tasks and admin actions make one call into here.
"""
