"""Reports of `refute conform` for people and CI: HTML, JUnit, annotations, whatever a run holds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from refute.cli.conform import run
from refute.report.conform import document, file_lines, summary
from refute.report.conform_annotations import annotations_text
from refute.report.conform_causes import cause_lines
from refute.report.conform_html import html_text
from refute.report.conform_junit import junit_text
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import Choice, ConformRun

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "refute" / "report" / "conform.schema.json").read_text()
)
HOSTILE = (
    "</script><script>alert(1)</script><!--<script>&amp;\x1b[2J\x00\u2028\ud800'\"⟦data⟧⟦head⟧"
)


def failed(line: int, sql: str = "SELECT 1", **fields: Any) -> Failure:
    made = Failure(line, sql, "1 value: 2", "1 value: 1", confirmed=True, kind="values")
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def cause(number: int, count: int, **fields: Any) -> SimpleNamespace:
    """As `conform_causes.Cause`."""
    made = SimpleNamespace(
        number=number, title="wrong values with LEFT JOIN", kind="values", count=count,
        reduced=1, located=0, by_signature=count - 1, files=1, places=["a.test:1", "b.test:2"],
        script="statement ok\nCREATE TABLE t(a)\n", statements=("CREATE TABLE t(a)", "SELECT 5"),
        expected="1 value: 5", got="no values", verified=True, oracle=True, note="", follow=0,
    )  # fmt: skip
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def of(*files: FileResult, **fields: Any) -> ConformRun:
    made = ConformRun(Choice("minidb:connect", "minidb", 1.0), len(files), list(files), wall_s=2.0)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


EVERY = of(
    FileResult(
        "a.test",
        run=10,
        failures=[
            failed(1, cause=1),
            failed(5, follows=1),
            failed(9, may_follow=1),
            failed(13, known="issue 12", listed="known.toml:3"),
            failed(17, listed="known.toml:9: listed, but nobody has reviewed it"),
            failed(21, updated=True),
        ],
    ),
    FileResult("b.test", run=3, wall_s=1.5),
    FileResult("c.test", error="c.test:1: unknown directive 'x'"),
    causes=SimpleNamespace(causes=[cause(1, 4)], unknown=2, ended="the budget was used up"),
)


class Page(HTMLParser):
    """What a page has: scripts, and the text and attributes of everything else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._inside: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._inside = dict(attrs) if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._inside is None:
            self.text += data
        else:
            self.scripts.append((self._inside, data))
            self._inside = None

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0][1])


def test_html_shows_causes_first_and_every_failure_with_its_state() -> None:
    page = Page(html_text(EVERY))
    assert page.text.index("1 cause of failure") < page.text.index("need JavaScript")
    assert "CREATE TABLE t(a)" in page.text
    assert "no cause was found for 2 failures" in page.text
    assert "UNREADABLE" in page.text
    assert [row[3] for row in page.data["failures"]] == [0, 2, 3, 1, 0, 4]
    assert page.data["failures"][1][8] == "follows from line 1"
    assert page.data["files"][2][5] == "c.test:1: unknown directive 'x'"
    assert [file[4] for file in page.data["files"]] == [1, 0, 0]


def test_html_needs_nothing_from_elsewhere() -> None:
    text = html_text(EVERY)
    assert not re.search(r"(?:https?:)?//\w|url\(|@import", text)
    page = Page(text)
    assert "link" not in page.tags and "img" not in page.tags and "iframe" not in page.tags
    assert not [n for n, _ in page.attributes if n in ("src", "srcset") or n.startswith("on")]
    assert "default-src 'none'" in dict(page.attributes)["content"] or "default-src 'none'" in text
    assert "innerHTML" not in text and "document.write" not in text


def test_nothing_of_a_run_becomes_markup() -> None:
    hostile = of(
        FileResult(
            f"{HOSTILE}.test",
            run=1,
            failures=[failed(1, HOSTILE, expected=HOSTILE, got=HOSTILE, known=HOSTILE)],
            unstable=HOSTILE,
        ),
        causes=SimpleNamespace(
            causes=[cause(1, 1, title=HOSTILE, script=HOSTILE, places=[HOSTILE], got=HOSTILE)],
            unknown=0,
            ended=HOSTILE,
        ),
    )
    text = html_text(hostile)
    page, plain = Page(text), Page(html_text(EVERY))
    assert len(page.scripts) == len(plain.scripts) == 2
    assert page.scripts[1] == plain.scripts[1]
    assert "\x1b" not in text and "\x00" not in text
    text.encode()
    [row] = page.data["failures"]
    assert row[5] == HOSTILE.replace("\x1b", r"\x1b").replace("\x00", r"\x00").replace(
        "\u2028", "\n"
    ).replace("\ud800", r"\ud800")
    shown = Page(text).text
    assert "</script><script>alert(1)</script>" in shown
    ElementTree.fromstring(junit_text(hostile))
    assert "\x1b" not in summary(hostile) and "\x1b" not in annotations_text(hostile)
    assert len(annotations_text(hostile).splitlines()) == 1  # the failure is known
    assert all(line.isprintable() for line in file_lines(hostile.files[0]))


def test_a_hundred_thousand_failures_stay_small() -> None:
    sql = "SELECT a, b FROM t WHERE a < 1 AND b < 2 " * 10
    files = [
        FileResult(
            f"directory/file{i}.test", run=1000, failures=[failed(j, sql) for j in range(500)]
        )
        for i in range(210)
    ]
    text = html_text(of(*files))
    assert len(text.encode()) < 20_000_000
    data = json.loads(text.partition(' id="data">')[2].partition("</script>")[0])
    assert (len(data["failures"]), data["left"]) == (100_000, 5_000)
    assert all(len(row[5]) >= 20 for row in data["failures"][::997])


def test_long_texts_of_few_failures_are_whole() -> None:
    sql = "SELECT <" * 400
    [row] = Page(html_text(of(FileResult("a", run=1, failures=[failed(1, sql[:600])])))).data[
        "failures"
    ]
    assert row[5] == sql[:600]
    [row] = Page(html_text(of(FileResult("a", run=1, failures=[failed(1, sql)])))).data["failures"]
    assert row[5].endswith("…")


DOM = """
const made = {};
function node(name) {
  return { name, children: [], value: "", listeners: {}, hidden: false, textContent: "",
    append(...all) { this.children.push(...all); },
    replaceChildren(...all) { this.children = all; },
    addEventListener(what, run) { this.listeners[what] = run; } };
}
globalThis.document = {
  createElement: node,
  getElementById(id) { return made[id] || (made[id] = node(id)); },
};
document.getElementById("data").textContent = process.argv[2];
"""
PLAY = """
function say() {
  return [made.rows.children.length, made.count.textContent, made.page.textContent];
}
const out = [say()];
made.after.listeners.click(); made.after.listeners.click(); out.push(say());
made.text.value = "LINE1 "; made.text.listeners.input(); out.push(say());
made.text.value = ""; made.state.value = "1"; made.state.listeners.input(); out.push(say());
made.state.value = ""; made.file.value = "1"; made.file.listeners.input(); out.push(say());
out.push(made.state.children.map((o) => o.textContent));
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: apt-get install nodejs")
def test_filters_and_pages_of_the_html() -> None:
    files = [
        FileResult(
            "a.test", run=90, failures=[failed(i, f"SELECT line{i} ") for i in range(1, 71)]
        ),
        FileResult("b.test", run=9, failures=[failed(1, known="k"), failed(2, follows=1)]),
    ]
    page = Page(html_text(of(*files)))
    script = page.scripts[1][1]
    done = subprocess.run(
        ["node", "-e", DOM.replace("argv[2]", "argv[1]") + script + PLAY, page.scripts[0][1]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [
        [50, "72 of 72 failed records", "page 1 of 2"],
        [22, "72 of 72 failed records", "page 2 of 2"],
        [1, "1 of 72 failed records", "page 1 of 1"],
        [1, "1 of 72 failed records", "page 1 of 1"],
        [2, "2 of 72 failed records", "page 1 of 1"],
        ["all states", "new (70)", "known (1)", "follows (1)"],
    ]


def test_junit_has_a_suite_for_a_file_and_a_case_for_a_failure() -> None:
    top = ElementTree.fromstring(junit_text(EVERY))
    assert {n: top.get(n) for n in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "9", "failures": "4", "errors": "1", "skipped": "2", "time": "2.000",
    }  # fmt: skip
    suite = top[0]
    case = suite[1]
    assert (case.get("name"), case.get("file"), case.get("line")) == ("a.test:1", "a.test", "1")
    assert (case.get("classname"), case.get("time")) == ("a.test", "0.000")
    assert case[0].get("type") == "values"
    assert "SELECT 1" in (case[0].text or "")
    assert "follows from line 1" in (suite[2][0].text or "")
    assert suite[4].find("skipped") is not None
    assert top[1].get("time") == "1.500"


def test_a_list_that_is_out_of_date_is_an_error_in_junit() -> None:
    use = SimpleNamespace(
        path="known.toml", strict=True, stale=["known.toml:3: a.test:1 passes now"]
    )
    use.reasons = ["x"]
    made = of(FileResult("a.test", run=1), known=use)
    top = ElementTree.fromstring(junit_text(made))
    assert (top.get("errors"), top[1].get("name")) == ("1", "known.toml")
    assert annotations_text(made) == "::error file=known.toml,line=3::a.test:1 passes now\n"
    use.strict, use.reasons = False, []
    assert ElementTree.fromstring(junit_text(made)).get("errors") == "0"


def test_annotations_are_for_what_is_new() -> None:
    lines = annotations_text(EVERY).splitlines()
    assert [re.findall(r"file=([^,:]*)(?:,line=(\d+))?", line)[0] for line in lines] == [
        ("a.test", "1"), ("a.test", "9"), ("a.test", "17"), ("c.test", ""),
    ]  # fmt: skip
    assert lines[0].startswith("::error file=a.test,line=1,title=refute conform::expected 1 value")
    odd = of(FileResult("a,b:c%.test", run=1, failures=[failed(1, "SELECT '%\n::error ::x'")]))
    [line] = annotations_text(odd).splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25.test,line=1,")
    assert line.endswith(r"SELECT '%25\n::error ::x'")
    many = of(FileResult("a.test", run=99, failures=[failed(i) for i in range(1, 90)]))
    assert annotations_text(many).count("::error") == 50
    assert "39 more" in annotations_text(many)


def test_text_has_causes_before_the_counts_and_marks_what_follows() -> None:
    text = summary(EVERY)
    assert text.index("1. wrong values with LEFT JOIN: 4 failures (3 of them by what they use)") < (
        text.index("engine minidb:connect")
    )
    assert "no cause was found for 2 failures" in text
    told = "6 failed (of those 1 known, 1 follow from an earlier failure, 1 may follow from one"
    assert told in text
    few = file_lines(EVERY.files[0], most=3)
    assert [line.partition(": ")[0] for line in few[:3]] == ["a.test:1", "a.test:17", "a.test:21"]
    assert few[3:] == ["a.test: … and 2 more failed records", "a.test: 1 known failure"]


def test_what_an_engine_says_it_is_adds_no_line() -> None:
    said = [FileResult("a.test", run=1, version="1)\n\x1b[2KESTABLISHED\n")]
    lines = summary(ConformRun(Choice("cmd:it", "it", 1.0), 1, said)).splitlines()
    assert r"engine cmd:it (1)\n\x1b[2KESTABLISHED\n): 1 file" in lines[0]
    assert lines[2:] == ["ESTABLISHED"]


def test_json_of_everything_fits_its_schema() -> None:
    made = json.loads(json.dumps(document(EVERY)))
    jsonschema.validate(made, SCHEMA)
    assert made["causes"]["causes"][0]["oracle"] == "sqlite"
    assert [f["cause"] for f in made["files"][0]["failures"]][:2] == [1, None]
    for name in ("records", "causes", "files"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({k: v for k, v in made.items() if k != name}, SCHEMA)


def test_all_documents_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.test").write_text("query I\nSELECT 1\n----\n2\n")
    documents = ["--html", "o.html", "--junit", "o.xml", "--annotations", "o.txt", "--json", "o"]
    assert run(["a.test", *documents]) == 1
    assert run(["a.test", *documents]) == 1  # earlier documents may be written over
    assert Page(Path("o.html").read_text()).data["failures"][0][5] == "SELECT 1"
    assert Path("o.txt").read_text().startswith("::error file=a.test,line=1")


def test_why_a_cause_was_only_cut_down_and_what_may_follow_is_told_beside_it() -> None:
    found = [
        cause(1, 1, note="only the file says what is right"),
        cause(2, 3, by_signature=0, follow=1),
        cause(3, 5, follow=5, script="", statements=("SELECT <b>",)),
    ]
    run = of(FileResult("a.test"), causes=SimpleNamespace(causes=found, unknown=0, ended=""))
    lines = cause_lines(run)
    assert lines[0] == (
        "3 causes, most failures first, those that may follow from earlier failures last:"
    )
    assert lines[-1] == "  cause 1: only the file says what is right"
    heads = [line for line in lines if line.startswith(("  2.", "  3."))]
    assert "3 failures (1 may follow from earlier ones), a" in heads[0]
    assert "5 failures (4 of them by what they use; may follow from an earlier one)" in heads[1]
    page = html_text(run)
    assert "only the file says what is right" in page
    assert "SELECT &lt;b&gt;;" in page, "what cannot stand in a file is shown all the same"
    found[1].note = found[2].note = found[0].note
    assert cause_lines(run)[-1].startswith("  all of them: ")


def test_a_file_that_was_not_run_to_its_end_is_named_once() -> None:
    lost = [
        line
        for why in ("the engine is gone", "a.test:7: minidb has no second connection")
        for line in file_lines(FileResult("a.test", lost=why, not_run=1), 5)
    ]
    assert lost == [
        "a.test: the engine is gone; 1 record not run",
        "a.test:7: minidb has no second connection; 1 record not run",
    ]
