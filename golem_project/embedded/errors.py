"""The one error of this package: a sentence for the person who typed the command, with the fix in it."""


class EmbeddedError(Exception):
    """Something the caller can act on; the message is one line and names the fix."""
