"""A mail server on a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from tests import factories
from tests.golem_project.alerts.room import MailServer


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    made = MailServer()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", made.port, False
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def golem(db: None) -> Golem:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    return factories.make_golem(owner=owner, name="Atlas")
