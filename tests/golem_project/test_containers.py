"""Compose and the Helm chart start what `make run` starts, as nobody, on file systems that cannot be written."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from golem_project.embedded.bootstrap import HELM
from golem_project.embedded.product_process_plans import plan_beat, plan_web, plan_workers
from tests.architecture.sources import ROOT
from tests.golem_project.embedded.test_env_example import variables_listed

COMPOSE = ROOT / "deploy/compose/compose.yaml"
CHART = ROOT / "deploy/helm/golem"
GIVEN = ("host=golem.example", "secret=golem", "keys.claim=golem-keys")


def planned() -> dict[str, list[str]]:
    """The command of each process as an image starts it: reached from outside, with longer to stop."""
    found = {f"worker-{plan.name}": list(plan.argv[1:]) for plan in plan_workers()}
    found["beat"] = list(plan_beat().argv[1:])
    found["web"] = web = list(plan_web(8000).argv[1:])
    web[web.index("--host") + 1] = "0.0.0.0"
    web[web.index("--timeout-graceful-shutdown") + 1] = "30"
    return found


def read_compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return found


def test_compose_starts_each_process_and_its_servers_and_sets_up_once() -> None:
    services = read_compose()["services"]
    assert set(services) == {*planned(), "postgres", "valkey", "set-up"}
    assert {name: services[name]["command"] for name in planned()} == planned()
    assert "manage.py migrate" in services["set-up"]["command"][0] and services["set-up"]["restart"] == "no"


def test_compose_lets_no_process_write_but_into_its_volume_and_tells_no_secret() -> None:
    found = read_compose()
    listed = set(variables_listed())
    for name in (*planned(), "set-up"):
        service = found["services"][name]
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"] and service["volumes"] == ["golem:/var/lib/golem"]
        files = {key: value for key, value in service["environment"].items() if key.endswith("_FILE")}
        assert {f"/run/secrets/{secret}" for secret in service["secrets"]} == set(files.values())
        named = {key.removesuffix("_FILE").replace("_8453", "_1") for key in service["environment"]}
        assert named <= listed
    asked = {secret for service in found["services"].values() for secret in service.get("secrets", ())}
    assert asked == set(found["secrets"])


def test_compose_gives_each_process_the_time_that_its_stop_takes() -> None:
    services = read_compose()["services"]
    assert services["web"]["stop_grace_period"] == "45s"
    assert {services[name]["stop_grace_period"] for name in planned() if name.startswith("worker")} == {"150s"}


def run_helm(*words: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("helm") or (str(HELM) if HELM.exists() else None)
    if program is None:
        pytest.skip("not run: helm is not installed (set-up for the tests fetches it)")
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)


def render(*sets: str) -> list[dict[str, Any]]:
    done = run_helm("template", "golem", str(CHART), *(word for each in (*GIVEN, *sets) for word in ("--set", each)))
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def list_pods(rows: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in rows:
        if row["kind"] in {"Deployment", "Job"}:
            yield row["metadata"]["name"].removeprefix("golem-"), row["spec"]["template"]["spec"]


def test_the_chart_is_without_fault() -> None:
    done = run_helm("lint", "--strict", str(CHART), *(word for each in GIVEN for word in ("--set", each)))
    assert done.returncode == 0 and "0 chart(s) failed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("missing", GIVEN)
def test_the_chart_is_not_rendered_without_what_only_its_operator_knows(missing: str) -> None:
    given = [word for each in GIVEN if each != missing for word in ("--set", each)]
    done = run_helm("template", "golem", str(CHART), *given)
    assert done.returncode != 0 and f"/{missing.partition('=')[0].replace('.', '/')}" in done.stderr


def test_the_chart_starts_each_process_and_sets_up_before() -> None:
    pods = dict(list_pods(render()))
    assert {name: pod["containers"][0]["args"] for name, pod in pods.items() if name in planned()} == planned()
    (rest,) = set(pods) - set(planned())
    assert rest.startswith("set-up-") and "manage.py migrate" in pods[rest]["containers"][0]["args"][0]


def test_each_pod_is_nobodys_writes_into_its_volume_alone_and_reads_secrets_from_files() -> None:
    listed = set(variables_listed())
    for name, pod in list_pods(render("workers.chat.replicas=3")):
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True and pod["automountServiceAccountToken"] is False, name
        assert container["securityContext"] == {
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        writable = {each["mountPath"] for each in container["volumeMounts"] if not each.get("readOnly")}
        assert writable == {"/var/lib/golem", "/tmp"}
        named = {each["name"].removesuffix("_FILE").replace("_8453", "_1") for each in container["env"]}
        assert named <= listed and "limits" in container["resources"]


def test_the_web_servers_are_asked_how_they_are_and_go_one_after_another() -> None:
    rows = {(row["kind"], row["metadata"]["name"]): row for row in render()}
    spec = rows["Deployment", "golem-web"]["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1} and spec["replicas"] == 2
    (container,) = spec["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    stopping = int(container["args"][container["args"].index("--timeout-graceful-shutdown") + 1])
    waited = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] > stopping + waited
    assert rows["Ingress", "golem"]["spec"]["rules"][0]["host"] == "golem.example"


def test_the_versions_are_those_of_the_product() -> None:
    (version, *_) = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == chart["version"] == version
    assert f"golem:{version}" in Path(COMPOSE).read_text()
    assert f"golem:{version}" in (ROOT / "deploy/Dockerfile").read_text()
