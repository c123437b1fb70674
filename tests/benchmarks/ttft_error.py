"""How wrong a first-token time is: what the record says minus the server's own stamp of that send."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import gevent

from locust_agents.answers.stream import StreamReader
from locust_agents.cluster.replay import Framing, ReplayServer
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.records import TurnRecord
from tests.benchmarks import bare, payload, printed, product
from tests.benchmarks.payload import Load

_WANTED = 200
_LIMIT_S = 8.0
# Seconds of a stream, short where few streams would give few first tokens.
_LENGTH_S = {1: 0.1, 16: 0.6, 50: 1.5, 200: 3.0}
_GAPS_S = (0.02, 0.2)
_FRAMINGS: tuple[Framing, ...] = ("until_close", "chunked")
_NAMES = {"until_close": "HTTP/1.0", "chunked": "chunked"}
_GOALS = {(50, 0.5): 0.5, (50, 0.99): 2.0, (200, 0.99): 4.0}


@dataclass(frozen=True, slots=True)
class Errors:
    """Seconds by which tokens were seen too late: first ones, and all."""

    first_s: Sequence[float]
    all_s: Sequence[float]


class TimedReader(StreamReader):
    """Also keeps how many tokens each read brought, and when."""

    def __init__(self) -> None:
        super().__init__()
        # arrays: a list of tuples would be work for the garbage collector, and so for what is measured
        self.read_s = array("d")
        self.tokens = array("l")

    def feed(self, data: bytes, at_s: float) -> None:
        super().feed(data, at_s)
        self.read_s.append(at_s)
        self.tokens.append(len(self.answer.content))


class TimedSwarm(Swarm):
    """Keeps each turn's record beside the perf_counter value of its start."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first_tokens = 0
        self.turns: list[tuple[float, TimedReader, TurnRecord]] = []

    def opened(self, turn: OpenTurn) -> None:
        turn.exchange.reader = TimedReader()
        super().opened(turn)

    def ended(self, exchange: Exchange, record: TurnRecord) -> TurnRecord:
        kept = super().ended(exchange, record)
        assert isinstance(exchange.reader, TimedReader)
        self.turns.append((exchange.started, exchange.reader, record))
        return kept


def main() -> None:
    """Prints the table, a row for each load as it is measured."""
    loads = [
        Load(streams, max(2, round(_LENGTH_S[streams] / gap_s)), gap_s, framing)
        for gap_s in _GAPS_S
        for framing in _FRAMINGS
        for streams in _LENGTH_S
    ]
    rows = [_row("product", load, measure(load)) for load in loads]
    rows += [_row("bare socket", load, measure_bare(load)) for load in loads[:4] if load.streams >= 50]
    printed.table(
        "TTFT error (record minus the server's stamp, ms)",
        f"up to {_WANTED} first tokens a row, each amid all the other streams; the bare socket for scale",
        ["reader", "framing", "gap", "streams", "n", "p50", "p95", "p99", "max", "all: n", "p50", "p99", "max", "goal"],
        rows,
    )


def measure(load: Load) -> Errors:
    """The errors of the product under a load."""
    with (
        ReplayServer(payload.rolling(load), stamp=True) as server,
        product.running(server.url, load.streams, swarm_class=TimedSwarm) as swarm,
    ):
        assert isinstance(swarm, TimedSwarm)
        full = perf_counter() + (load.length_s if load.streams > 1 else 0.0)
        product.wait_until(lambda: _seen(swarm, full) >= _WANTED, full - perf_counter() + _LIMIT_S)
        end = perf_counter()
    return _errors(swarm, full, end)


def measure_bare(load: Load) -> Errors:
    """The first-token errors of bare gevent sockets under the same load."""
    firsts: list[bare.BareStream] = []
    end = perf_counter() + (1.2 + _WANTED / load.streams) * load.length_s

    def one_after_another(url: str) -> None:
        while perf_counter() < end:
            firsts.append(bare.read(url))

    with ReplayServer(payload.rolling(load), stamp=True) as server:
        full = perf_counter() + load.length_s
        gevent.joinall([gevent.spawn(one_after_another, server.url) for _ in range(load.streams)], raise_error=True)
    return Errors([stream.first_error_s for stream in firsts if stream.first_at >= full], ())


def _seen(swarm: TimedSwarm, full: float) -> int:
    """First tokens so far, of turns that began when all streams ran."""
    ended = sum(started >= full for started, _, _ in swarm.turns)
    exchanges = (turn.exchange for turn in swarm.open.values())
    return ended + sum(exchange.started >= full and exchange.answer.chunks > 0 for exchange in exchanges)


def _errors(swarm: TimedSwarm, full: float, end: float) -> Errors:
    """Of the turns that began when all streams ran, as far as they had come when the first one was cut."""
    first_s, all_s = [], []
    for started, reader, record in swarm.turns:
        stamps = [int(text) / 1e9 for text in reader.answer.content]
        if started < full or record.first_token_s is None or started + record.first_token_s > end:
            continue
        first_s.append(started + record.first_token_s - stamps[0])
        seen = 0
        for at_s, tokens in zip(reader.read_s, reader.tokens, strict=True):
            if started + at_s <= end:
                all_s += [started + at_s - stamp for stamp in stamps[seen:tokens]]
            seen = tokens
    return Errors(first_s, all_s)


def _row(reader: str, load: Load, errors: Errors) -> list[str]:
    cells = [reader, _NAMES[load.framing], f"{load.gap_s * 1000:.0f} ms", str(load.streams)]
    cells += [str(len(errors.first_s)), *_ms(errors.first_s, 0.5, 0.95, 0.99, 1.0)]
    cells += [str(len(errors.all_s)) if errors.all_s else "", *_ms(errors.all_s, 0.5, 0.99, 1.0)]
    return [*cells, _goal(load, errors) if reader == "product" else ""]


def _ms(values_s: Sequence[float], *shares: float) -> list[str]:
    return [f"{printed.quantile(values_s, share) * 1000:.2f}" if values_s else "" for share in shares]


def _goal(load: Load, errors: Errors) -> str:
    goals = {share: goal for (streams, share), goal in _GOALS.items() if streams == load.streams}
    words = []
    for share, goal_ms in goals.items():
        value_ms = printed.quantile(errors.first_s, share) * 1000
        words.append(f"p{share * 100:.0f} ≤ {goal_ms:g} ms {'met' if value_ms <= goal_ms else 'missed'}")
    return ", ".join(words)


if __name__ == "__main__":
    main()
