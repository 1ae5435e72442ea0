"""A pytest plugin that lends every process of the run throw-away servers, before Django's settings are read.

Loaded by `-p tests.services`. A run on several workers (`-n 2`) has a set of servers for each; the process that hands
the tests out has none. What the environment already names (DATABASE_URL, REDIS_URL, GOLEM_RPC_URL_31337) is
used as it is. PostgreSQL and Valkey start with the run, the chain when `provide_chain` is first called. All of it ends
with the run, also when that is killed.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE, base_environment, is_given
from golem_project.embedded.paths import Paths
from golem_project.embedded.postgres import EmbeddedPostgres
from golem_project.embedded.throwaway import make_throwaway_paths
from golem_project.embedded.valkey import EmbeddedValkey

if TYPE_CHECKING:
    from golem_project.embedded.chain import EmbeddedChain

# What pytest-xdist gives each of its workers.
WORKER_VARIABLE = "PYTEST_XDIST_WORKER"


class TestServers:
    """The servers of one test run and where their data lies."""

    __test__ = False

    def __init__(self) -> None:
        self.paths: Paths | None = None
        self._running: list[EmbeddedPostgres | EmbeddedValkey | EmbeddedChain] = []

    def provide_folders(self) -> Paths:
        """The throw-away folders; wallets made by tests never reach the checkout's own."""
        if self.paths is None:
            self.paths = make_throwaway_paths()
            # A run that fails before its first test never reaches pytest_unconfigure.
            atexit.register(self.stop)
            os.environ.update(base_environment(self.paths, os.environ))
        return self.paths

    @property
    def owns_postgres(self) -> bool:
        """Whether the database is one of this run's own."""
        return any(isinstance(server, EmbeddedPostgres) for server in self._running)

    def start(self) -> None:
        """Start what every run needs."""
        paths = self.provide_folders()
        if not is_given(os.environ, "postgres"):
            postgres = EmbeddedPostgres(paths, throwaway=True)
            postgres.start()
            self._running.append(postgres)
            os.environ["DATABASE_URL"] = postgres.url
        if not is_given(os.environ, "valkey"):
            valkey = EmbeddedValkey(paths, throwaway=True)
            valkey.start()
            self._running.append(valkey)
            os.environ["REDIS_URL"] = valkey.url

    def start_chain(self) -> str:
        """Start the local chain with its world, once."""
        # Imported here, so that runs without a chain do not pay for it.
        from golem_project.embedded.chain import EmbeddedChain

        chain = EmbeddedChain(self.provide_folders().var_dir / "chain", throwaway=True)
        chain.start()
        self._running.append(chain)
        os.environ[LOCAL_RPC_VARIABLE] = chain.rpc_url
        return chain.rpc_url

    def start_second_chain(self) -> str:
        """Start its twin, once; only tests of several chains ask for it."""
        from golem_project.embedded.chain import EmbeddedChain
        from golem_project.embedded.world.node import SECOND_CHAIN_ID

        folder = self.provide_folders().var_dir / "second_chain"
        chain = EmbeddedChain(folder, throwaway=True, chain_id=SECOND_CHAIN_ID)
        chain.start()
        self._running.append(chain)
        return chain.rpc_url

    def stop(self) -> None:
        """Stop everything, last first, and remove the data."""
        for server in reversed(self._running):
            server.stop()
        self._running.clear()
        if self.paths is not None:
            shutil.rmtree(self.paths.var_dir, ignore_errors=True)
            self.paths = None


SERVERS = TestServers()


def provide_chain() -> str:
    """The URL of the local chain of this run, started on the first call."""
    return os.environ.get(LOCAL_RPC_VARIABLE) or SERVERS.start_chain()


# A wrapper runs before every plain implementation, so before pytest-django reads the settings.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Iterator[None]:
    """Start the servers, unless only help or a version was asked for, or this process runs no test itself."""
    hands_out = early_config.known_args_namespace.numprocesses and WORKER_VARIABLE not in os.environ
    if not hands_out and not {"--help", "-h", "--version", "-V"} & set(args):
        SERVERS.start()
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Stop the servers when the run is over."""
    SERVERS.stop()
