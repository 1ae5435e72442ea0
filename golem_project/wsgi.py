"""The WSGI entry point, for deployments that prefer it."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
application = get_wsgi_application()

# Its models need the apps to be loaded.
from golem_project.runtime.start_conditions import check_before_serving  # noqa: E402

check_before_serving()
