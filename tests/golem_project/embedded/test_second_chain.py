"""The second local chain starts once a golem has it among its chains, and not before."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from archetypes_app.models import Golem
from golem_project.embedded.autostart import provide_services, supervisor_environment
from golem_project.embedded.environment import SECOND_CHAIN_ID, SECOND_FILE_VARIABLE, SECOND_RPC_VARIABLE
from golem_project.embedded.paths import Paths
from golem_project.embedded.process_output import Output
from golem_project.embedded.reset import reset
from golem_project.embedded.second_chain import ChainUse, find_file
from golem_project.embedded.servers import SECOND_CHAIN
from golem_project.embedded.stack import Stack
from golem_project.embedded.world.node import ask_chain_id
from tests.factories import make_golem, make_owner
from tests.golem_project.embedded.test_stack import plan_small, serve_until

TABLE = (
    "import os, psycopg\n"
    "with psycopg.connect(os.environ['DATABASE_URL']) as it:\n"
    " it.execute('CREATE TABLE archetypes_app_golem (home_chain_id bigint, other_chain_ids bigint[])')\n"
    " it.execute('INSERT INTO archetypes_app_golem VALUES (31337, ARRAY[]::bigint[])')\n"
)


@pytest.fixture
def stack(paths: Paths) -> Iterator[Stack]:
    """Servers of its own, the first chain among them, and small programs in the place of the product's."""
    made = Stack(
        paths,
        throwaway=True,
        output=Output(paths.log_dir, stream=StringIO()),
        environment={"PATH": os.environ["PATH"], "REDIS_URL": "redis://127.0.0.1:1/0"},
        preparation=(sys.executable, "-c", TABLE),
        plan_children=plan_small,
    )
    yield made
    made.stop()
    made.output.close()


def serve_while(stack: Stack, ask: object) -> None:
    """The supervisor serves while `ask` runs beside it."""
    done, errors = threading.Event(), []

    def run() -> None:
        try:
            ask()  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    beside = threading.Thread(target=run)
    beside.start()
    serve_until(stack, done)
    beside.join()
    assert not errors, errors


def wait_for(condition: object, seconds: float = 60) -> None:
    """Until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


def test_the_second_chain_starts_once_a_golem_has_it_and_is_kept_going(stack: Stack, paths: Paths) -> None:
    stack.start()
    file = find_file(paths)
    assert stack.environment[SECOND_FILE_VARIABLE] == str(file) and not file.exists()
    assert SECOND_RPC_VARIABLE not in stack.environment
    children = {name: child.pid for name, child in stack.children.items()}

    def use() -> None:
        wait_for(lambda: stack._chain_use._connection is not None)
        assert not file.exists(), "no golem has it yet"
        with psycopg.connect(stack.environment["DATABASE_URL"]) as rows:
            rows.execute("UPDATE archetypes_app_golem SET other_chain_ids = ARRAY[31338]")
        wait_for(file.exists)
        wait_for(lambda: SECOND_RPC_VARIABLE in supervisor_environment(paths))
        second = stack.servers.second_chain
        assert second is not None and second.child is not None
        os.kill(second.child.pid, signal.SIGKILL)
        wait_for(lambda: stack.kept[SECOND_CHAIN].crashes == 1)
        wait_for(lambda: ask_chain_id(second.port) == SECOND_CHAIN_ID)

    serve_while(stack, use)
    url = file.read_text().strip()
    assert stack.servers.second_chain is not None and url == stack.servers.second_chain.rpc_url
    assert {name: child.pid for name, child in stack.children.items()} == children, "nobody was started anew for it"
    commands: dict[str, str] = {"GOLEM_VAR_DIR": str(paths.var_dir), "DATABASE_URL": "x", "REDIS_URL": "x"}
    provide_services(commands)
    assert commands[SECOND_RPC_VARIABLE] == url
    port = stack.servers.second_chain.port
    stack.stop()
    assert not file.exists() and ask_chain_id(port) is None


def test_what_a_killed_run_wrote_of_the_second_chain_leads_nobody_astray(stack: Stack, paths: Paths) -> None:
    find_file(paths).write_text("http://127.0.0.1:9\n")
    stack.start()
    assert not find_file(paths).exists()


def test_a_database_that_does_not_answer_starts_no_chain() -> None:
    use = ChainUse()
    assert use.is_due()
    assert use.ask("postgresql://nobody@127.0.0.1:9/none") is False
    assert not use.is_due(), "it is asked again in a few seconds"


@pytest.mark.django_db(transaction=True)
def test_a_golem_uses_the_second_chain_by_its_home_or_beside_it() -> None:
    found = connection.get_connection_params()
    url = psycopg.conninfo.make_conninfo(
        **{name: found[name] for name in ("dbname", "user", "password", "host", "port") if found.get(name)}
    )
    golem, use = make_golem(owner=make_owner()), ChainUse()
    try:
        assert not use.ask(url)
        for columns in ({"other_chain_ids": [10, SECOND_CHAIN_ID]}, {"home_chain_id": SECOND_CHAIN_ID}):
            Golem.objects.filter(pk=golem.pk).update(**{"home_chain_id": 31337, "other_chain_ids": [], **columns})
            assert use.ask(url), columns
        Golem.objects.filter(pk=golem.pk).update(home_chain_id=10, other_chain_ids=[1])
        assert not use.ask(url)
    finally:
        use.close()


def test_keys_1_removes_a_wallet_of_both_local_chains(tmp_path: Path) -> None:
    keys = tmp_path / "var" / "keystore"
    keys.mkdir(parents=True)
    (keys / "0xa.json").write_text("{}")
    (keys / "0xa.chains").write_text("31337\n31338\n")
    assert reset(tmp_path / "var", tmp_path / "system", with_keys=True) == []
    assert not keys.exists()
