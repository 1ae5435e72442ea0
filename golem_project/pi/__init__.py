"""The agent's REST API: eight tools, the manifest that describes them, and the permits behind them.

Views live here and not in an app, because they may call every app and no app may call them.
"""
