"""Plugins of the whole suite; `tests.services` comes before the settings are read and is named in pyproject.toml."""

pytest_plugins = ["tests.evm.world", "tests.live_golem"]
