"""A venue's own SDKs beside the server."""

from __future__ import annotations

from golem_project.settings.environment import read_text

# The socket at which they listen; empty: none, and what asks them says so.
GOLEM_SDK_SOCKET = read_text("GOLEM_SDK_SOCKET")
