"""Replays of cases: fresh workers, a new recording, and every device call answered by the parent.

Nothing of the search is trusted here: not its images, not the device that ran next to the subject.
The image of the crash is built from the new recording at the same point and is recovered by a
process that ran nothing before.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute import plain
from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError
from refute.oracles.device import Event, RecordingDevice
from refute.plain import Plain
from refute.replay import Counterexample, Playback
from refute.site import Site
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.judge import Seen, Story, tree_problems
from refute.verifiers.crash.model import HARNESS
from refute.verifiers.crash.nested import log_events
from refute.verifiers.crash.recording import Base, Recorder, Run, error_text
from refute.verifiers.crash.recovery import Recovered
from refute.verifiers.crash.states import Crash, image, possible
from refute.verifiers.crash.subject import Subject


class CrashReplayer:
    """Plays the cases of one claim."""

    def __init__(self, claim: Claim, site: Site, budget: Budget) -> None:
        self._claim = claim
        self._site = site
        self._budget = budget

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play the case once, in workers of its own."""
        try:
            case = Case.from_plain(counterexample.inputs)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return Playback(False, error=f"not a case of crash exploration: {error!r}")
        return self.play_case(case, hash_seed)

    def play_case(self, case: Case, hash_seed: int = 0) -> Playback:
        """As `play`."""
        try:
            with Subject(self._claim, self._site, self._budget, hash_seed) as subject:
                subject.check_loads()
                return _Play(subject).play(case)
        except RefuteError as error:
            return Playback(False, error=str(error))


class _Play:
    """One play of one case."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def play(self, case: Case) -> Playback:
        formatted, empty = self._subject.empty()
        if formatted.error or formatted.broken:
            return Playback(True, {"format": formatted.text()})
        if case.first is not None:
            return self._leak(case, case.first, empty)
        base = self._base(case, empty)
        if base is None:
            return Playback(False, {"setup": "does not work"})
        if base is not empty:
            self._subject.recorder.close()
        story = self._record(case, base)
        output: dict[str, Plain] = {"results": [r.text() for r in story.run.results]}
        if case.crash is None:
            violations = self._subject.judge.live(story)
            output["live"] = story.run.live.broken or plain.digest_any(story.run.live.value)
            return Playback(any(v.property == case.property for v in violations), output)
        return self._crash(case, case.crash, story, output)

    def _base(self, case: Case, empty: Base) -> Base | None:
        if case.prior is not None:
            return self._after_crash(case.prior, empty)
        if not case.setup:
            return empty
        return self._subject.start(
            "setup", self._subject.recorder.record(empty, case.setup, reads=True)
        )

    def _after_crash(self, prior: Case, empty: Base) -> Base | None:
        """The image of the prior case's crash; None when its own recovery is wrong."""
        base = self._base(prior, empty)
        if base is None or prior.crash is None:
            return None
        self._subject.recorder.close()
        story = self._record(prior, base)
        if not self._possible(story.run.events, prior.crash):
            return None
        seen = self.recover(after(base.blocks, story.run, prior.crash))[0].seen
        return self._subject.crashed("crash", story, prior.crash, seen)

    def _record(self, case: Case, base: Base) -> Story:
        run = self._subject.recorder.record(base, case.operations, case.fault, case.watch, True)
        return self._subject.judge.story(run)

    def _crash(self, case: Case, crash: Crash, story: Story, output: dict[str, Plain]) -> Playback:
        run, judge = story.run, self._subject.judge
        if not self._possible(run.events, crash):
            return Playback(False, {**output, "events": len(run.events)})
        blocks = after(run.base.blocks, run, crash)
        first, recovered_blocks = self.recover(blocks)
        output["recovered"] = first.seen.key or first.seen.failure
        if case.again is not None:
            events = log_events(first.log)
            if not self._possible(events, case.again):
                return Playback(False, {**output, "events": len(events)})
            delta = image(blocks, events, case.again)
            second, final = self.recover([delta.get(n, b) for n, b in enumerate(blocks)])
            output["again"] = second.seen.key or second.seen.failure
            again = case.again
            whole = again.point == len(events) and not again.lost and again.torn is None
            problems = self.problems(second, final)
            found = judge.nested(story, crash.point, first.seen, second.seen, whole, problems)
            return Playback(found is not None and case.property == "recovery", output)
        problems = self.problems(first, recovered_blocks)
        output["problems"] = problems
        if case.fault is None:
            broken = {v.property for v in judge.crash(story, crash.point, first.seen)}
            broken |= {"structure"} if problems else set()
        else:
            broken = {v.property for v in judge.faulted(story, first.seen)}
            broken |= {"errors"} if problems else set()
        return Playback(case.property in broken, output)

    def _possible(self, events: Sequence[Event], crash: Crash) -> bool:
        return possible(events, crash, self._subject.configuration.persistence == "block")

    def recover(self, blocks: Sequence[bytes]) -> tuple[Recovered, list[bytes]]:
        """Recover the image in a process that did nothing before; and the image afterwards."""
        recorder = self._fresh()
        try:
            return recover_with(recorder, blocks, self._subject.configuration.block_size)
        finally:
            recorder.close()

    def problems(self, recovered: Recovered, blocks: Sequence[bytes]) -> str:
        """What the spec's check, and the view itself, say of the structure after a recovery."""
        configuration = self._subject.configuration
        if not recovered.seen.mounted:
            return ""
        found: list[str] = []
        if configuration.structure:
            size = configuration.block_size
            outcome = self._subject.spec_worker().call(
                f"{HARNESS}:problems", configuration.structure, b"".join(blocks), size, [], [[]]
            )
            if outcome.kind != "returned":
                raise RefuteError(f"the structure check failed: {outcome.error} {outcome.message}")
            found = outcome.value[0]
        if not found and configuration.filesystem and not recovered.seen.failure:
            found = tree_problems(recovered.seen.view)
        return "; ".join(found[:3])

    def _leak(self, case: Case, first: Case, empty: Base) -> Playback:
        """Whether playing another case before this one in the same process changes the outcome."""
        alone, together = self._fresh(), self._fresh()
        try:
            if case.crash is None:
                one = alone.record(empty, case.operations, reads=True)
                together.record(empty, first.operations, reads=True)
                two = together.record(empty, case.operations, reads=True)
                results: list[Plain] = [_run_digest(one), _run_digest(two)]
            else:
                images = [self._image_of(c, empty) for c in (first, case)]
                size = self._subject.configuration.block_size
                only = recover_with(alone, images[1], size)[0]
                recover_with(together, images[0], size)
                then = recover_with(together, images[1], size)[0]
                results = [(r.seen.key, r.seen.mounted) for r in (only, then)]
        finally:
            alone.close()
            together.close()
        return Playback(not plain.same(results[0], results[1]), plain.digest_any(results))

    def _image_of(self, case: Case, empty: Base) -> list[bytes]:
        base = self._base(case, empty) or empty
        self._subject.recorder.close()
        run = self._subject.recorder.record(base, case.operations, case.fault, case.watch, True)
        crash = case.crash or Crash(len(run.events))
        blocks = after(base.blocks, run, crash)
        if case.again is None:
            return blocks
        log = log_events(self.recover(blocks)[0].log)
        delta = image(blocks, log, case.again)
        return [delta.get(n, b) for n, b in enumerate(blocks)]

    def _fresh(self) -> Recorder:
        subject = self._subject
        return Recorder(subject.name, subject.configuration, subject.open_worker)


def _run_digest(run: Run) -> str:
    return plain.digest_any([run.digest(), run.live.value, run.live.error, run.live.broken])


def after(base: Sequence[bytes], run: Run, crash: Crash) -> list[bytes]:
    """The whole image after a crash of the run."""
    delta = image(base, run.events[: crash.point], crash)
    return [delta.get(number, block) for number, block in enumerate(base)]


def recover_with(
    recorder: Recorder, blocks: Sequence[bytes], block_size: int
) -> tuple[Recovered, list[bytes]]:
    """Recover the image with the recorder's worker over the parent's device."""
    device = RecordingDevice(blocks, block_size)
    handle, mounted = recorder.mount(device, reads=True)
    log = tuple((e.block, e.data) for e in device.events)
    if handle is None:
        what = error_text(mounted.error) if mounted.error else mounted.broken
        recorder.close()
        seen = Seen(failure=f"mount failed: {what}", mounted=False)
        return Recovered(seen, log), device.blocks
    final = list(device.blocks)
    live = recorder.view(handle)
    if live.error or live.broken:
        what = error_text(live.error) if live.error else live.broken
        return Recovered(Seen(failure=f"the view cannot be read: {what}"), log), final
    return Recovered(Seen(plain.digest_any(live.value), live.value), log), final
