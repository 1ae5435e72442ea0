"""The image's steps run in an empty checkout, and what they made serves on a file system that cannot be written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest
from django.db import connections

from archetypes_app.actions.sync_builtins import sync_builtins
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import plan_web
from tests.architecture.sources import ROOT, list_tracked

DOCKERFILE = ROOT / "deploy/Dockerfile"
# An environment is made anew.
pytestmark = pytest.mark.timeout(1_200)
# Debian's own, which no test installs.
_APT = "apt-get update"
_UID = 10_001


@dataclass(frozen=True)
class Step:
    """One instruction of the image's last two stages."""

    stage: str
    name: str
    words: str


def list_steps() -> list[Step]:
    stage, found = "", []
    for line in DOCKERFILE.read_text().splitlines():
        name, _, words = line.partition(" ")
        if name == "FROM":
            stage = words.partition(" AS ")[2] or "last"
        elif name.isupper():
            found.append(Step(stage, name, words))
    return found


def read_words(name: str) -> str:
    (found,) = [step.words for step in list_steps() if step.stage == "last" and step.name == name]
    return found


def read_variables() -> dict[str, str]:
    return dict(word.split("=", 1) for word in shlex.split(read_words("ENV")))


def is_left_out(path: str) -> bool:
    patterns = (ROOT / "deploy/Dockerfile.dockerignore").read_text().splitlines()
    parts = path.split("/")
    return any(
        fnmatch(path, pattern) or parts[0] == pattern or (pattern.startswith("**/") and pattern[3:] in parts)
        for pattern in patterns
        if pattern and not pattern.startswith("#")
    )


def test_its_command_is_the_web_servers_and_its_user_is_not_root() -> None:
    planned = list(plan_web(8000).argv[1:])
    planned[planned.index("--host") + 1] = "0.0.0.0"
    planned[planned.index("--timeout-graceful-shutdown") + 1] = "30"
    assert json.loads(read_words("CMD")) == planned
    assert read_words("USER") == str(_UID) and read_words("VOLUME") == read_variables()["GOLEM_VAR_DIR"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the build stage leaves at /srv/golem. Its steps see this machine, and can write nothing else of it."""
    if shutil.which("bwrap") is None:
        pytest.skip("not run: bubblewrap is not installed (set-up as root fetches it)")
    folder = tmp_path_factory.mktemp("image")
    (made := folder / "golem").mkdir()
    for path in list_tracked():
        if not is_left_out(path):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, made / path)
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    for step in list_steps():
        if step.stage == "build" and step.name == "RUN" and not step.words.startswith(_APT):
            inside = [*fence(made, is_writable=True), "--bind", str(cache), str(cache), "/bin/sh", "-ec", step.words]
            done = subprocess.run(
                inside, capture_output=True, text=True, timeout=900, check=False, env=clean_variables()
            )
            assert done.returncode == 0, (step.words, done.stdout[-2000:], done.stderr[-2000:])
    yield made
    shutil.rmtree(folder, ignore_errors=True)


def clean_variables() -> dict[str, str]:
    ours = re.compile(r"GOLEM_|DJANGO_|DATABASE_URL|REDIS_URL|PYTHON|VIRTUAL_ENV|CI$")
    return {name: value for name, value in os.environ.items() if not ours.match(name)}


def fence(made: Path, *, is_writable: bool) -> list[str]:
    bind = "--bind" if is_writable else "--ro-bind"
    places = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/srv"]
    return ["bwrap", *places, bind, str(made), "/srv/golem", "--chdir", "/srv/golem", "--die-with-parent"]


@pytest.mark.django_db(transaction=True)
def test_what_was_built_serves_pages_as_nobody_on_a_file_system_that_cannot_be_written(
    checkout: Path, tmp_path: Path
) -> None:
    sync_builtins()
    (var := tmp_path / "var").mkdir()
    place = read_variables()["GOLEM_VAR_DIR"]
    name, port = connections["default"].settings_dict["NAME"], free_port()
    variables = {
        **clean_variables(),
        **read_variables(),
        "DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}",
        "REDIS_URL": os.environ["REDIS_URL"],
        "GOLEM_SECRET_KEY": "s" * 64,
        "GOLEM_ALLOWED_HOSTS": "golem.example",
        "HOME": place,
    }
    command = json.loads(read_words("ENTRYPOINT")) + json.loads(read_words("CMD"))
    command[command.index("--port") + 1] = str(port)
    command[command.index("--host") + 1] = "127.0.0.1"
    inside = [*fence(checkout, is_writable=False), "--tmpfs", "/var/lib", "--bind", str(var), place]
    inside += ["--unshare-user", "--uid", str(_UID), "--gid", str(_UID)]
    log_path = tmp_path / "log"
    with log_path.open("wb") as log:
        process = subprocess.Popen([*inside, *command], env=variables, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 120
        while not answers(port, "/healthz"):
            assert process.poll() is None and time.monotonic() < until, log_path.read_text()[-3000:]
            time.sleep(0.2)
        # Here are no workers, so it is not ready; but pages come.
        https = {"X-Forwarded-Proto": "https"}
        assert answers(port, "/admin/login/", **https)
        (style, *_) = (checkout / "var/static").glob("unfold/css/*.css")
        assert answers(port, f"/static/{style.relative_to(checkout / 'var/static')}", **https)
    finally:
        process.kill()
        process.wait()
    touched = subprocess.run(
        [*inside, "/bin/sh", "-c", f"touch /srv/golem/one; touch {place}/two; id -u"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Read-only file system" in touched.stderr and touched.stdout.strip() == str(_UID)
    assert (var / "two").exists() and not (checkout / "one").exists()


def answers(port: int, path: str, **headers: str) -> bool:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": "golem.example", **headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status == 200 and answer.read())
    except OSError:
        return False
