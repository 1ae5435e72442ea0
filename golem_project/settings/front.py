"""Sets what a connection may cost before its caller is known."""

from __future__ import annotations

import ipaddress

from django.core.exceptions import ImproperlyConfigured

from golem_project.settings.environment import read_integer, read_text

# Addresses of proxies in front, or networks of them, separated by commas. What comes from one is counted by the address
# that the proxy names (the last of X-Forwarded-For), and has no bound of connections of its own. Loopback is this
# machine.
GOLEM_TRUSTED_PROXIES = frozenset(
    each.strip() for each in read_text("GOLEM_TRUSTED_PROXIES", "127.0.0.1,::1").split(",") if each.strip()
)
for each in GOLEM_TRUSTED_PROXIES:
    try:
        ipaddress.ip_network(each)
    except ValueError as error:
        raise ImproperlyConfigured(f"GOLEM_TRUSTED_PROXIES: {error}") from None

GOLEM_MOST_CONNECTIONS_PER_ADDRESS = read_integer("GOLEM_MOST_CONNECTIONS_PER_ADDRESS", 64)
GOLEM_MOST_CONNECTIONS = read_integer("GOLEM_MOST_CONNECTIONS", 2_000)  # of one server process
GOLEM_MOST_HEAD_BYTES = 16_384  # request line and headers together
GOLEM_MOST_HEADERS = 100
GOLEM_HEAD_SECONDS = 10.0  # from the connection, or the first byte of a further request, to the end of its headers
GOLEM_BODY_SECONDS = 10.0  # from the end of the headers to the end of the body
GOLEM_WRITE_SECONDS = 10.0  # a caller that takes nothing of an answer for this long is hung up on
GOLEM_PAUSE_SECONDS = 1.0  # how long nothing is read from a connection that was told to wait (429)
GOLEM_LINGER_SECONDS = 2.0  # how long what is sent after a refusal is thrown away, so that the refusal is read

GOLEM_MOST_FORM_BYTES = 262_144  # of a page's form
GOLEM_MOST_BODIES_BYTES = 33_554_432  # of all bodies that one server process holds at a time

# Requests without a token or a session that this process knew as good a short while ago. Each place may hold one
# connection to the database: all of them together hold less than its pool has.
GOLEM_STRANGERS_AT_ONCE = read_integer("GOLEM_STRANGERS_AT_ONCE", 3)
GOLEM_UNPROVEN_AT_ONCE = read_integer("GOLEM_UNPROVEN_AT_ONCE", 3)
# A password takes a processor a third of a second.
GOLEM_LOGINS_AT_ONCE = read_integer("GOLEM_LOGINS_AT_ONCE", 1)
GOLEM_LOGINS_A_MINUTE_PER_ADDRESS = read_integer("GOLEM_LOGINS_A_MINUTE_PER_ADDRESS", 30)
GOLEM_WAIT_FOR_TURN_SECONDS = 5.0
GOLEM_KNOWN_SECONDS = 600.0  # how long a token or a session that was good goes before those that are not known yet

# Requests of one owner's agents and people that are worked on or wait, in one server process.
GOLEM_REQUESTS_OF_ONE_AT_ONCE = read_integer("GOLEM_REQUESTS_OF_ONE_AT_ONCE", 100)

# Previews of one server process that are with the workers at a time; more wait here, by turns between owners. A little
# more than there are processes of the queue `simulation`, so that none of them waits for the next.
GOLEM_PREVIEWS_AT_ONCE = read_integer("GOLEM_PREVIEWS_AT_ONCE", 3)
GOLEM_PREVIEWS_WAITING_OF_ONE_OWNER = read_integer("GOLEM_PREVIEWS_WAITING_OF_ONE_OWNER", 32)
GOLEM_PREVIEWS_WAITING = read_integer("GOLEM_PREVIEWS_WAITING", 128)
