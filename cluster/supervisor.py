"""Decides nothing: starts a cluster, looks at it, asks the policy, does what that says, and cleans up."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from locust_agents.cluster import health, launching, logs, ports
from locust_agents.cluster.address import base_url
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.command import LaunchSpec, launch_command
from locust_agents.cluster.crew import Crew, ProcessRecord
from locust_agents.cluster.policy import Action, Health, Kind, Observation, Phase, State, TurnResult, decide
from locust_agents.cluster.process import Guardian
from locust_agents.cluster.remote.ranks import ssh_names
from locust_agents.cluster.vitals.look import hosts_of
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.errors import ClusterError
from locust_agents.telling import Note, Say

MODEL_NAME = "default_model"
"""The one model string that makes mlx_lm.server neither drain its batch nor load weights again."""

DEFAULT_STEP = 2048
"""mlx_lm.server's --prefill-step-size when it is not given (mlx-lm 0.32.2)."""

TICK_S = 0.25


class Cluster:
    """A server that we started. Whoever holds one calls `stop`; when they cannot, the guardian ends it."""

    def __init__(self, spec: LaunchSpec, port: int, folder: Path, note: Note, epoch: int) -> None:
        self.url = base_url(spec, port)
        self.epoch = epoch
        self.model: str | None = None
        self.benchmark: Result | None = None
        self.culprit: int | None = None
        """The rank whose log says most about the failure; None is the launcher."""
        self._port = port
        self.ranks = spec.ranks
        self._folder = folder
        self._note = note
        self._state = State(Phase.LOADING, time.monotonic(), spec.ready_s)
        self._gives_way = spec.gives_way
        self._guardian: Guardian | None = None
        self._crew = Crew(folder, ssh_names(spec), note)
        self._has_listened = False
        self._health = Health.SILENT
        self._next_health_s = 0.0
        self._failure: str | None = None
        self._unsure: list[str] | None = None

    def failure(self) -> str | None:
        """What ended this server, with exit code or signal, in one sentence; None while it lives.

        Looks at processes and logs, never at the network: to be asked once a second while turns run.
        """
        if self._failure is None and self._unsure is None:
            action = self._look(Health.SILENT, None)
            if action.kind is Kind.GIVE_UP:
                self._failure = f"{self._what(action)}; its log is {self.log_path(action.rank)}"
        return self._failure

    def processes(self) -> list[ProcessRecord]:
        """Guardian, launcher and the ranks, those that have ended too."""
        return self._crew.records()

    def hosts(self) -> list[Host]:
        """Where its ranks run, as far as they were met."""
        return hosts_of(self.processes(), self.runs())

    def logs(self) -> dict[int, Path]:
        """The logs that are on this machine, by rank."""
        own = {rank: logs.rank_log(self._folder, rank) for rank in range(self.ranks)}
        return {rank: path for rank, path in own.items() if path.exists()}

    def runs(self) -> dict[str, Callable[[str], str]]:
        """For each other host, as `processes` names it, what runs a command there over ssh; raises ClusterError."""
        return self._crew.runs()

    def log_path(self, rank: int | None) -> Path:
        """The log of a rank or, for None and for a rank on another machine, of the launcher."""
        own = None if rank is None else logs.rank_log(self._folder, rank)
        return own if own and own.exists() else self._folder / "launcher.log"

    def log_tail(self, rank: int | None) -> tuple[str, ...]:
        """The last lines of that log, oldest first."""
        return logs.last_lines(self.log_path(rank))

    def stop(self) -> list[str]:
        """Ends all that was started and checks it; one sentence for each thing that could not be made sure of."""
        if self._unsure is None:
            began_s = time.monotonic()
            if self._guardian:
                self._guardian.stop()
                self._crew.end()
            self._unsure = [*self._crew.make_sure(), *self._port_held()]
            self._note("stop", {"seconds": _since(began_s), "unsure": self._unsure})
        return list(self._unsure)

    def _launch(self, argv: tuple[str, ...], starting_port: int) -> None:
        for rank in range(self.ranks):
            own = logs.rank_log(self._folder, rank)
            own.unlink(missing_ok=True)  # what an earlier start wrote would be taken for this one's
        self._guardian = guardian = Guardian(self._folder / "guardian.log")
        self._crew.meet(guardian.pid, "guardian")
        guardian.launch(argv, self.log_path(None), self._gives_way)
        launcher = guardian.launched(argv[0])
        self._crew.meet(launcher, "launcher")
        ports_taken = {"port": self._port, "starting_port": starting_port}
        self._note(
            "launch",
            {
                "argv": argv,
                **ports_taken,
                "epoch": self.epoch,
                "launcher": launcher,
                "gives_way": self._gives_way,
            },
        )

    def _look(self, health_now: Health, turn: TurnResult | None) -> Action:
        """Observes the processes and their logs, and asks the policy."""
        assert self._guardian is not None
        self._crew.meet_ranks(self.ranks)
        alive = self._guardian.alive  # before its reports are read: once dead it writes no more
        exited = self._guardian.report("exited")
        seen = Observation(
            guardian_alive=alive,
            launcher_exit=int(str(exited["code"])) if exited else None,
            exits=logs.exits(self._folder, self.log_path(None)),
            missing=self._crew.missing(),
            unreachable=self._crew.unreachable(),
            port_taken=not self._has_listened and logs.port_taken(self.log_path(0)),
            health=health_now,
            turn=turn,
        )
        self._state, action = decide(self._state, seen, time.monotonic())
        if action.kind is Kind.GIVE_UP:
            self.culprit = action.rank
            self._note("death", {"what": action.text, "rank": action.rank, "tail": self.log_tail(action.rank)})
        return action

    def _ask_health(self) -> Health:
        """At most once a second from when it answers. SILENT until it is rank 0 that listens, not another server."""
        if time.monotonic() < self._next_health_s:
            return self._health
        if self._crew.serves(self._port):
            self._has_listened = True
            self._health = health.health(self.url, timeout_s=1.0)
            self._next_health_s = time.monotonic() + 1.0
        return self._health

    def _progress(self) -> str:
        doing = "starts" if self._state.phase is Phase.LOADING else "loads and takes its first turn"
        line = logs.useful_line(self.log_path(0))
        return f"the server {doing}, {_since(self._state.started_s):.0f} s" + (f": {line}" if line else "")

    def _never_ready(self, action: Action) -> ClusterError:
        where = f"its log is {self.log_path(action.rank)}"
        text = f"the server did not start, {self._what(action)}: {action.advice}; {where}"
        return ClusterError(text, self.log_tail(action.rank))

    def _what(self, action: Action) -> str:
        cause = logs.cause(self.log_path(action.rank))
        return f"{action.text} ({cause})" if cause else action.text

    def _port_held(self) -> Iterator[str]:
        patience_s = time.monotonic() + 2.0
        while self._has_listened and self._crew.rank(0) and not ports.port_is_free(self._port):
            if time.monotonic() > patience_s:
                yield f"port {self._port} is still held by {ports.holder(self._port) or 'a process hidden from us'}"
                return
            time.sleep(0.05)


def start(
    spec: LaunchSpec,
    model: Path | str,
    folder: Path,
    say: Say,
    note: Note,
    epoch: int = 1,
) -> Cluster:
    """Starts a server and returns when it has answered a turn; raises ClusterError. When it raises, nothing is left.

    Logs and processes.json go to `folder`; `say` gets a progress line once a second, `note` what cluster.jsonl keeps.
    """
    if isinstance(model, Path) and not (model / "config.json").is_file():
        raise ClusterError(f"there is no model in {model} (no config.json): correct the model's folder")
    port, starting_port = launching.chosen_ports(spec)
    argv = launch_command(spec, model, port, starting_port, folder)
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(spec, port, folder, note, epoch)
    try:
        cluster._launch(argv, starting_port)
        turn = _until_ready(cluster, spec, say)
    except BaseException:  # an interrupt, or the end of our greenlet, must not leave a server behind either
        cluster.stop()
        raise
    note("ready", {"seconds": _since(cluster._state.started_s), "prompt_tokens": turn.prompt_tokens, "epoch": epoch})
    return cluster


def _until_ready(cluster: Cluster, spec: LaunchSpec, say: Say) -> TurnResult:
    turn: Iterator[TurnResult | None] | None = None
    result: TurnResult | None = None
    next_say_s = 0.0
    while True:
        action = cluster._look(cluster._ask_health(), result)
        if action.kind is Kind.GIVE_UP:
            raise cluster._never_ready(action)
        if action.kind is Kind.BE_READY and result:
            return result
        if action.kind is Kind.TRY_TURN:
            step = int(spec.options.get("prefill-step-size") or DEFAULT_STEP)
            turn = health.ready_turn(cluster.url, MODEL_NAME, step, spec.ready_s, TICK_S)
        if time.monotonic() >= next_say_s:
            say(cluster._progress())
            next_say_s = time.monotonic() + 1.0
        if turn and not result:
            result = next(turn)
        else:
            time.sleep(TICK_S)


def _since(began_s: float) -> float:
    return round(time.monotonic() - began_s, 3)
