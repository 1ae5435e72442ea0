"""Read every row by this version's models, and open every list, every golem and every permit as an operator.

A process of its own on the database that DATABASE_URL names; what cannot be read ends it with an error.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.test")
    django.setup()
    from django.apps import apps
    from django.contrib import admin
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.urls import reverse

    from archetypes_app.models import Golem
    from permits_app.models import ActionPermit

    for model in apps.get_models():
        for row in model._default_manager.all():
            str(row)
    client = Client(raise_request_exception=True)
    operator = get_user_model()._default_manager.create_superuser("upgraded", password=None)
    client.force_login(operator, "django.contrib.auth.backends.ModelBackend")
    pages = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
        if model._meta.app_label.endswith("_app")
    ]
    pages += [reverse("admin:archetypes_app_golem_change", args=[golem.pk]) for golem in Golem.objects.all()]
    pages += [
        reverse("admin:permits_app_actionpermit_change", args=[permit.pk]) for permit in ActionPermit.objects.all()
    ]
    for page in pages:
        answer = client.get(page, follow=True)
        if answer.status_code != 200:
            raise SystemExit(f"{page} answers {answer.status_code}")
    sys.stdout.write(f"{len(pages)} pages")


if __name__ == "__main__":
    main()
