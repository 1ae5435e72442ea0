"""Who a golem is: archetype, profile, overrides, phase, and the toolset they resolve to."""
