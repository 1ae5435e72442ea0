"""The ERC-level pieces that protocols share: calls to put into a plan, reads, and the events they emit."""
