"""A golem's policy as a contract: deployed by the command or from the browser."""
