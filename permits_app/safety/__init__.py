"""Seven safety hooks in a fixed order, each of which may refuse, and what they ask: drawdown, gas limits, phases."""
