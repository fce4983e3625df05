"""Supervisor: makes the jail, starts the subject's process, and ends everything with it.

When the kernel refuses a step it says so and ends; the parent then starts another one that makes
do with a plain process, and whose isolation says why.
"""

from __future__ import annotations

import json
import os
import select
import signal
from typing import Any, NamedTuple, NoReturn

from refute.sandbox import fallback, jail, kernel
from refute.sandbox.materialise import remove_files
from refute.sandbox.processes import kill_descendants, reap
from refute.sandbox.subject import become_subject, close_others


class Family(NamedTuple):
    """What the supervisor watches: the subject's process, the init of its pid namespace."""

    subject: int
    init: int | None
    isolation: str


def supervise(config: dict[str, Any], control: int, wire: int) -> NoReturn:
    """Start the worker that `config` describes and wait until it, or the parent, is gone."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wakeup = _watch_children()
    try:
        family = _start(config, wire)
    except OSError as error:
        _tell(control, {"refused": str(error)})
        os._exit(1)
    except ValueError as error:
        _tell(control, {"error": str(error)})
        os._exit(1)
    os.close(wire)
    _tell(control, {**family._asdict(), "tree": config["tree"]})
    status = _wait(control, wakeup, family.subject)
    _end(family, config)
    if status is not None:
        _tell(control, {"exit": os.waitstatus_to_exitcode(status)})
    os._exit(0)


def _start(config: dict[str, Any], wire: int) -> Family:
    if config["isolation"] != "process":
        if config["isolation"] == "unprivileged":
            # What is left is only the right to map uid 0, which other users do not need.
            kernel.drop_capabilities(kernel.CAP_SETFCAP)
        return _start_jailed(config, wire)
    fallback.prepare(config)
    subject, who = _fork_subject(config, wire, None)
    why = f"no namespaces: {config['why']}; files outside the closure are visible"
    return Family(subject, None, f"process only, {who} ({why})")


def _start_jailed(config: dict[str, Any], wire: int) -> Family:
    privileged = jail.enter_namespaces()
    jail.build_root(config)
    reading, writing = os.pipe()
    init = os.fork()
    if init == 0:
        _become_init(writing)
    os.close(writing)
    note = _listen(reading)
    config["tree"] = jail.TREE
    subject, spaces = _fork_subject(config, wire, privileged)
    return Family(subject, init, f"namespaces: {spaces}{note}")


def _fork_subject(config: dict[str, Any], wire: int, privileged: bool | None) -> tuple[int, str]:
    reading, writing = os.pipe()
    subject = os.fork()
    if subject == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become_subject(config, wire, writing, privileged)
    os.close(writing)
    return subject, _listen(reading)


def _listen(reading: int) -> str:
    """What a child says of its start. Raises OSError when that is trouble or nothing."""
    said = os.read(reading, 1000).decode(errors="replace")
    os.close(reading)
    if not said or said.startswith("!"):
        raise OSError(said[1:] or "a process of the worker ended while it started")
    return said.strip(".")


def _become_init(answer: int) -> NoReturn:
    """Be the first process of the pid namespace: reap orphans, and take all along when killed."""
    try:
        signal.set_wakeup_fd(-1)
        has_proc = jail.finish_root()
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        os.write(answer, b"." if has_proc else b" (without /proc)")
    except OSError as error:
        os.write(answer, f"!{error}".encode())
        os._exit(1)
    close_others(set())
    while True:
        signal.sigwait({signal.SIGCHLD})
        reap()


def _watch_children() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _wait(control: int, wakeup: int, subject: int) -> int | None:
    """The subject's wait status, or None when the parent closed its end first."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if wakeup in ready:
            os.read(wakeup, 4096)
            ended = reap()
            if subject in ended:
                return ended[subject]
        if control in ready:
            return None


def _end(family: Family, config: dict[str, Any]) -> None:
    """Kill all that is left of the worker, wait for it, and remove its copy of the tree."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if family.init is not None:
        os.kill(family.init, signal.SIGKILL)
    else:
        kill_descendants(family.subject)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    if config["tree"] == config["scratch"]:
        remove_files(config["scratch"])


def _tell(control: int, message: dict[str, Any]) -> None:
    try:
        os.write(control, json.dumps(message).encode() + b"\n")
    except OSError:
        os._exit(0)  # the parent is gone, and with it whoever wanted to know
