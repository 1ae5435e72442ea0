"""Mutants drawn by chance over the whole product outside the safety code, and which of them the suite notices.

Every mutant has a place in a row that its name and the written seed decide, so that a draw of some is the beginning of
a draw of more, and no change elsewhere in the product moves it. Each is tried with the tests near its module
(`drawn_session.py`); what a fork cannot tell (a mutant in the body of a class, in what runs while a module loads) runs
in a process of its own. What is known is kept in var/drawn.json after every mutant, and a later run asks again only
about those nothing noticed. A mutant that changes nothing (`equivalent_mutants.py`) is named with its reason, and
counts neither as noticed nor as tried; one whose tests took longer than a mutant may is told as such, and tried again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE
from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn_session import PLAN_VARIABLE
from tests.proof.equivalent_mutants import EQUIVALENT
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.registry import Progress, proof
from tests.proof.safety import PLUGIN, list_modules

SEED: Final = 20_261_126
DRAWN: Final = 200
LEAST_NOTICED: Final = 180
APPS: Final = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
# Proven whole by `safety.mutants`, or beside it.
_SAFETY: Final = "permits_app.safety."
# Browsers and what the proofs prove themselves take longer than a mutant may.
_NOT_ASKED: Final = ("tests/browser/", "tests/golem_project/proof/", "tests/contracts/")
_SECONDS: Final = 150
_OUT_OF_TIME: Final = "out of time"
_ALONE_SECONDS: Final = 420
_MOST_FILES: Final = 60
SERVERS: Final = ("DATABASE_URL", "REDIS_URL", LOCAL_RPC_VARIABLE)
# The settings are named, because the environment goes before pyproject.toml.
_PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "--ds=golem_project.settings.test", "-q"),
    *("-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not browser"),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A mutant with its module."""

    module: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.module}:{self.mutant.line}: {self.mutant.name}"

    @property
    def key(self) -> str:
        """What names it in files: its line may move."""
        return f"{self.module}: {self.mutant.name}"

    @property
    def reason(self) -> str | None:
        """Why it changes nothing anyone could see, if so."""
        return EQUIVALENT.get(self.module, {}).get(self.mutant.name)


def list_row() -> list[Drawn]:
    """Every mutant outside the safety code, in the order of the draw."""
    found = []
    proven = set(list_modules())
    for app in APPS:
        for path in (CHECKOUT / app).rglob("*.py"):
            module = ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
            if module in proven or module.startswith(_SAFETY) or ".migrations." in module:
                continue
            found += [Drawn(module, mutant) for mutant in list_mutants(path.read_text(encoding="utf-8"))]
    return sorted(found, key=lambda each: hashlib.sha256(f"{SEED} {each.key}".encode()).digest())


def draw(count: int) -> list[Drawn]:
    """The first `count` that change something, and with them those before that change nothing."""
    drawn, counted = [], 0
    for each in list_row():
        if counted == count:
            break
        drawn.append(each)
        counted += each.reason is None
    return drawn


@cache
def _read_tests() -> Mapping[str, str]:
    return {
        name: path.read_text(encoding="utf-8")
        for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))
        if not (name := str(path.relative_to(CHECKOUT))).startswith(_NOT_ASKED)
    }


@cache
def _list_users() -> Mapping[str, set[str]]:
    """Module -> what imports it: modules of the product by name, test files by path."""
    users: dict[str, set[str]] = defaultdict(set)
    sources = dict(_read_tests())
    for app in APPS:
        for path in (CHECKOUT / app).rglob("*.py"):
            sources[".".join(path.relative_to(CHECKOUT).with_suffix("").parts)] = path.read_text(encoding="utf-8")
    for name, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                users[node.module].add(name)
                for each in node.names:
                    users[f"{node.module}.{each.name}"].add(name)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    users[each.name].add(name)
    return users


def list_near(drawn: Drawn) -> list[str]:
    """Test files, the nearest first: named after the module, or by how many imports lie between, then by folder."""
    module = drawn.module.removesuffix(".__init__")
    package, _, leaf = module.rpartition(".")
    place = drawn.mutant.place.rpartition(".")[2]
    folder = "tests/" + package.replace(".", "/")
    far: dict[str, int] = {}
    edge = {module}
    for distance in range(4):
        edge = {user for each in edge for user in _list_users().get(each, ())} - far.keys()
        far |= dict.fromkeys(edge, distance)

    def rank(name: str) -> tuple[int, str]:
        stem, source = Path(name).stem, _read_tests()[name]
        if stem == f"test_{leaf}":
            return (0, name)
        is_beside = name.startswith(f"{folder}/")
        if (len(place) > 4 and place in source) or far.get(name) == 0:
            return (1, name)
        if is_beside or leaf in stem:
            return (2, name)
        is_in_wider = name.startswith(f"{folder.rpartition('/')[0]}/")
        return (3 + far.get(name, 4) + (not is_in_wider), name)

    return sorted(_read_tests(), key=rank)[:_MOST_FILES]


def try_drawn(wanted: Sequence[Drawn]) -> Iterator[dict[str, Any]]:
    """The verdict on each of `wanted`, in that order. Raises RuntimeError when the run of the tests breaks off."""
    woven = [each for each in wanted if each.mutant.is_woven]
    verdicts = _try_woven(woven) if woven else iter(())
    for each in wanted:
        verdict = next(verdicts) if each.mutant.is_woven else {"verdict": "alone"}
        yield _try_alone(each) if verdict["verdict"] == "alone" else verdict


def _try_woven(wanted: Sequence[Drawn]) -> Iterator[dict[str, Any]]:
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(prefix="golem-drawn-") as folder, os.fdopen(reading, encoding="utf-8") as lines:
        near = [list_near(each) for each in wanted]
        plan = {
            "modules": {each.module: str(_source_of(each)) for each in wanted},
            "wanted": [
                {"module": each.module, "number": each.mutant.number, "files": files}
                for each, files in zip(wanted, near, strict=True)
            ],
            "seconds": _SECONDS,
            "descriptor": writing,
        }
        (Path(folder) / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        log = Path(folder) / "log"
        with log.open("wb") as output:
            running = subprocess.Popen(
                [
                    *_PYTEST,
                    "--timeout=0",
                    "-p",
                    "tests.proof.drawn_session",
                    *sorted({f for each in near for f in each}),
                ],
                cwd=CHECKOUT,
                pass_fds=(writing,),
                env={**os.environ, PLAN_VARIABLE: f"{folder}/plan.json", "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        os.close(writing)
        told = 0
        try:
            for line in lines:
                told += 1
                yield json.loads(line)
        finally:
            if told < len(wanted):
                running.terminate()
            running.wait()
        if told < len(wanted):
            raise RuntimeError(f"the run of the tests ended early:\n{log.read_text(errors='replace')[-4000:]}")


def _source_of(drawn: Drawn) -> Path:
    return CHECKOUT / (drawn.module.replace(".", "/") + ".py")


def _try_alone(drawn: Drawn) -> dict[str, Any]:
    """In processes of its own, a few files at a time; what fails there is asked again without the mutant."""
    files = list_near(drawn)
    for begin, end in ((0, 3), (3, 10), (10, 24)):
        failed = _run_alone(drawn, drawn.mutant.source, files[begin:end])
        if failed is None:
            continue
        if _run_alone(drawn, _source_of(drawn).read_text(encoding="utf-8"), [failed or files[begin]]) is None:
            return {"verdict": "noticed", "by": failed or "it does not load"}
    return {"verdict": "survived", "alone": True}


def _run_alone(drawn: Drawn, text: str, tests: Sequence[str]) -> str | None:
    """The first test that fails, nothing when it fails before any; None when all pass."""
    with tempfile.TemporaryDirectory(prefix="golem-mutant-") as folder:
        (Path(folder) / "mutant.py").write_text(text, encoding="utf-8")
        (Path(folder) / "golem_mutant_plugin.py").write_text(PLUGIN, encoding="utf-8")
        environment = {
            **{name: value for name, value in os.environ.items() if name not in SERVERS},
            "MUTANT_MODULE": drawn.module.removesuffix(".__init__"),
            "MUTANT_FILE": f"{folder}/mutant.py",
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            done = subprocess.run(
                [*_PYTEST, "-x", "-p", "golem_mutant_plugin", *tests],
                cwd=CHECKOUT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=_ALONE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    if done.returncode in (0, 5):
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else ""


@proof(
    id="drawn.mutants",
    what=f"of {DRAWN} mutants drawn by chance outside the safety code at least {LEAST_NOTICED} are noticed by a test",
    rounds=DRAWN,
)
def prove_drawn(progress: Progress) -> None:
    """A round is a mutant of the draw; what an earlier run saw noticed is not tried again."""
    kept = progress.path.with_name("drawn.json")
    known: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    drawn = draw(progress.rounds)
    wanted = [each for each in drawn if each.reason is None and known.get(each.key, {}).get("verdict") != "noticed"]
    # What was never tried comes first, and what needs a process of its own last.
    wanted.sort(key=lambda each: (each.key in known, not each.mutant.is_woven))
    for each, verdict in zip(wanted, try_drawn(wanted), strict=True):
        known[each.key] = verdict
        kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
        _report(progress, drawn, known)
    _report(progress, drawn, known)


def _report(progress: Progress, drawn: Sequence[Drawn], known: Mapping[str, Any]) -> None:
    counted = [each for each in drawn if each.reason is None]
    asked = [each for each in counted if each.key in known]
    tried = [each for each in asked if known[each.key]["verdict"] != _OUT_OF_TIME]
    left = [each for each in tried if known[each.key]["verdict"] != "noticed"]
    progress.done = len(tried)
    progress.notes[:] = [
        f"seed {SEED}: {len(tried)} tried, {len(tried) - len(left)} noticed by a test,"
        f" {len(drawn) - len(counted)} more change nothing, of {len(asked) - len(tried)} nothing is known yet",
        *(f"{known[each.key]['verdict']}: {each}" for each in left),
        *(f"changes nothing: {each}: {each.reason}" for each in drawn if each.reason is not None),
    ]
    most = len(counted) - LEAST_NOTICED * len(counted) // DRAWN
    progress.findings[:] = [f"{len(left)} of {len(tried)} survived, at most {most} may"] if len(left) > most else []
    progress.save()
