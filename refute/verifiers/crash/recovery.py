"""Recovery of crash states: each distinct image once, many in one call, in a process of their own.

The worker that recovers never ran the operations. Because many images share one process, a subject
could carry something from one to the next; so a share of the images is recovered again in another
worker, in reverse order, and any difference is itself a violation (recovery is not a function of
the image). The structure is checked by the project's own spec code in a third worker.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from refute import plain
from refute.oracles.device import Fingerprints
from refute.plain import Plain
from refute.sandbox import Outcome, Worker
from refute.specs.crash import Configuration
from refute.verifiers.crash.judge import Seen, tree_problems
from refute.verifiers.crash.model import HARNESS, ModelBroke
from refute.verifiers.crash.recording import Base, error_text

BATCH = 192
BATCH_TIMEOUT_S = 60.0
SINGLE_TIMEOUT_S = 10.0
SHARE = 16  # one image of so many is recovered twice

Delta = Mapping[int, bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery of an image gives. log: its writes as (block, data), block -1 for a flush.

    problems: what is wrong with the structure afterwards, "" when nothing is or nothing was asked.
    """

    seen: Seen
    log: tuple[tuple[int, bytes], ...] = ()
    problems: str = ""

    def same(self, other: Recovered) -> bool:
        """Whether recovery came to the same: the view, or that there is none.

        What it wrote may differ (a time of mounting, say), and so may the words of an error.
        """
        return (self.seen.key, self.seen.mounted) == (other.seen.key, other.seen.mounted)


class Recovery:
    """Recovers images by fingerprint. `ask`, then `settle`, then look into `results`."""

    def __init__(
        self,
        subject: str,
        configuration: Configuration,
        open_subject: Callable[[], Worker],
        spec_worker: Callable[[], Worker],
    ) -> None:
        self._subject = subject
        self._configuration = configuration
        self._open_subject = open_subject
        self._spec_worker = spec_worker
        self._workers: dict[str, Worker] = {}
        self._waiting: dict[int, tuple[Base, Delta]] = {}
        self._payloads: dict[bytes, bytes] = {}
        self._views: dict[str, tuple[Plain, str]] = {}
        self._checked: dict[int, str] = {}
        self._twice: list[tuple[int, Base, Delta]] = []
        self._closed_cpu_s = 0.0
        self.fingerprints = Fingerprints()
        self.results: dict[int, Recovered] = {}
        self.order: list[int] = []
        self.repeated = 0

    def spent(self) -> float:
        """CPU seconds of the workers so far."""
        return self._closed_cpu_s + sum(w.cpu_s for w in self._workers.values())

    def fingerprint(self, base: Base, delta: Delta) -> int:
        """Of the image that differs from `base` by `delta`."""
        return self.fingerprints.changed(base.blocks, base.fingerprint, delta)

    def ask(self, base: Base, delta: Delta, fingerprint: int) -> bool:
        """Have the image recovered at the next `settle`; whether it is new."""
        if fingerprint in self.results or fingerprint in self._waiting:
            return False
        self._waiting[fingerprint] = (base, delta)
        return True

    @property
    def full(self) -> bool:
        """Whether enough images wait for one batch."""
        return len(self._waiting) >= BATCH

    def settle(self) -> None:
        """Recover everything that waits."""
        waiting, self._waiting = self._waiting, {}
        bases: dict[str, tuple[Base, dict[int, Delta]]] = {}
        for fingerprint, (base, delta) in waiting.items():
            bases.setdefault(base.name, (base, {}))[1][fingerprint] = delta
        for base, deltas in bases.values():
            items = list(deltas.items())
            for start in range(0, len(items), BATCH):
                self._batch(base, dict(items[start : start + BATCH]))

    def again(self) -> tuple[int, Recovered] | None:
        """Recover a share of the images in a fresh worker, in reverse; the first that differs."""
        twice, self._twice = self._twice[::-1], []
        by_base: dict[str, list[tuple[int, Base, Delta]]] = {}
        for item in twice:
            by_base.setdefault(item[1].name, []).append(item)
        for items in by_base.values():
            self._close("again")
            for start in range(0, len(items), BATCH):
                part = items[start : start + BATCH]
                found = self._recovered("again", part[0][1], [delta for _, _, delta in part])
                self.repeated += len(part)
                for (fingerprint, _, _), recovered in zip(part, found, strict=True):
                    if not recovered.same(self.results[fingerprint]):
                        return fingerprint, recovered
        self._close("again")
        return None

    def matters(self, base: Base, first: Delta, then: Delta) -> bool:
        """Whether recovering `first` in the same process changes what recovery of `then` gives.

        Each is asked of a process that recovered nothing before.
        """
        alone = self._call("apart", base, [then], SINGLE_TIMEOUT_S, fresh=True)
        both = self._call("apart", base, [first, then], SINGLE_TIMEOUT_S, fresh=True)
        if alone.kind != "returned" or both.kind != "returned":
            return False
        return not self._unpack(alone.value)[-1].same(self._unpack(both.value)[-1])

    def close(self) -> None:
        """End the workers."""
        for role in list(self._workers):
            self._close(role)

    def _batch(self, base: Base, deltas: dict[int, Delta]) -> None:
        recovered = self._recovered("recover", base, list(deltas.values()))
        if self._configuration.structure or self._configuration.filesystem:
            recovered = self._structure(base, list(deltas.values()), recovered)
        for (fingerprint, delta), result in zip(deltas.items(), recovered, strict=True):
            self.results[fingerprint] = result
            self.order.append(fingerprint)
            if fingerprint % SHARE == 0 or len(self._twice) < 4:
                self._twice.append((fingerprint, base, delta))

    def _recovered(self, role: str, base: Base, deltas: Sequence[Delta]) -> list[Recovered]:
        outcome = self._call(role, base, deltas, BATCH_TIMEOUT_S)
        if outcome.kind != "returned":
            self._close(role)
            return [self._alone(role, base, delta) for delta in deltas]
        return self._unpack(outcome.value)

    def _alone(self, role: str, base: Base, delta: Delta) -> Recovered:
        outcome = self._call(role, base, [delta], SINGLE_TIMEOUT_S)
        if outcome.kind == "returned":
            return self._unpack(outcome.value)[0]
        if outcome.kind != "raised":
            self._close(role)
        text = f"recovery ended with {outcome.kind} {outcome.error} {outcome.detail}"
        return Recovered(Seen(failure=text[:160], mounted=False))

    def _call(
        self,
        role: str,
        base: Base,
        deltas: Sequence[Delta],
        timeout_s: float,
        fresh: bool = False,
    ) -> Outcome:
        payloads, states = packed(deltas)
        worker = self._worker(role)
        method = "" if self._configuration.filesystem else self._configuration.view
        return worker.call(
            f"{HARNESS}:recover",
            self._subject,
            method,
            b"".join(base.blocks),
            self._configuration.block_size,
            payloads,
            states,
            timeout_s=timeout_s,
            fresh=fresh,
        )

    def _unpack(self, value: Plain) -> list[Recovered]:
        try:
            payloads = [self._payloads.setdefault(data, data) for data in value["payloads"]]
            seen = [self._seen(view) for view in value["views"]]
            return [self._one(result, payloads, seen) for result in value["results"]]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelBroke(f"the reply of a recovery worker makes no sense: {error!r}") from error

    def _seen(self, view: Plain) -> Seen:
        key = plain.digest_any(view)
        return Seen(key, self._views.setdefault(key, (view, ""))[0])

    def _one(self, result: Plain, payloads: Sequence[bytes], seen: Sequence[Seen]) -> Recovered:
        place, failure, log = result
        writes = tuple((block, payloads[index]) for block, index in log)
        if failure is None:
            return Recovered(seen[place], writes)
        phase, kind, number, message = failure
        what = error_text(number) if number else kind.removeprefix("builtins.")
        verb = "mount failed" if phase == "mount" else "the view cannot be read"
        text = f"{verb}: {what} {message}".rstrip()
        return Recovered(Seen(failure=text, mounted=phase != "mount"), writes)

    def _structure(
        self, base: Base, deltas: Sequence[Delta], recovered: Sequence[Recovered]
    ) -> list[Recovered]:
        """The results with the problems of the structure that recovery leaves."""
        after: dict[int, Delta] = {}
        keys = []
        for delta, result in zip(deltas, recovered, strict=True):
            final = {**delta, **{b: data for b, data in result.log if b >= 0}}
            key = self.fingerprint(base, final)
            keys.append(key)
            if key not in self._checked and result.seen.mounted:
                after[key] = final
        if after:
            self._checked.update(self._check(base, after))
        return [
            dataclasses.replace(result, problems=self._problems(result, key))
            for result, key in zip(recovered, keys, strict=True)
        ]

    def _problems(self, result: Recovered, key: int) -> str:
        if not result.seen.mounted:
            return ""
        found = self._checked.get(key, "")
        if not found and self._configuration.filesystem and not result.seen.failure:
            found = "; ".join(tree_problems(result.seen.view)[:3])
        return found

    def _check(self, base: Base, images: Mapping[int, Delta]) -> dict[int, str]:
        if not self._configuration.structure:
            return dict.fromkeys(images, "")
        payloads, states = packed(images.values())
        worker = self._spec_worker()
        outcome = worker.call(
            f"{HARNESS}:problems",
            self._configuration.structure,
            b"".join(base.blocks),
            self._configuration.block_size,
            payloads,
            states,
            timeout_s=BATCH_TIMEOUT_S,
        )
        if outcome.kind != "returned":
            raise ModelBroke(
                f"the structure check {self._configuration.structure} failed:"
                f" {outcome.kind} {outcome.error} {outcome.message}".rstrip(),
                thing="structure",
            )
        texts = ["; ".join(str(p) for p in found[:3]) for found in outcome.value]
        return dict(zip(images, texts, strict=True))

    def _worker(self, role: str) -> Worker:
        if role not in self._workers:
            self._workers[role] = self._open_subject()
        return self._workers[role]

    def _close(self, role: str) -> None:
        worker = self._workers.pop(role, None)
        if worker is not None:
            worker.close()
            self._closed_cpu_s += worker.cpu_s


def packed(deltas: Iterable[Delta]) -> tuple[list[bytes], list[list[tuple[int, int]]]]:
    """Distinct blocks, and each delta as (block, index of its data)."""
    index: dict[bytes, int] = {}
    states = []
    for delta in deltas:
        states.append([(block, index.setdefault(d, len(index))) for block, d in delta.items()])
    return list(index), states
