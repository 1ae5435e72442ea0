"""Production settings pass Django's own check of a deployment: cookies, redirects and headers are as they must be."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

from golem_project.embedded.paths import CHECKOUT


def test_djangos_check_of_a_deployment_warns_of_nothing_but_other_hosts_of_the_same_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(secrets.token_urlsafe(64))
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING", "--tag", "security"],
        cwd=CHECKOUT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "golem_project.settings.production",
            "GOLEM_SECRET_KEY_FILE": str(secret),
            "GOLEM_ALLOWED_HOSTS": "golem.example",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # Whether other hosts under the same name speak TLS alone is their owner's to say.
    assert set(re.findall(r"security\.W\d+", done.stdout + done.stderr)) == {"security.W005", "security.W021"}


def test_a_secret_that_is_missing_is_said_in_one_line_with_where_it_lies_after_a_loss(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=CHECKOUT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "golem_project.settings.production",
            "GOLEM_SECRET_KEY_FILE": str(tmp_path / "secret_key"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0 and line.startswith("manage.py: GOLEM_SECRET_KEY_FILE names ")
    assert "which is not a file. Fix: " in line and "keys.tar" in line
