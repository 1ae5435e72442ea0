"""The readers of the chain tests."""

from tests.tools_app.chain.conftest import chain_table, open_reader, reader
from tests.tools_app.simulation.protocol_bytecode import bytecode

__all__ = ["bytecode", "chain_table", "open_reader", "reader"]
