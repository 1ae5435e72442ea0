"""A2A: other agents ask a golem for its tools as tasks, over JSON-RPC and HTTP+JSON, protocol 1.0 and 0.3.

The messages, bindings and signed cards are the official SDK's. What is asked is carried out by the views of `pi`; what
is kept is in PostgreSQL.
"""
