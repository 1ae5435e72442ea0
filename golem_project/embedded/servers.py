"""The servers as one: what the environment does not already give is started, in order, and stopped in reverse.

The second local chain is a twin of the first, and is started when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.environment import (
    LOCAL_RPC_VARIABLE,
    SECOND_CHAIN_ID,
    SECOND_RPC_VARIABLE,
    base_environment,
    is_given,
)
from golem_project.embedded.own_server import OwnServer
from golem_project.embedded.paths import Paths
from golem_project.embedded.postgres import EmbeddedPostgres, hold_database
from golem_project.embedded.valkey import EmbeddedValkey

SERVER_NAMES = ("postgres", "valkey", "chain")
SECOND_CHAIN = "chain 2"


class EmbeddedServers:
    """Those of PostgreSQL, Valkey and the chain that are wanted and not given by `environment`."""

    def __init__(
        self,
        paths: Paths,
        *,
        throwaway: bool,
        environment: Mapping[str, str],
        wanted: tuple[str, ...] = SERVER_NAMES,
        log_of: Callable[[str], int | None] = lambda _name: None,
    ) -> None:
        self.paths = paths
        self._given = environment
        self._use: IO[bytes] | None = None
        missing = [name for name in wanted if not is_given(environment, name)]
        self.postgres = (
            EmbeddedPostgres(paths, throwaway=throwaway, log=log_of("postgres")) if "postgres" in missing else None
        )
        self.valkey = EmbeddedValkey(paths, throwaway=throwaway, log=log_of("valkey")) if "valkey" in missing else None
        self.chain = EmbeddedChain(paths.var_dir / "chain", throwaway=throwaway) if "chain" in missing else None
        # It is a twin of ours: where the first chain is another's, so is the second.
        self.second_chain = (
            EmbeddedChain(paths.var_dir / "second_chain", throwaway=throwaway, chain_id=SECOND_CHAIN_ID)
            if self.chain is not None and not environment.get(SECOND_RPC_VARIABLE)
            else None
        )

    def start(self) -> None:
        """Start them. Raises EmbeddedError; what was started before is then stopped again."""
        try:
            self.start_postgres()
            self.start_valkey()
            self.start_chain()
        except BaseException:
            self.stop()
            raise

    def start_postgres(self) -> None:
        """The database, held until `stop`."""
        if self.postgres is not None:
            if self._use is None:
                self._use = hold_database(self.paths)
            self.postgres.start()

    def start_valkey(self) -> None:
        """The broker."""
        if self.valkey is not None:
            self.valkey.start()

    def start_chain(self) -> None:
        """The local chain."""
        if self.chain is not None:
            self.chain.start()

    def start_second_chain(self) -> None:
        """The second local chain."""
        if self.second_chain is not None:
            self.second_chain.start()

    @property
    def started_here(self) -> frozenset[str]:
        """The names of those that the environment did not give."""
        servers = {
            "postgres": self.postgres,
            "valkey": self.valkey,
            "chain": self.chain,
            SECOND_CHAIN: self.second_chain,
        }
        return frozenset(name for name, server in servers.items() if server is not None)

    def is_alive(self, name: str) -> bool:
        """Whether the server still runs; cheap enough to ask twenty times a second."""
        server = self._server(name)
        return server is not None and server.is_alive()

    def was_killed(self, name: str) -> bool:
        """Whether a signal ended the server; False while it runs, and for one that another process started."""
        server = self._server(name)
        return server is not None and server.child is not None and server.child.was_killed()

    def _server(self, name: str) -> OwnServer | None:
        servers: dict[str, OwnServer | None] = {
            "postgres": self.postgres,
            "valkey": self.valkey,
            "chain": self.chain,
            SECOND_CHAIN: self.second_chain,
        }
        return servers[name]

    def stop(self) -> None:
        """Stop what was started here, last first."""
        for server in (self.second_chain, self.chain, self.valkey, self.postgres):
            if server is not None:
                server.stop()
        if self._use is not None:
            self._use.close()
            self._use = None

    def exported(self) -> dict[str, str]:
        """The variables that lead to the servers. Holds passwords: for environments and 0600 files only."""
        variables = base_environment(self.paths, self._given)
        if self.postgres is not None:
            variables["DATABASE_URL"] = self.postgres.url
        if self.valkey is not None:
            variables["REDIS_URL"] = self.valkey.url
        if self.chain is not None:
            variables[LOCAL_RPC_VARIABLE] = self.chain.rpc_url
        if self.second_chain is not None and self.second_chain.port:
            variables[SECOND_RPC_VARIABLE] = self.second_chain.rpc_url
        return variables
