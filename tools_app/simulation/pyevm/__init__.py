"""The EVM in process: py-evm's rules over our own flat, forkable state."""
