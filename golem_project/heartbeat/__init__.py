"""The golem's pulse: who ticks when, the nine steps of a tick, and what it may cost."""
