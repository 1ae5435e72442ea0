"""Real servers behind TLS: cookies secured, hosts and secrets from the environment only."""

from __future__ import annotations

from golem_project.settings.base import *  # noqa: F403
from golem_project.settings.environment import read_integer, read_secret, read_text

SECRET_KEY = read_secret("GOLEM_SECRET_KEY")
ALLOWED_HOSTS = [host for host in read_text("GOLEM_ALLOWED_HOSTS").split(",") if host]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
# The one host there is; of several somebody has to say which, and until then no passkey counts.
NAMED_HOSTS = [host for host in ALLOWED_HOSTS if host[0] not in ".*["]
GOLEM_PASSKEY_RP_ID = read_text(
    "GOLEM_PASSKEY_RP_ID", NAMED_HOSTS[0] if len(ALLOWED_HOSTS) == len(NAMED_HOSTS) == 1 else ""
)
# Never the page's own address alone: behind a host like .golem.example anybody's page may have one.
GOLEM_PASSKEY_ORIGINS = GOLEM_PASSKEY_ORIGINS or [  # noqa: F405
    f"https://{host}" for host in NAMED_HOSTS if f".{host}".endswith(f".{GOLEM_PASSKEY_RP_ID}")
]
GOLEM_KEY_WAIT_SECONDS = read_integer("GOLEM_KEY_WAIT_SECONDS", 20)
SECURE_SSL_REDIRECT = True
# Health checks come from beside the balancer, not through it.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = read_integer("GOLEM_HSTS_SECONDS", 31_536_000)
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
WHITENOISE_USE_FINDERS = False
