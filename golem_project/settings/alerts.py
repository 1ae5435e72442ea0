"""Alerts by mail and chat: the server that sends mail, and how long a chat may take."""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_integer, read_optional_secret, read_text

EMAIL_HOST = read_text("GOLEM_EMAIL_HOST", "")  # empty: no mail is sent, and a channel that wants it says so
EMAIL_PORT = read_integer("GOLEM_EMAIL_PORT", 587)
EMAIL_HOST_USER = read_text("GOLEM_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = read_optional_secret("GOLEM_EMAIL_PASSWORD")
EMAIL_USE_TLS = read_flag("GOLEM_EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 15  # seconds
DEFAULT_FROM_EMAIL = read_text("GOLEM_EMAIL_FROM", "golem@localhost")

GOLEM_TELEGRAM_URL = "https://api.telegram.org"
GOLEM_ALERT_TIMEOUT_SECONDS = 10.0  # for one message as a whole
GOLEM_ALERT_MOST_CHANNELS_PER_PERSON = 10
