"""Tests: the same code on throw-away servers; only password hashing is made cheap."""

from __future__ import annotations

from golem_project.settings.base import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"]["OPTIONS"]["pool"]["max_size"] = 80  # noqa: F405  (tests run 64 real threads)
GOLEM_KEYSTORE_SCRYPT_N = 2**4
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405  (whitenoise warns about a missing folder)
# Each test client would look through all static files when it is made; asked for one, the middleware finds it.
WHITENOISE_AUTOREFRESH = True
GOLEM_EVENT_PAYLOADS_ARE_CHECKED = True
GOLEM_EVENT_PUBLICATION_IS_AWAITED = True
GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES = True
GOLEM_CODING_ALLOWS_NETWORK = True
# Without a follower beside it, who commits in a test looks as long as the follower would.
GOLEM_FIRST_LOOK_SECONDS = 30
