"""What a golem can do: core words, the toolkit, chain reads, simulation, and the DeFi tools themselves."""

from tools_app.core.recursion_limit import keep_limit_across_imports

keep_limit_across_imports()
