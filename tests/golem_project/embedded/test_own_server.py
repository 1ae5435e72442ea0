"""What the servers on loopback share, on PostgreSQL and on Valkey: starters that race, and one that is killed."""

from __future__ import annotations

import pytest

from golem_project.embedded.paths import Paths
from golem_project.embedded.postgres import EmbeddedPostgres
from golem_project.embedded.valkey import EmbeddedValkey
from tests.golem_project.embedded.conftest import (
    Starter,
    identity_of,
    kill_hard,
    read_line,
    start_and_wait,
    wait_until_gone,
)

SERVERS = (EmbeddedPostgres, EmbeddedValkey)


@pytest.mark.parametrize("kind", SERVERS)
def test_two_starters_at_once_share_one_server(
    start_program: Starter, kind: type[EmbeddedPostgres] | type[EmbeddedValkey]
) -> None:
    program = start_and_wait(kind)
    lines = [read_line(starter) for starter in [start_program(program) for _ in range(2)]]
    assert sorted(line.split()[0] for line in lines) == ["False", "True"]
    assert len({line.split()[1] for line in lines}) == 1


@pytest.mark.parametrize("kind", SERVERS)
def test_after_kill_9_of_the_starter_no_server_is_left_and_the_next_start_recovers(
    paths: Paths, start_program: Starter, kind: type[EmbeddedPostgres] | type[EmbeddedValkey]
) -> None:
    starter = start_program(start_and_wait(kind))
    left = identity_of(int(read_line(starter).split()[2]))
    kill_hard(starter)
    wait_until_gone(left)
    server = kind(paths, throwaway=False)
    assert server.start()
    try:
        assert server.is_ready()
    finally:
        server.stop()
