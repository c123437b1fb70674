"""Decides how far a running benchmark is, whether it failed and why, and that nothing of it is left."""

import time
from dataclasses import dataclass
from pathlib import Path

from locust_agents.cluster import logs, policy
from locust_agents.cluster.benchmark.output import Progress, Reader, Result
from locust_agents.cluster.crew import Crew
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.process import Guardian
from locust_agents.cluster.remote.ranks import ssh_names
from locust_agents.errors import ClusterError
from locust_agents.telling import Note, Say

_TICK_S = 0.2
_SAY_S = 1.0
# With its result printed it has nothing to do but end; ranks that are ended from outside may upset RDMA.
_END_S = 10.0


@dataclass(frozen=True, slots=True)
class Ask:
    """What the benchmark is to measure: prompts of random tokens, so many at once, and so many trials after a warm-up.

    The prefill step and pipeline are the launch's own.
    """

    prompt_tokens: int = 8192
    generation_tokens: int = 128
    batch: int = 1
    trials: int = 3


class Job:
    """One benchmark, from its launch to its last process."""

    def __init__(self, spec: LaunchSpec, place: Path, note: Note) -> None:
        self._spec = spec
        self._place = place
        self._crew = Crew(place, ssh_names(spec), note)
        self._guardian: Guardian | None = None
        self._reader = Reader()
        self._launcher_log = place / "launcher.log"
        self._log = self._launcher_log
        self._read_bytes = 0

    def launch(self, argv: tuple[str, ...]) -> None:
        """Returns when mlx.launch runs."""
        for rank in range(self._spec.ranks):
            logs.rank_log(self._place, rank).unlink(missing_ok=True)
        self._guardian = guardian = Guardian(self._place / "guardian.log")
        self._crew.meet(guardian.pid, "guardian")
        guardian.launch(argv, self._launcher_log, self._spec.gives_way)
        self._crew.meet(guardian.launched(argv[0]), "launcher")

    def wait(self, ask: Ask, say: Say) -> Result:
        """Until the averages are there; they are what tells success, since mlx.launch exits 0 whatever happened."""
        assert self._guardian is not None
        began_s = moved_s = time.monotonic()
        next_say_s = 0.0
        while True:
            # before the log is read: after the end nothing is written any more
            has_ended = not self._guardian.alive or self._guardian.report("exited") is not None
            self._crew.meet_ranks(self._spec.ranks)
            if self._look():
                moved_s = time.monotonic()
            if (result := self._reader.result) is not None:
                return result
            if has_ended:
                raise self._failure("ended without a result")
            if time.monotonic() - moved_s > self._spec.ready_s:
                raise self._failure(f"said nothing for {self._spec.ready_s:g} s (server.ready gives it longer)")
            if time.monotonic() >= next_say_s:
                say(_doing(self._reader.progress, ask, time.monotonic() - began_s))
                next_say_s = time.monotonic() + _SAY_S
            time.sleep(_TICK_S)

    def let_end(self) -> None:
        """Gives it time to end by itself."""
        until_s = time.monotonic() + _END_S
        while self._guardian is not None and self._guardian.alive and time.monotonic() < until_s:
            time.sleep(_TICK_S / 4)

    def stop(self) -> list[str]:
        """Ends what still runs, on all hosts; a sentence for each process that could not be made sure of."""
        if self._guardian is None:
            return []
        self._guardian.stop()
        self._crew.end()
        return self._crew.make_sure()

    def _look(self) -> bool:
        """Reads what is new of rank 0's output; whether it said how far it is."""
        if (log := self._rank_0_log()) != self._log:
            self._log, self._read_bytes = log, 0
        if not log.is_file():
            return False
        with log.open("rb") as output:
            output.seek(self._read_bytes)
            data = output.read()
        self._read_bytes += len(data)
        return self._reader.feed(data)

    def _rank_0_log(self) -> Path:
        """Its own file where it sees this folder, else the launcher's stream: only rank 0 prints figures."""
        own = logs.rank_log(self._place, 0)
        return own if own.is_file() else self._launcher_log

    def _failure(self, what: str) -> ClusterError:
        exits = logs.exits(self._place, self._launcher_log)
        guilty = policy.guilty(exits)
        own = () if guilty is None else (logs.rank_log(self._place, guilty.rank),)
        written = [log for log in (*own, self._rank_0_log(), self._launcher_log) if log.is_file()]
        log = next((log for log in written if logs.cause(log)), next(iter(written), self._launcher_log))
        who = "" if guilty is None else f", rank {guilty.rank} {_how(guilty.code)}"
        cause = logs.cause(log)
        return ClusterError(
            f"mlx_lm benchmark {what}{who}{f' ({cause})' if cause else ''}: read {log}, or take out `probe:`",
            logs.last_lines(log),
        )


def _how(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"


def _doing(progress: Progress, ask: Ask, elapsed_s: float) -> str:
    trials = f"trial {min(len(progress.trials) + 1, ask.trials)} of {ask.trials}"
    doing = {"loading": "loads", "warming": "warms up", "timing": trials}[progress.phase]
    last = f", the last one {progress.trials[-1].prompt_tps:.0f} prompt tokens/s" if progress.trials else ""
    return f"mlx_lm benchmark, {elapsed_s:.0f} s: {doing}{last}"
