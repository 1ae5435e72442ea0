"""Who signs for golems: session keys of cages, and this server's account at Privy. Secrets come from files first."""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_optional_secret, read_text

GOLEM_SESSION_SECONDS = 7 * 86_400  # a session key is replaced after so long
GOLEM_SESSION_OPERATIONS = 10_000  # or after so many operations
GOLEM_SESSION_FLOOR_BPS = 1_000  # or once a tenth of its operations or of its budget is left
GOLEM_SESSION_LEAD_SECONDS = 86_400  # so long before its end the owners are asked for the next one

GOLEM_PRIVY_URL = read_text("GOLEM_PRIVY_URL", "https://api.privy.io")
GOLEM_PRIVY_APP_ID = read_text("GOLEM_PRIVY_APP_ID")
GOLEM_PRIVY_APP_SECRET = read_optional_secret("GOLEM_PRIVY_APP_SECRET")
GOLEM_PRIVY_AUTHORIZATION_KEY = read_optional_secret("GOLEM_PRIVY_AUTHORIZATION_KEY")
GOLEM_PRIVY_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_PRIVY_ALLOWS_PRIVATE_ADDRESSES", False)  # a stand-in only
GOLEM_PRIVY_TIMEOUT_SECONDS = 10.0  # for one request as a whole
