"""Becomes the child process: takes on an account, asks the kernel to end it with its parent, executes the command.

Run by path, with the standard library only: `exec_child.py PARENT_PID SIGNAL UID:GID|- -- COMMAND...`. A program rather
than a hook of the fork: taking on an account clears the parent-death signal, and code between fork and exec is not safe
in a process with threads.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Replace this process by the command, or exit 127 with one line."""
    parent, death_signal, account = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    command = sys.argv[5:]
    # Looked up before an account is taken on that may not be able to read Python's own library any more.
    places = [""] if "/" in command[0] else [f"{folder}/" for folder in os.get_exec_path()]
    program = next((place + command[0] for place in places if os.access(place + command[0], os.X_OK)), command[0])
    if account != "-":
        uid, gid = (int(part) for part in account.split(":"))
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
        sys.exit(f"prctl failed: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("the starter is gone")
    try:
        os.execv(program, command)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(127)


main()
