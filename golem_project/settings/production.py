"""Real servers behind TLS: cookies secured, hosts and secrets from the environment only."""

from __future__ import annotations

from golem_project.settings.base import *  # noqa: F403
from golem_project.settings.environment import read_integer, read_secret, read_text

SECRET_KEY = read_secret("GOLEM_SECRET_KEY")
ALLOWED_HOSTS = [host for host in read_text("GOLEM_ALLOWED_HOSTS").split(",") if host]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
SECURE_SSL_REDIRECT = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = read_integer("GOLEM_HSTS_SECONDS", 31_536_000)
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
WHITENOISE_USE_FINDERS = False
