"""What lies in `deploy/` starts what `make run` starts, names variables that are read, and all of it is on its page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from golem_project.backups.make_backup import make_backup
from golem_project.embedded.product_process_plans import plan_beat, plan_web, plan_workers
from golem_project.embedded.world.node import node_argv
from golem_project.embedded.world.saved_world import state_file
from tests.architecture.sources import ROOT
from tests.golem_project.embedded.test_env_example import variables_listed
from tests.how_to import list_blocks, run_in_shell
from tools_app.core import clock

SYSTEMD = ROOT / "deploy/systemd"
PAGE = "deploy.md"


def read_command(unit: str) -> list[str]:
    (line,) = re.findall(r"^ExecStart=(.*)$", (SYSTEMD / unit).read_text(), re.MULTILINE)
    return shlex.split(line)[1:]


def read_settings(kind: str) -> dict[str, str]:
    lines = (SYSTEMD / "workers" / f"worker-{kind}").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_each_kind_of_worker_is_started_as_by_make_run() -> None:
    kinds = {plan.name: plan for plan in plan_workers()}
    assert {path.name.removeprefix("worker-") for path in (SYSTEMD / "workers").iterdir()} == set(kinds)
    for kind, plan in kinds.items():
        command = " ".join(read_command("golem-worker@.service"))
        for name, value in read_settings(kind).items():
            command = command.replace(f"${{{name}}}", value)
        command = command.replace("%i", kind).replace("%H", "%h")
        assert command.split() == list(plan.argv[1:])


def test_beat_and_web_are_started_as_by_make_run_but_for_the_time_that_a_stop_has() -> None:
    assert read_command("golem-beat.service") == list(plan_beat().argv[1:])
    given, planned = read_command("golem-web@.service"), list(plan_web(8000).argv[1:])
    at = planned.index("--timeout-graceful-shutdown") + 1
    assert given[at] == "30"
    given = [word.replace("%i", "8000") for word in given]
    assert [*given[:at], *given[at + 1 :]] == [*planned[:at], *planned[at + 1 :]]


@pytest.mark.parametrize("unit", ["golem-web@.service", "golem-worker@.service", "golem-beat.service"])
def test_a_stop_signals_the_parent_alone_and_lets_it_finish(unit: str) -> None:
    text = (SYSTEMD / unit).read_text()
    assert "KillMode=mixed" in text and "Restart=always" in text and "User=golem" in text
    assert "ReadWritePaths=/srv/golem/var" in text and "ProtectSystem=strict" in text


def test_the_environment_names_only_variables_that_are_read() -> None:
    named = re.findall(r"^([A-Z][A-Z0-9_]+)=", (SYSTEMD / "environment.example").read_text(), re.MULTILINE)
    listed = set(variables_listed())
    known = {re.sub(r"_\d+$", "_1", name.removesuffix("_FILE")) for name in named}
    assert known - listed == set()


def test_the_page_names_every_service_and_every_command_there_is() -> None:
    text = "\n".join(list_blocks_of_page())
    assert set(re.findall(r"golem-worker@(\w+)", text)) == {plan.name for plan in plan_workers()}
    commands = set(re.findall(r"manage\.py (\w+)", text))
    assert {"migrate", "sync_builtins", "doctor", "backup", "restore"} <= commands
    from django.core.management import get_commands

    assert commands <= set(get_commands())


def test_the_secrets_of_the_page_are_made_for_their_owner_and_a_shell_reads_the_environment(tmp_path: Path) -> None:
    blocks = [block.replace("/etc/golem", str(tmp_path)) for block in list_blocks_of_page()]
    (secrets,) = [block for block in blocks if "openssl" in block]
    run_in_shell(secrets.replace("/srv/golem", str(ROOT)), folder=tmp_path, environment={})
    example = (SYSTEMD / "environment.example").read_text()
    assert (tmp_path / "environment").read_text() == example
    (tmp_path / "environment").write_text(example.replace("/etc/golem", str(tmp_path)))
    made = {name for name in ("secret_key", "keystore_passphrase", "metrics_token") if (tmp_path / name).stat().st_size}
    assert (tmp_path / "environment").stat().st_mode & 0o777 == 0o600
    assert all((tmp_path / name).stat().st_mode & 0o777 == 0o600 for name in made)
    # What no command makes is written by hand, and named beside them.
    named = set(re.findall(r"_FILE=/etc/golem/(\w+)", example))
    text = (ROOT / "docs/how-to" / PAGE).read_text()
    assert len(made) == 3 and all(f"`{name}`" in text for name in named - made)
    (install,) = [block for block in blocks if "createsuperuser" in block]
    line, *commands = install.splitlines()
    told = run_in_shell(f"{line}\nenv", folder=tmp_path, environment={}).stdout.splitlines()
    assert {
        each for each in example.replace("/etc/golem", str(tmp_path)).splitlines() if each and each[0] != "#"
    } <= set(told)
    assert commands and all(each.startswith(".venv/bin/python manage.py ") for each in commands)


def test_the_user_and_the_folders_of_the_page_are_those_of_the_units(tmp_path: Path) -> None:
    (block,) = [block for block in list_blocks_of_page() if block.startswith("useradd ")]
    added, *made = block.splitlines()
    user = shlex.split(added)[-1]
    for unit in SYSTEMD.glob("*.service"):
        text = unit.read_text()
        assert f"User={user}\n" in text and "WorkingDirectory=/srv/golem\n" in text
        assert "EnvironmentFile=/etc/golem/environment\n" in text
    assert [shlex.split(line)[-1] for line in made] == ["/srv/golem", "/etc/golem"]
    # Whoever runs the tests stands in for the user of the page.
    here = "\n".join(made).replace(f"--owner {user}", f"--owner {os.getuid()}").replace(" /", f" {tmp_path}/")
    run_in_shell(here, folder=tmp_path, environment={})
    assert (tmp_path / "srv/golem").is_dir() and (tmp_path / "etc/golem").stat().st_mode & 0o777 == 0o700


def test_a_rehearsal_takes_the_place_of_each_line_that_names_the_chain_of_the_example() -> None:
    example = [line for line in (SYSTEMD / "environment.example").read_text().splitlines() if "8453" in line]
    text = (ROOT / "docs/how-to" / PAGE).read_text()
    assert len(example) == 2 and "the two lines with 8453" in text
    assert "`GOLEM_RPC_URL_31337=http://127.0.0.1:8545`" in text and "`GOLEM_DEFAULT_CHAIN_ID=31337`" in text


def test_the_database_of_the_page_belongs_to_its_role_and_has_its_extension() -> None:
    (block,) = [block for block in list_blocks_of_page() if "createdb" in block]
    role, database, extension = map(shlex.split, block.splitlines())
    text = (ROOT / "docs/how-to" / PAGE).read_text()
    (owner, name) = re.findall(r"`postgresql://(\w+):PASSWORD@host:5432/(\w+)`", text)[0]
    assert (role[-1], database) == (owner, ["createdb", "--owner", owner, name])
    assert extension == ["psql", "--dbname", name, "--command", "CREATE EXTENSION vector"]


def test_a_second_worker_of_the_page_is_another_instance_of_the_same_kind_and_is_restarted_after_the_first() -> None:
    (made,) = [block for block in list_blocks_of_page() if "-2; systemctl enable" in block]
    kinds = re.findall(r"^for kind in ([\w ]+);", made, re.MULTILINE)
    assert kinds == ["simulation commit"] and "cp /etc/golem/worker-$kind /etc/golem/worker-$kind-2" in made
    assert "EnvironmentFile=/etc/golem/worker-%i" in (SYSTEMD / "golem-worker@.service").read_text()
    (upgrade,) = [block for block in list_blocks_of_page() if "systemctl restart" in block]
    first, second = re.findall(r"^for kind in ([\w ]+);", upgrade, re.MULTILINE)
    assert set(first.split()) == {plan.name for plan in plan_workers()} and second == "simulation commit"
    assert upgrade.index("sleep") < upgrade.index("-2; done")


def test_what_the_page_takes_out_of_keys_tar_is_there_under_its_name(db: None, tmp_path: Path, settings: Any) -> None:
    for name in ("secret_key", "keystore_passphrase"):
        (tmp_path / name).write_text(name)
    settings.GOLEM_KEYSTORE_PASSPHRASE_FILE = str(tmp_path / "keystore_passphrase")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOLEM_SECRET_KEY_FILE", str(tmp_path / "secret_key"))
        make_backup(folder=tmp_path / "backup", keys=tmp_path / "keys", now=clock.now())
    (block,) = [block for block in list_blocks_of_page() if block.startswith("tar ")]
    (etc := tmp_path / "etc").mkdir()
    command = block.replace("/elsewhere/keys/2026-11-30", str(tmp_path / "keys")).replace("/etc/golem", str(etc))
    run_in_shell(command, folder=tmp_path, environment={})
    assert {path.name: path.read_text() for path in etc.iterdir()} == {
        "secret_key": "secret_key",
        "keystore_passphrase": "keystore_passphrase",
    }


def test_the_chain_of_the_page_is_that_of_make_run() -> None:
    (block,) = [block for block in list_blocks_of_page() if "--load-state" in block]
    anvil, *words = shlex.split(block)
    state = str(state_file(Path("var/cache/world")))
    assert words == node_argv(Path(anvil), 8545, "--load-state", state)[1:]


def test_each_web_server_of_the_page_is_asked_by_nginx_again_at_once() -> None:
    upstream = (ROOT / "deploy/nginx/golem.conf").read_text().split("server {")[0]
    ports = set(re.findall(r"golem-web@(\d+)", "\n".join(list_blocks_of_page())))
    assert set(re.findall(r"^    server 127\.0\.0\.1:(\d+) max_fails=0;$", upstream, re.MULTILINE)) == ports
    assert len(ports) == 2


def list_blocks_of_page() -> list[str]:
    text = (ROOT / "docs/how-to" / PAGE).read_text()
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert list_blocks(PAGE) == [] and len(blocks) == 12
    return blocks


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("not run: systemd is not installed")
    done = subprocess.run(
        [program, "verify", "--man=no", *map(str, SYSTEMD.glob("*.service"))],
        capture_output=True,
        text=True,
        check=False,
    )
    # The programs lie where the page puts them, and not on this machine.
    left = [line for line in done.stderr.splitlines() if "not executable" not in line and "not found" not in line]
    assert left == []
