"""PostgreSQL and MariaDB for tests: private servers in temporary directories, as nobody's servers.

Each is started once in a process and stopped at its end. `skipif` reasons say how to get them.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "s3cret/word@"
PATIENCE_S = 60.0


class Server:
    """A running server. url: of a user who may make databases."""

    def __init__(self, url: str, process: subprocess.Popen[bytes], directory: Path) -> None:
        self.url = url
        self.process = process
        self.directory = directory

    def stop(self) -> None:
        """End it and remove what it wrote."""
        self.process.send_signal(signal.SIGINT if "postgresql" in self.url else signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def _program(name: str, *places: str) -> str:
    """The newest program of this name."""
    found = [p for place in places for p in sorted(Path("/").glob(f"{place}/{name}"))]
    return str(found[-1]) if found else shutil.which(name) or ""


def _as_user() -> tuple[list[str], int]:
    """The words before a command of a server, which refuses to be root's; and its user."""
    words = ["setpriv", "--pdeathsig=TERM"]  # also where nobody is left to stop it
    if os.geteuid():
        return words, os.geteuid()
    number = pwd.getpwnam("nobody").pw_uid
    return [*words, f"--reuid={number}", f"--regid={number}", "--clear-groups"], number


def _directory(user: int) -> Path:
    made = Path(tempfile.mkdtemp(prefix="refute-server-"))
    made.chmod(0o711)
    os.chown(made, user, -1)
    return made


def _started(command: Sequence[str], directory: Path) -> subprocess.Popen[bytes]:
    with (directory / "log").open("wb") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def _wait_for(path: Path, server: Server) -> None:
    until = time.monotonic() + PATIENCE_S
    while not path.exists():
        if server.process.poll() is not None or time.monotonic() > until:
            text = (server.directory / "log").read_text(errors="replace")
            server.stop()
            pytest.fail(f"the server did not start: {text[-2000:]}")
        time.sleep(0.05)


@functools.cache
def postgresql() -> Server:
    """PostgreSQL in the C locale, reached by a socket, with a password."""
    initdb = _program("initdb", "usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")
    if not initdb:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    words, user = _as_user()
    directory = _directory(user)
    (directory / "password").write_text(PASSWORD)
    data = directory / "data"
    made = [*words, initdb, "-D", str(data), "--locale=C", "--encoding=UTF8", "--no-sync"]
    made += ["--auth=scram-sha-256", "--username=tester", f"--pwfile={directory / 'password'}"]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    settings = ("fsync=off", "max_connections=40", "listen_addresses=", "shared_buffers=16MB")
    options = [word for setting in settings for word in ("-c", setting)]
    server = str(Path(initdb).with_name("postgres"))
    process = _started([*words, server, "-D", str(data), "-k", str(directory), *options], directory)
    url = f"postgresql://tester:{quote(PASSWORD, safe='')}@/postgres?host={directory}"
    running = Server(url, process, directory)
    _wait_for(directory / ".s.PGSQL.5432", running)
    atexit.register(running.stop)
    return running


@functools.cache
def mariadb() -> Server:
    """MariaDB, reached by a socket, with a password."""
    mariadbd = _program("mariadbd", "usr/sbin", "usr/libexec")
    install = _program("mariadb-install-db", "usr/bin")
    if not mariadbd or not install:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    words, user = _as_user()
    directory = _directory(user)
    data, socket = directory / "data", directory / "socket"
    owner = pwd.getpwuid(user).pw_name
    made = [*words, install, "--no-defaults", f"--datadir={data}", "--skip-test-db"]
    made += ["--auth-root-authentication-method=normal", f"--user={owner}"]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    init = directory / "init.sql"
    init.write_text(
        f"CREATE USER tester@localhost IDENTIFIED BY '{PASSWORD}';\n"
        "GRANT ALL ON *.* TO tester@localhost;\n"
    )
    options = (f"--datadir={data}", f"--socket={socket}", "--skip-networking", "--no-defaults")
    options = (options[-1], *options[:-1], f"--init-file={init}", f"--pid-file={directory / 'pid'}")
    process = _started([*words, mariadbd, *options], directory)
    url = f"mariadb://tester:{quote(PASSWORD, safe='')}@localhost?unix_socket={socket}"
    running = Server(url, process, directory)
    _wait_for(socket, running)
    atexit.register(running.stop)
    return running
