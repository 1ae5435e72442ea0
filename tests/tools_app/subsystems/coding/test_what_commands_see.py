"""Where a server's own files lie in a folder that commands are shown whole, no command runs and no process starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse

from golem_project import wiring
from golem_project.runtime.start_conditions import check_before_serving
from tests.architecture.sources import ROOT
from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_hostile_table import may_make_user_namespaces, run_as_nobody
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.subsystems.coding.exposed_server_paths import find_shown

BELOW = Path("/usr/share/doc")


def keep(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    """The server's own files lie there."""
    monkeypatch.setattr(settings, "GOLEM_KEPT_FROM_COMMANDS", paths)
    wiring.configure()


@pytest.mark.parametrize("how", ["itself", "a link to it", "a file in it"])
def test_no_command_runs_where_it_would_see_the_server_s_files(
    coder: CodingAgent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str
) -> None:
    put(coder, "a.txt", "a")
    permit = coder.preview("bash", command="echo out")
    (tmp_path / "app").symlink_to(BELOW)
    keep(
        monkeypatch,
        ROOT,
        {"itself": BELOW, "a link to it": tmp_path / "app", "a file in it": Path("/usr/bin/env")}[how],
    )
    with pytest.raises(Refused, match="COMMANDS_NOT_FENCED") as refused:
        coder.preview("bash", command="echo out")
    assert refused.value.problem["recovery"] == "ASK_OWNER"
    assert "lies below /usr" in refused.value.problem["detail"] and "/srv or /opt" in refused.value.problem["detail"]
    assert coder.commit(permit)["problem"]["code"] == "COMMANDS_NOT_FENCED"
    assert coder.text("read", path="a.txt") == "a"
    with pytest.raises(
        ImproperlyConfigured, match="BOOT_COMMANDS_SEE_SECRETS.*lies below /usr.*GOLEM_CODING_COMMANDS=0"
    ):
        check_before_serving()
    browser = Client()
    browser.force_login(coder.owner)
    url = reverse("admin:archetypes_app_codingworkspace_change", args=[coder.choose().pk])
    assert "lies below /usr" in browser.get(url).content.decode()


def test_a_key_of_a_server_that_is_not_root_is_read_by_no_command_where_it_lies_below_usr() -> None:
    """Its user is the command's as well, so that no mode of the file keeps it."""
    key = Path("/usr/bin/env")
    read = {"read": f"head -c 4 {key}"}
    assert "ELF" not in run_as_nobody(read, kept=[key])["read"]
    if may_make_user_namespaces():
        # It is refused because it is the server's: another file is shown.
        assert "ELF" in run_as_nobody(read)["read"]


def test_a_server_on_which_no_command_runs_starts_wherever_it_lies(
    coder: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "GOLEM_CODING_COMMANDS", False)
    keep(monkeypatch, BELOW)
    check_before_serving()
    with pytest.raises(Refused, match="switched commands off"):
        coder.preview("bash", command="echo out")
    coder.do("write", path="a.txt", content="a")


def test_code_data_and_whatever_file_a_variable_names_are_kept_from_commands() -> None:
    script = (
        "import json; from golem_project.settings.coding import GOLEM_KEPT_FROM_COMMANDS as kept;"
        " print(json.dumps([*map(str, kept)]))"
    )
    named = {"GOLEM_VAR_DIR": "/usr/var", "GOLEM_AUDIT_KEY_FILE": "/usr/key", "PGPASSFILE": "/usr/pass", "PATH": "/bin"}
    told = subprocess.run([sys.executable, "-c", script], env=named, cwd=ROOT, capture_output=True, check=True).stdout
    assert {str(ROOT), "/usr/var", "/usr/key", "/usr/pass"} <= set(json.loads(told))


def test_a_folder_mounted_below_a_shown_one_is_seen_by_its_other_name(tmp_path: Path) -> None:
    (tmp_path / "app" / "var").mkdir(parents=True)
    script = (
        "import sys; from pathlib import Path; from tools_app.subsystems.coding.exposed_server_paths import find_shown;"
        " print(*(find_shown([Path(each)]) or 'not' for each in sys.argv[1:]), sep='|')"
    )
    asked = [str(tmp_path / each) for each in ("app", "app/var", ".")]

    def look(*mounts: str) -> list[str]:
        user = [] if may_make_user_namespaces() else ["--unshare-user"]
        fence = ["bwrap", *user, "--dev-bind", "/", "/", *mounts, sys.executable, "-c", script, *asked]
        return subprocess.run(fence, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip().split("|")

    assert look() == ["not", "not", "not"]
    whole = look("--bind", str(tmp_path / "app"), str(BELOW))
    assert ["lies below /usr" in each for each in whole] == [True, True, True]
    part = look("--bind", str(tmp_path / "app" / "var"), str(BELOW))
    assert ["lies below /usr" in each for each in part] == [True, True, True]


def test_this_checkout_is_seen_by_no_command() -> None:
    assert find_shown([ROOT, Path(settings.GOLEM_KEYSTORE_DIR)]) == ""


def test_a_command_with_the_network_sees_certificates_and_no_keys_beside_them(
    coder: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "GOLEM_CODING_ALLOWS_NETWORK", True)
    wiring.configure()
    coder.choose(allows_network=True)
    told = coder.run("ls /etc /etc/ssl; echo out")["content"][0]["text"].split()
    assert "private" not in told and told[-1] == "out"
    assert set(told) <= {
        "/etc:",
        "alternatives",
        "ld.so.cache",
        "resolv.conf",
        "ssl",
        "/etc/ssl:",
        "certs",
        "openssl.cnf",
        "out",
    }
