"""The readers of the chain tests."""

from tests.tools_app.chain.conftest import chain_table, open_reader, reader

__all__ = ["chain_table", "open_reader", "reader"]
