"""The event fabric's way out: server-sent events, JSON pages, webhooks, the terminal."""
