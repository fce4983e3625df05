"""The ledger: evidence only for equal inputs, rows authenticated, files never overwritten."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from scratch_repo import Tables

from refute.claim import Claim, Need, Statement, Verdict, Where
from refute.errors import LedgerError
from refute.evidence import Evidence, Exhaustion, Scope
from refute.ledger.key import read_key
from refute.ledger.store import Ledger, open_ledger
from refute.replay import Counterexample, Playback, Witness, replay
from refute.site import Site


def table(name: str = "c", need: Need | None = None, existential: bool = False) -> Claim:
    statement = Statement("table", "text", "m:f", {"rows": []}, ("spec:s",), existential)
    return Claim(name, statement, Where("claims.py", 1), need=need or Need())


def survived(tried: int = 10, **changes: object) -> Evidence:
    plain = Evidence("c", Verdict.SURVIVED, "tables", "1", tried=tried, scope=Scope("some"))
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


class Always:
    """A replayer that says the same each time."""

    def __init__(self, *broke: bool) -> None:
        self.broke = list(broke)

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        return Playback(self.broke.pop(0) if len(self.broke) > 1 else self.broke[0])


def witness(*broke: bool) -> Witness:
    found = replay(Counterexample("tables", [1], observed="seen"), Always(*broke)).witness
    assert found is not None
    return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "m.py").write_text("def f(): pass")
    (tree / "spec.py").write_text("def s(): pass")
    return Site(tree, tree)


def test_a_kept_case_keeps_the_order_of_its_dicts(tmp_path: Path) -> None:
    case = Counterexample("tables", {"case": {"z": 5, "a": 0}}, observed="seen")
    found = replay(case, Always(True)).witness
    assert found is not None
    opened(tmp_path).keep(table(), found)
    [kept] = opened(tmp_path).witnesses(table())
    assert list(kept.inputs["case"]) == ["z", "a"]


def opened(tmp_path: Path, key: str = "key", engine: Tables | None = None) -> Ledger:
    chosen = engine or Tables()
    return open_ledger(tmp_path / "l/ledger.db", key=tmp_path / key, engines=lambda _: (chosen,))


def test_evidence_comes_back_equal_and_marked(tmp_path: Path, site: Site) -> None:
    evidence = survived(assumptions=("a",), statistics={"n": 3, "pair": (1, b"x")})
    opened(tmp_path).record(table(), site, evidence)
    found = opened(tmp_path).lookup(table(), site)
    assert found is not None and found.from_ledger and found.inputs["subject"]
    assert dataclasses.replace(found, from_ledger=False, inputs={}) == evidence


def test_any_other_input_is_other_evidence(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(tmp_path)
    ledger.record(table(), site, survived())
    assert ledger.lookup(table("other"), site) is None
    assert ledger.lookup(table(existential=True), site) is None
    ledger.isolation = "process only"
    assert ledger.lookup(table(), site) is None
    newer = Tables()
    newer.version = "2"
    assert opened(tmp_path, engine=newer).lookup(table(), site) is None
    for name in ("m.py", "spec.py"):
        text = (site.subject_tree / name).read_text()
        (site.subject_tree / name).write_text(text + " ")
        assert opened(tmp_path).lookup(table(), site) is None
        (site.subject_tree / name).write_text(text)
    assert opened(tmp_path).lookup(table(), site) is not None
    other = {"distributions": "other"}
    monkeypatch.setattr("refute.ledger.store.surroundings", lambda: other)
    assert opened(tmp_path).lookup(table(), site) is None


def test_stronger_evidence_serves_weaker_needs(tmp_path: Path, site: Site) -> None:
    ledger = opened(tmp_path)
    ledger.record(table(need=Need(cases=100)), site, survived(tried=100))
    assert ledger.lookup(table(need=Need(cases=10)), site) is not None
    assert ledger.lookup(table(need=Need(cases=101)), site) is None
    assert ledger.lookup(table(need=Need(Verdict.EXHAUSTED)), site) is None


def test_what_establishes_nothing_is_not_kept(tmp_path: Path, site: Site) -> None:
    ledger = opened(tmp_path)
    exhausted = Exhaustion("tables", "second", 4)
    absent = Evidence("c", Verdict.REFUTED, "tables", "1", True, exhaustion=exhausted)
    refuted = Evidence("c", Verdict.REFUTED, "tables", "1", witness=witness(True))
    unknown = Evidence("c", Verdict.UNKNOWN, "tables", "1", reason="budget")
    disputed, old = survived(disputes=("other",)), survived(from_ledger=True)
    for evidence in (unknown, refuted, absent, disputed, old):
        ledger.record(table(), site, evidence)
    assert ledger._file.get("evidence", ledger.key(table(), site)) == []


def test_an_existential_claim_is_played_again(tmp_path: Path, site: Site) -> None:
    claim = table(existential=True)
    ledger = opened(tmp_path)
    shown = survived(verdict=Verdict.PROVED, existential=True, witness=witness(True))
    ledger.record(claim, site, shown)
    played: list[bool] = []

    class Replaying(Tables):
        def replayer(self, claim: Claim, site: Site, budget: object) -> Always:  # type: ignore[override]
            played.append(True)
            return Always(len(played) == 1)

    again = opened(tmp_path, engine=Replaying())
    found = again.lookup(claim, site)
    assert found is not None and found.witness is not None and played == [True]
    assert again.lookup(claim, site) is None  # it no longer shows


def test_witnesses_are_kept_with_their_claim_for_ever(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.keep(table(), witness(True))
    ledger.keep(table(), witness(True))
    assert [c.observed for c in opened(tmp_path).witnesses(table())] == ["seen"]
    assert opened(tmp_path).witnesses(table("other")) == ()


def test_flaky_evidence_is_not_kept(tmp_path: Path, site: Site) -> None:
    claim = table(existential=True)
    ledger = opened(tmp_path)
    flaky = survived(verdict=Verdict.PROVED, existential=True, witness=witness(True, False))
    ledger.record(claim, site, flaky)
    assert ledger._file.get("evidence", ledger.key(claim, site)) == []


def test_rows_of_another_key_or_edited_rows_are_no_evidence(tmp_path: Path, site: Site) -> None:
    opened(tmp_path).record(table(), site, survived())
    opened(tmp_path).keep(table(), witness(True))
    stranger = opened(tmp_path, key="another")
    assert stranger.lookup(table(), site) is None and stranger.witnesses(table()) == ()
    with sqlite3.connect(tmp_path / "l/ledger.db") as database:
        database.execute("UPDATE row SET payload = replace(payload, '10', '99')")
    database.close()
    assert opened(tmp_path).lookup(table(), site) is None


def test_a_row_moved_to_another_claim_is_no_evidence(tmp_path: Path, site: Site) -> None:
    ledger = opened(tmp_path)
    ledger.record(table(), site, survived())
    target = ledger.key(table("other"), site)
    with sqlite3.connect(tmp_path / "l/ledger.db") as database:
        database.execute("UPDATE row SET key = ? WHERE kind = 'evidence'", (target,))
    database.close()
    assert opened(tmp_path).lookup(table("other"), site) is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"not a database, but quite long " * 40, "no SQLite database"),
        (b"SQLite format 3\0", "no SQLite database"),
    ],
)
def test_foreign_files_are_refused_and_left_alone(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "l/ledger.db"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=why) as caught:
        opened(tmp_path)
    assert path.read_bytes() == content and "move the file away" in caught.value.next_step


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("PRAGMA application_id = 7", "another application"),
        ("PRAGMA user_version = 99", "version 99"),
        ("CREATE TABLE more (x)", "tables"),
        ("CREATE TRIGGER t AFTER INSERT ON row BEGIN DELETE FROM row; END", "tables"),
        ("DROP TABLE row", "tables"),
    ],
)
def test_other_databases_are_refused(tmp_path: Path, statement: str, why: str) -> None:
    opened(tmp_path).close()
    database = sqlite3.connect(tmp_path / "l/ledger.db", isolation_level=None)
    database.execute(statement)
    database.close()
    with pytest.raises(LedgerError, match=why):
        opened(tmp_path)


def test_cut_and_scribbled_files_are_refused(tmp_path: Path, site: Site) -> None:
    ledger = opened(tmp_path)
    for number in range(200):
        ledger.put_fact("filler", str(number), "x" * 500)
    ledger.close()
    path = tmp_path / "l/ledger.db"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LedgerError, match="cut off"):
        opened(tmp_path)
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(LedgerError, match="not a ledger"):
        opened(tmp_path).fact("filler", "1")
    assert len(path.read_bytes()) == len(whole)


def test_where_nothing_can_be_written_it_works_and_says_so(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "l").write_text("a file where the directory should be")
    ledger = opened(tmp_path)
    assert "no ledger" in ledger.note and ledger.path is None
    ledger.record(table(), site, survived())
    assert ledger.lookup(table(), site) is not None
    monkeypatch.setattr(os, "access", lambda *_: False)
    (tmp_path / "l").unlink()
    assert "read-only" in opened(tmp_path).note


def test_a_file_that_cannot_be_used_now_costs_evidence_and_no_more(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refute.ledger.file._BUSY_S", 0.0)
    with closing(opened(tmp_path)) as ledger:
        ledger.record(table(), site, survived())
        assert ledger.path is not None
        other = sqlite3.connect(ledger.path, isolation_level=None)
        assert ledger.lookup(table(), site) is not None
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with closing(opened(tmp_path)) as ledger:
        assert "cannot be used" in ledger.note and "locked" in ledger.note
        assert ledger.lookup(table(), site) is None
        ledger.record(table(), site, survived())
        assert ledger.lookup(table(), site) is not None  # in memory
    other.close()


def test_a_file_that_is_lost_meanwhile_gives_no_evidence(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refute.ledger.file._BUSY_S", 0.0)
    with closing(opened(tmp_path)) as ledger:
        ledger.record(table(), site, survived())
        assert ledger.path is not None
        other = sqlite3.connect(ledger.path, isolation_level=None)
        other.execute("DROP TABLE row")
        other.close()
        assert ledger.lookup(table(), site) is None and "could not be read" in ledger.note


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    read_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(LedgerError, match="read by others"):
        read_key(tmp_path / "key")
    (tmp_path / "short").write_bytes(b"x")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(LedgerError, match="1 bytes"):
        read_key(tmp_path / "short")


def test_a_key_that_cannot_be_kept_serves_one_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    key = read_key(tmp_path / "file/key")
    assert (
        not key.lasting
        and key.authentic([1], key.mac([1]))
        and not key.authentic([2], key.mac([1]))
    )
    assert read_key(tmp_path / "key").seed("a") == read_key(tmp_path / "key").seed("a")
    assert read_key(tmp_path / "key").seed("a") != read_key(tmp_path / "other").seed("a")


_WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from refute.ledger.store import open_ledger
book = open_ledger(Path(sys.argv[1]), key=Path(sys.argv[2]))
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    book.put_fact("n", f"{sys.argv[4]}{number}", number)
    print(number, flush=True)
"""


def writer(tmp_path: Path, rows: int, name: str) -> subprocess.Popen[str]:
    arguments = [str(tmp_path / "l/ledger.db"), str(tmp_path / "key"), str(rows), name]
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    both = [writer(tmp_path, 40, name) for name in "ab"]
    assert [process.communicate()[1] for process in both] == [None, None]
    assert [process.returncode for process in both] == [0, 0]
    ledger = opened(tmp_path)
    assert all(ledger.fact("n", f"{name}{n}") == n for name in "ab" for n in range(40))


def test_killed_at_any_moment_it_keeps_what_was_written(tmp_path: Path) -> None:
    process = writer(tmp_path, 100_000, "a")
    assert process.stdout is not None
    written = -1
    for line in process.stdout:
        written = int(line) if line.strip().isdigit() else written
        if written >= 20:
            process.send_signal(signal.SIGKILL)
            break
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    last = max([written, *(int(n) for n in rest.split("\n")[:-1] if n.isdigit())])
    ledger = opened(tmp_path)
    assert all(ledger.fact("n", f"a{n}") == n for n in range(last + 1))
