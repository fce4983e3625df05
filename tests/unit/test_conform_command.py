"""`cmd:` engines: the protocol, programs that leave things out, and programs that misbehave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from refute.errors import UsageError
from refute.sandbox.link import Ended
from refute.verifiers.sql import conform_command
from refute.verifiers.sql.conform_command import InCommand
from refute.verifiers.sql.conform_command_answers import Reading
from refute.verifiers.sql.conform_command_program import environment_of, placed
from refute.verifiers.sql.conform_engine import EngineCannot, EngineLost
from refute.verifiers.sql.conform_file import Run, run_file
from refute.verifiers.sql.conform_run import Choice

ROOT = Path(__file__).parents[2]
HOSTILE = Path(__file__).parents[1] / "cases" / "hostile"
SHIMS = ROOT / "examples" / "sqlshim"
BASICS = Path(__file__).parents[1] / "cases" / "sqllogictest" / "basics.test"
CORPUS = ROOT.parent / "shared" / "sqllogictest"


@contextmanager
def engine(command: str, here: Path, timeout_s: float = 20.0) -> Iterator[InCommand]:
    made = InCommand(Choice(f"cmd:{command}", "it", timeout_s, here))
    try:
        yield made
    finally:
        made.close()


def answered(*messages: dict[str, Any]) -> list[Any]:
    reading = Reading()
    ends = [reading.take(message) for message in messages]
    assert ends == [False] * (len(messages) - 1) + [True]
    return reading.answer


VALUES = [
    (1, 1),
    (2**63, "9223372036854775808"),
    (True, 1),
    (None, None),
    (1.5, 1.5),
    ("é", "é"),
    ({"int": "-9223372036854775808"}, -(2**63)),
    ({"int": "170141183460469231731687303715884105727"}, "170141183460469231731687303715884105727"),
    ({"real": "-Infinity"}, float("-inf")),
    ({"real": "0.1"}, 0.1),
    ({"blob": "AP8="}, b"\x00\xff"),
    ({"text": "/w=="}, "\udcff"),
]


@pytest.mark.parametrize(("sent", "expected"), VALUES, ids=[str(sent) for sent, _ in VALUES])
def test_values_are_read_exactly(sent: Any, expected: Any) -> None:
    message = json.loads(json.dumps({"columns": ["a"], "rows": [[sent]]}))
    value = answered(message)[2][0][0]
    assert value == expected and type(value) is type(expected)


@pytest.mark.parametrize(
    "sent",
    [
        *(
            {"int": "1.5"},
            {"int": 1},
            {"int": ""},
            {"real": "1e999"},
            {"real": "x"},
            {"real": " 1"},
        ),
        *({"blob": "AP8"}, {"blob": "é"}, {"other": "1"}, {"int": "1", "real": "1"}, {}, [1]),
    ],
    ids=str,
)
def test_values_that_could_be_misread_are_unfit(sent: Any) -> None:
    assert answered({"columns": ["a"], "rows": [[1], [sent]]})[0] == "unfit"


def test_what_a_simple_program_leaves_out() -> None:
    assert answered({}) == ["done"]
    assert answered({"affected": 3}) == ["done", 3]
    assert answered({"affected": "3"})[0] == "unfit"
    assert answered({"rows": [[1, 2]]}) == ["rows", ["", ""], [[1, 2]]]
    assert answered({"columns": ["a"]}) == ["rows", ["a"], []]
    assert answered({"error": "no"}) == ["error", "Error", "no"]
    assert answered({"error": {"message": "no", "sqlstate": "42601", "position": 3}}) == [
        *("error", "Error", "no (at 3)", "42601")
    ]
    typed = {"columns": [{"name": "a", "type": "INT"}], "rows": [[1]]}
    assert answered(typed) == ["rows", ["a"], [[1]], ["INT"]]


def test_a_result_in_pieces() -> None:
    first = {"columns": ["a"], "rows": [[1]], "more": True}
    assert answered(first, {"rows": [[2]], "more": True}, {}) == ["rows", ["a"], [[1], [2]]]
    assert answered(first, {"error": "overflow"})[0] == "error"
    assert answered(first, {"rows": [[1, 2]], "more": True}, {"rows": [[3]]})[0] == "unfit"


def test_a_key_that_means_nothing_ends_the_program() -> None:
    with pytest.raises(Ended, match="'row'"):
        Reading().take({"columns": ["a"], "row": [[1]]})
    assert answered({"x_took": 1, "rows": [[1]]})[0] == "rows"


BAD = {
    "width": "a row of 2 values for 1 columns",
    "twice": "columns that come twice",
    "value": "a value that is no blob",
    "list": "none of the protocol's",
    "rows": "no list of lists",
    "columns": "neither a name nor name and type",
    "unnamed": "does not say its columns",
    "state": "SQLSTATE",
    "key": "'row'",
    "more": "`more`",
    "timeout": "did not answer in time: ended",
    "internal": "assertion",
    "text": "Segmentation fault?",
    "id": "an answer with id",
    "no_id": "an answer with id None",
    "die": "exit status 3; it printed 'assertion failed: sqrt'",
    "hang": "did not answer in time",
    "fork": "process",
    "print": "did not answer in time",
    "eat": "ended its process",
    "endless": "bytes",
    "pieces": "did not end before the wall-clock limit",
}


@pytest.mark.parametrize("mode", BAD)
def test_a_program_that_misbehaves_fails_at_its_statement(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conform_command, "THREADS", 16)
    monkeypatch.setattr(conform_command, "MEMORY", 2**28)
    timeout_s = 0.2 if mode in ("hang", "print", "pieces") else 20.0
    with engine(f"python3 sql_program.py {mode}", HOSTILE, timeout_s) as made:
        made.start(0)
        assert made.version == "it 1" and made.can == frozenset({"reset"})
        answers = list(made.answers(["before", "bad", "after"]))
    assert answers[0] == [*answers[0][:2], [["before"]]]
    assert answers[2] == [*answers[2][:2], [["after"]]]
    kinds = {"internal": "crash", **dict.fromkeys(("text", "id", "die", "hang", "eat"), "lost")}
    assert answers[1][0] == kinds.get(mode, answers[1][0])
    assert answers[1][0] in ("lost", "unfit", "crash")
    assert BAD[mode] in str(answers[1][1:]), answers[1]


def test_output_that_nobody_asked_for_is_no_answer() -> None:
    with engine("python3 sql_program.py extra", HOSTILE) as made:
        made.start(0)
        answers = list(made.answers(["bad", "after"]))
        assert "lost" in [answer[0] for answer in answers]
        assert any("an answer" in str(answer) for answer in answers)


def test_a_program_that_knows_neither_hello_nor_ids(tmp_path: Path) -> None:
    (tmp_path / "shim.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    known = 'execute' in asked\n"
        "    said = {'rows': [[asked['execute']]]} if known else {'error': 'what?'}\n"
        "    times = 2 if asked.get('execute') == 'twice' else 1\n"
        "    print('\\n'.join([json.dumps(said)] * times), flush=True)\n",
        encoding="utf-8",
    )
    with engine("python3 shim.py", tmp_path) as made:
        made.start(0)
        assert [a[2] for a in made.answers(["a", "b"])] == [[["a"]], [["b"]]]
        assert (made.version, made.can) == ("", frozenset())
        with pytest.raises(EngineCannot, match="`can`"):
            made.answer_on("two", "a")
        _, answer, after = made.answers(["twice", "a", "b"])
        assert answer[0] == "lost" and "an answer came before its question" in answer[1]
        assert after[0] == "lost"  # since what went before is repeated, it says too much again


def test_a_program_that_does_not_begin_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "shim.py").write_text("raise SystemExit('no licence')\n", encoding="utf-8")
    with engine("python3 shim.py", tmp_path) as made, pytest.raises(EngineLost, match="no licence"):
        made.start(0)


@pytest.mark.parametrize("command", ["", "./nothing", "no-such-program", "./plain.txt", "'x"])
def test_a_program_that_is_not_there_is_wrong_usage(command: str, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError), engine(command, tmp_path) as made:
        made.start(0)


def test_a_program_sees_its_directory_and_no_tests(tmp_path: Path) -> None:
    for name in ("bin/shim", "bin/lib/data", "bin/a.test", "conf/it.toml", "other/secret", "x.slt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        path.chmod(0o755)
    words = ["./bin/shim", f"--conf={tmp_path}/conf/it.toml", "plain", "/usr/bin"]
    tree, files, command = placed(words, tmp_path)
    assert tree == tmp_path
    assert sorted(files) == ["bin/lib/data", "bin/shim", "conf/it.toml"]
    assert command == ["bin/shim", "--conf=conf/it.toml", "plain", "/usr/bin"]
    tree, files, command = placed([str(tmp_path / "bin/shim")], tmp_path / "other")
    assert (tree, command) == (Path("/"), [str(tmp_path / "bin/shim")[1:]])


def test_files_beside_a_program_may_vanish_or_be_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shim", "gone", "secret"):
        (tmp_path / name).write_text("", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    access, is_file = os.access, Path.is_file

    def looked_at(path: Path) -> bool:
        found = is_file(path)
        if path.name == "gone":
            path.unlink()
        return found

    monkeypatch.setattr(
        os,
        "access",
        lambda path, mode: (
            Path(path).name == "gone" or (Path(path).name != "secret" and access(path, mode))
        ),
    )
    monkeypatch.setattr(Path, "is_file", looked_at)
    _, files, _ = placed(["./shim"], tmp_path)
    assert sorted(files) == ["gone", "shim"]


def compiled(directory: Path) -> str:
    """The shim in C, compiled; a skip where that is not possible."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: apt-get install gcc")
    command = [compiler, "-o", str(directory / "shim"), str(SHIMS / "shim.c"), "-lsqlite3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "sqlite3" in done.stderr:
        pytest.skip("SQLite cannot be compiled against: apt-get install libsqlite3-dev")
    assert not done.returncode, done.stderr
    return "./shim"


@pytest.fixture(params=["python", "c"])
def shim(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InCommand]:
    if request.param == "c":
        command = compiled(tmp_path)
    else:
        shutil.copy(SHIMS / "shim.py", tmp_path)
        command = "python3 shim.py sqlite3 :memory:"
    with engine(command, tmp_path) as made:
        yield made


def test_the_shims_pass_a_small_suite(shim: InCommand) -> None:
    result = run_file(Run(shim, "sqlite"), "basics.test", BASICS.read_bytes(), confirm=9)
    assert (result.failures, result.error, result.lost) == ([], "", "")
    assert result.run > 10
    assert "3." in shim.version


def test_the_shims_give_every_value_exactly(shim: InCommand) -> None:
    shim.start(0)
    [answer, many, bad] = shim.answers(
        [
            "SELECT 9223372036854775807, 0.1, -1e999, x'00ff', NULL, 'é\"\\\n', 1e15, ''",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "SELECT i, 'x' FROM n",
            "SELECT nope",
        ]
    )
    row = [2**63 - 1, 0.1, float("-inf"), b"\x00\xff", None, 'é"\\\n', 1e15, ""]
    assert answer[2] == [row]
    assert many[2] == [[n, "x"] for n in range(1, 20_001)]
    assert bad[0] == "error" and "nope" in bad[2]
    counts = shim.answers(
        ["CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2)", "UPDATE t SET a = 3 WHERE a > 5"]
    )
    assert [a[1:] for a in counts][1:] == [[2], [0]]
    shim.again()
    assert next(shim.answers(["SELECT count(*) FROM sqlite_master"]))[2] == [[0]]


def test_the_shim_in_c_has_several_connections(tmp_path: Path) -> None:
    with engine(compiled(tmp_path), tmp_path) as made:
        made.start(0)
        assert made.can == frozenset({"connections", "reset"})
        made.answer_on("", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        assert made.answer_on("two", "SELECT a FROM t")[2] == [[1]]
        made.answer_on("two", "BEGIN")
        made.answer_on("two", "INSERT INTO t VALUES (2)")
        made.reconnect("two")
        assert made.answer_on("two", "SELECT a FROM t")[2] == [[1]]


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    if not (CORPUS / "public.tar.zst").is_file():
        pytest.skip("the sqllogictest corpus is not beside this tree")
    place = tmp_path_factory.mktemp("corpus")
    unpack = ["tar", "--use-compress-program=zstd -d --long=27", "-xf"]
    name = "test/evidence/slt_lang_update.test"
    subprocess.run([*unpack, str(CORPUS / "public.tar.zst"), "-C", str(place), name], check=True)
    return (place / name).read_bytes()


def test_the_shims_pass_a_file_of_the_corpus(shim: InCommand, corpus_file: bytes) -> None:
    result = run_file(Run(shim, "sqlite"), "slt_lang_update.test", corpus_file, confirm=0)
    assert (result.failures, result.error, result.lost) == ([], "", "")
    assert result.run > 20


def test_a_command_line_runs_a_program(tmp_path: Path) -> None:
    shutil.copy(SHIMS / "shim.py", tmp_path)
    (tmp_path / "one.test").write_text("query I\nSELECT 1\n----\n2\n", encoding="utf-8")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("refute")),
            *(
                "conform",
                "one.test",
                "--engine",
                "cmd:python3 shim.py sqlite3 :memory:",
                "--no-reduce",
            ),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "one.test:1: expected 1 value: 2, got 1 value: 1" in done.stdout
    assert "(sqlite3 3." in done.stdout


def test_a_python_of_a_virtual_environment_sees_what_is_installed_there(tmp_path: Path) -> None:
    """As an old version of an engine is installed; it is not copied."""
    venv.create(tmp_path / "old", symlinks=True)
    [site] = (tmp_path / "old").glob("lib/python*/site-packages")
    (site / "oldengine.py").write_text(
        "from sqlite3 import connect as made\n"
        "__version__ = '0.1'\n"
        "def connect(): return made(':memory:')\n",
        encoding="utf-8",
    )
    (tmp_path / "secret").write_text("", encoding="utf-8")
    shutil.copy(SHIMS / "shim.py", tmp_path)
    with engine("old/bin/python shim.py oldengine", tmp_path) as made:
        made.start(0)
        assert (made.version, made.can) == ("oldengine 0.1", {"reset"})
        refused, answer = made.answers(["SELEC", "SELECT 1 AS a"])
        assert refused[1] == "OperationalError" and answer[2] == [[1]]
    [environment, *base] = environment_of(["old/bin/python"], tmp_path)
    assert environment == str(tmp_path / "old")
    assert all((Path(place) / "lib").is_dir() for place in base)
    assert environment_of(["/usr/bin/python3"], tmp_path) == ()
    _, files, command = placed(["old/bin/python", "shim.py"], tmp_path)
    assert command[0] == str(tmp_path / "old/bin/python")
    assert sorted(files) == ["secret", "shim.py"]


def test_the_shim_gives_a_module_with_contexts_connections(tmp_path: Path) -> None:
    shutil.copy(SHIMS / "shim.py", tmp_path)
    (tmp_path / "contexts.py").write_text(CONTEXTS, encoding="utf-8")
    with engine("python3 shim.py contexts", tmp_path) as made:
        made.start(0)
        none, rows, refused, bug = made.answers(["none", "rows", "refused", "bug"])
        assert none == ["done"]
        assert rows == ["rows", ["a", "b"], [[1, "x"], [2, "1.50"], [3, None]], ["int64", "utf8"]]
        assert refused[:2] == ["error", "Exception"] and bug[0] == "crash"


CONTEXTS = """
from collections import namedtuple
from decimal import Decimal

Field = namedtuple("Field", "name type")
Batch = namedtuple("Batch", "columns")
__version__ = "1"


class Values(list):
    def to_pylist(self):
        return list(self)


class SessionContext:
    def sql(self, statement):
        if statement in ("refused", "bug"):
            raise Exception("Internal error: no" if statement == "bug" else "no")
        self.empty = statement == "none"
        return self

    def schema(self):
        return [] if self.empty else [Field("a", "int64"), Field("b", "utf8")]

    def collect(self):
        first = Batch([Values([1, 2]), Values(["x", Decimal("1.50")])])
        return [] if self.empty else [first, Batch([Values([3]), Values([None])])]
"""
