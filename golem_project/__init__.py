"""The composition root: settings, wiring, the interfaces to the outside and the servers that come along."""
