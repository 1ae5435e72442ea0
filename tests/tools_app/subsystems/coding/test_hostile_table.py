"""Every known way out of the fences, tried from inside: as root's server runs commands, and as another user's does."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.run_commands import TIMEOUT_MS
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.subsystems.coding.system_calls import REFUSED

SECRET = "TOP-SECRET"
NOBODY = 65_534
PTRACE = "python3 - <<'END'\nimport ctypes, os, signal\nlibc = ctypes.CDLL(None, use_errno=True)\n{body}\nEND"

# Each prints `held` when the way is closed. PID, PORT, NAME and OUTSIDE stand for what is really there, outside.
TABLE = {
    "a link to a file outside": "ln -sf OUTSIDE link; cat link 2>/dev/null; rm link; echo held",
    "a path that goes up": "cat ../../../../../..OUTSIDE ../OUTSIDE 2>/dev/null; echo held",
    "the root and the folder of every process": (
        "for p in /proc/[0-9]* /proc/self /proc/thread-self; do cat $p/rootOUTSIDE $p/cwdOUTSIDE 2>/dev/null; done;"
        " echo held"
    ),
    "the descriptors of every process": (
        "for each in /proc/[0-9]*/fd/*; do [ -f $each ] && cat $each; done 2>/dev/null | grep -a TOP-SECRET; echo held"
    ),
    "the environment of every process": "cat /proc/[0-9]*/environ 2>/dev/null | grep -a TOP-SECRET; echo held",
    "the disk by its device": (
        "mknod disk b 254 0 2>/dev/null && echo made; mknod kmem c 1 2 2>/dev/null && echo made;"
        " ls /dev | grep -E 'vd|sd|nvme|loop|mem|kmsg|fuse'; echo held"
    ),
    "a mount": (
        "mkdir -p m; mount --bind / m 2>/dev/null && echo mounted; umount /proc 2>/dev/null && echo unmounted;"
        " mount -o remount,rw / 2>/dev/null && echo remounted; mount -o remount,rw /usr 2>/dev/null && echo remounted;"
        " rmdir m; echo held"
    ),
    "namespaces of its own": (
        "mkdir -p m; unshare -Urm sh -c 'mount --bind /proc/1/root m; cat mOUTSIDE; mount -t proc proc m;"
        " cat m/PID/environ; mount -o remount,rw,bind /usr && touch /usr/x' 2>/dev/null; rmdir m; echo held"
    ),
    "a hard link to a file outside": (
        "for each in OUTSIDE /usr/bin/env /proc/1/exe /proc/self/exe; do ln -L $each hard 2>/dev/null && echo linked;"
        " done; echo held"
    ),
    "a change of the programs": (
        "for each in / /usr /usr/bin /bin /dev /proc /proc/sys/kernel /etc; do touch $each/x 2>/dev/null && echo $each;"
        " done; echo held"
    ),
    "memory in the place of a file": (
        "for each in / /dev /usr /proc; do (head -c 1M /dev/zero > $each/x) 2>/dev/null && echo filled $each; done;"
        " echo held"
    ),
    "a program that sets its user": (
        "cp /usr/bin/id own; chmod 6755 own; [ $(./own -u) = $(id -u) ] || echo other;"
        " for each in $(find /usr/bin -perm -4000); do cp $each s 2>/dev/null; done; rm -f s own;"
        " grep -q 'NoNewPrivs:.1' /proc/self/status && su -c id </dev/null >/dev/null 2>&1 && echo root; echo held"
    ),
    "privileges": "grep -E 'Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000; echo held",
    "a signal to the server": (
        "for each in PID -PID; do kill -9 $each 2>/dev/null && echo killed; done; [ -d /proc/PID ] && echo seen;"
        " echo held"
    ),
    "tracing a process outside": PTRACE.format(
        body="for number in (16, 0x4206):\n    if libc.ptrace(number, PID, 0, 0) == 0: print('traced')\nprint('held')"
    ),
    "the memory of a process outside": PTRACE.format(
        body="class Part(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]\n"
        "room = ctypes.create_string_buffer(8)\n"
        "here, there = Part(ctypes.addressof(room), 8), Part(0x400000, 8)\n"
        "read = libc.process_vm_readv(PID, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)\n"
        "is_refused = read == -1 and ctypes.get_errno() in (1, 3)\n"
        "print('held' if is_refused and not os.path.exists('/proc/PID/mem') else 'read')"
    ),
    "a descriptor of a process outside": PTRACE.format(
        body="fd = libc.syscall(434, PID, 0)\nprint('held' if fd == -1 else 'opened')"
    ),
    "an abstract socket": (
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\0NAME'); print('reached')\" 2>/dev/null;"
        " echo held"
    ),
    "a socket in a folder outside": (
        "ls -d /run /var/run /tmp/.X11-unix /run/docker.sock /run/dbus 2>/dev/null; echo held"
    ),
    "the network of the server": (
        "(exec 3<>/dev/tcp/127.0.0.1/PORT) 2>/dev/null && echo reached; (exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null &&"
        " echo reached; echo held"
    ),
    "shared memory and queues of the kernel": "ipcs -m -q 2>/dev/null | grep -c '^0x' | grep -v '^0$'; echo held",
    "a fork bomb": "(bomb() { bomb | bomb & }; bomb) >/dev/null 2>&1; echo held",
    "too many processes": PTRACE.format(
        body="made = []\ntry:\n    while len(made) < 400:\n        made.append(os.fork())\n"
        "        if not made[-1]: signal.pause()\n"
        "except OSError: pass\nfor each in made: os.kill(each, 9)\nprint('held' if len(made) < 200 else 'made')"
    ),
    "a file system in memory of its own": (
        "mkdir -p m; unshare -Urm sh -c 'mount -t tmpfs none m && echo mounted' 2>/dev/null; rmdir m;"
        " unshare -U true 2>/dev/null && echo user; unshare -n true 2>/dev/null && echo net; echo held"
    ),
    "namespaces by every call that makes them": PTRACE.format(
        body="for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80):\n"
        "    if libc.unshare(flag) == 0: print('unshared', hex(flag))\n"
        "    if flag != 0x80:\n"
        "        made = libc.syscall(56, flag | 17, 0, 0, 0, 0)\n"
        "        if made == 0: os._exit(0)\n"
        "        if made != -1: print('cloned', hex(flag))\n"
        "args = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)\n"
        "made = libc.syscall(435, args, 88)\n"
        "if made == 0: os._exit(0)\n"
        "print('held' if made == -1 and ctypes.get_errno() == 38 else 'cloned')"
    ),
    "calls of the kernel that no command makes": PTRACE.format(
        body=f"for number in {sorted(number for numbers in REFUSED.values() for number in numbers)}:\n"
        "    ctypes.set_errno(0)\n"
        "    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1: print('made', number)\n"
        "for number in (451, 463, 511, 0x40000000 + 39):\n"
        "    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 38: print('made', number)\n"
        "print('held')"
    ),
    "calls in the way of another processor": PTRACE.format(
        body="import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\ncode.write(bytes.fromhex('b814000000cd80c3'))\n"
        "call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(1 if call() > 0 else 0)\n"
        "print('held' if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 1 else 'made')"
    ),
    "sockets that know no network namespace": (
        'python3 -c "import socket\nfor family in (40, 38, 17, 29, 31, 44):\n'
        "  try: socket.socket(family, socket.SOCK_DGRAM); print('opened', family)\n"
        "  except OSError as error: error.errno == 97 or print(family, error)\nprint('held')\""
    ),
    "more memory than there may be": "python3 -c 'bytearray(3 << 30)' 2>/dev/null && echo taken; echo held",
}


@dataclass
class Outside:
    """What a command must not reach: a file, a process that holds it open and in its environment, two sockets."""

    secret: Path
    pid: int
    port: int
    name: str

    def fill(self, command: str) -> str:
        known = {"OUTSIDE": str(self.secret), "PID": str(self.pid), "PORT": str(self.port), "NAME": self.name}
        for word, value in known.items():
            command = command.replace(word, value)
        return command


@pytest.fixture
def outside() -> Iterator[Outside]:
    """All of it may be read by everybody, so that nothing but the fences is in the way."""
    with tempfile.TemporaryDirectory() as made, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(made) / "secret"
        secret.write_text(SECRET)
        os.chmod(made, 0o755)
        name = f"golem-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as listener, secret.open() as held:
            listener.bind(f"\0{name}")
            listener.listen()
            os.set_inheritable(held.fileno(), True)
            with subprocess.Popen(["sleep", "600"], env={"WORD": SECRET}, stdin=held) as process:
                try:
                    yield Outside(secret, process.pid, server.getsockname()[1], name)
                    assert process.poll() is None
                finally:
                    process.kill()


@pytest.mark.parametrize("row", TABLE)
def test_no_known_way_leads_out_of_a_command(coder: CodingAgent, outside: Outside, row: str) -> None:
    told = coder.run(outside.fill(TABLE[row]), timeout_ms=TIMEOUT_MS)
    assert [block["text"] for block in told["content"]] == ["held"]


def run_as_nobody(
    commands: dict[str, str], *before: str, as_root: bool = False, kept: Sequence[Path] = ()
) -> dict[str, str]:
    """What each command says behind the fences of a server that is not root's; `before` stands before its python, and
    `kept` is what commands must not see.

    With `as_root` it is root's, if this process is.
    """
    user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    become = ["setpriv", *user] if os.geteuid() == 0 and not as_root else []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "work"
        folder.mkdir()
        os.chmod(made, 0o755)
        if become:
            os.chown(folder, NOBODY, NOBODY)
        script = [sys.executable, "-m", "tests.tools_app.subsystems.coding.run_commands", str(folder), *map(str, kept)]
        ran = subprocess.run(
            [*become, *before, *script],
            input=json.dumps(commands),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=170,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "WORD": SECRET},
        )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, str] = json.loads(ran.stdout)
    return told


def may_make_user_namespaces() -> bool:
    """Whether this machine lets a user who is not root make fences at all."""
    return "not_fenced" not in run_as_nobody({"try": "echo made"})["try"].lower()


def test_no_known_way_leads_out_where_the_server_is_not_root(outside: Outside) -> None:
    told = run_as_nobody({name: outside.fill(command) for name, command in TABLE.items()})
    if may_make_user_namespaces():
        assert told == dict.fromkeys(TABLE, "held")
    else:
        assert {each.split(":")[0] for each in told.values()} == {"COMMANDS_NOT_FENCED"}


def test_a_process_that_hides_what_it_holds_open_is_stopped_where_the_server_is_not_root() -> None:
    hides = PTRACE.format(body="libc.prctl(4, 0)\nsignal.pause()")
    stays = PTRACE.format(body="os.fork() or os.execvp('sleep', ['sleep', '0.6'])\nos.wait()\nprint('out')")
    told = run_as_nobody({"hides": hides, "stays": stays})
    if may_make_user_namespaces():
        assert told == {"hides": "full", "stays": "out"}
    else:
        assert {each.split(":")[0] for each in told.values()} == {"COMMANDS_NOT_FENCED"}


def test_a_machine_without_user_namespaces_refuses_with_the_reason() -> None:
    if not may_make_user_namespaces():
        pytest.skip("not run: this machine is one; the test above has its refusals")
    # In there no further user namespace is made, as on a machine whose administrator forbade them.
    without = ("bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns")
    told = run_as_nobody({"one": "echo out"}, *without)["one"]
    assert told.startswith("COMMANDS_NOT_FENCED: no command is run here: bwrap refuses here: ")
    assert len(told.partition("bwrap refuses here: ")[2]) > 10


def test_device_files_in_the_folder_are_no_files_and_no_devices(coder: CodingAgent) -> None:
    put(coder, "a.txt", "a")
    if os.system(f"mknod -m 666 {coder.folder / 'zero'} c 1 5 2>/dev/null") != 0:
        pytest.skip("not run: this user makes no device files")
    for call in (
        lambda: coder.ask("read", path="zero"),
        lambda: coder.preview("write", path="zero", content="x"),
        lambda: coder.preview("edit", path="zero", old_string="a", new_string="b"),
    ):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            call()
    assert coder.text("grep", pattern=".") == "a.txt:1: a"
    assert coder.run("head -c 1 zero >/dev/null 2>&1 && echo read || echo held")["content"][0]["text"] == "held"


def test_a_program_of_root_s_that_sets_its_user_sets_nothing(coder: CodingAgent) -> None:
    put(coder, "a.txt", "a")
    shutil.copy("/usr/bin/id", coder.folder / "id")
    (coder.folder / "id").chmod(0o6755)
    assert coder.run("[ $(./id -u) = $(/usr/bin/id -u) ] && [ $(./id -u) != 0 ] && echo held")["content"][0] == {
        "kind": "text",
        "text": "held",
    }


def test_what_has_a_second_name_outside_is_not_changed_there(coder: CodingAgent, tmp_path: Path) -> None:
    put(coder, "a.txt", "one\n")
    os.link(coder.folder / "a.txt", tmp_path / "outside.txt")
    coder.do("edit", path="a.txt", old_string="one", new_string="two")
    assert ((coder.folder / "a.txt").read_text(), (tmp_path / "outside.txt").read_text()) == ("two\n", "one\n")


def test_a_command_inherits_no_descriptor_of_the_server(coder: CodingAgent, outside: Outside) -> None:
    with outside.secret.open() as held:
        os.set_inheritable(held.fileno(), True)
        told = coder.run(
            "for each in /proc/self/fd/*; do readlink $each; done | grep -vE '^(/dev/null|pipe:.*|)$'; true"
        )
    assert told["content"] == [{"kind": "text", "text": "(no output)"}]
