"""How reuse, what was read again, thrown away or spared, and calls that were no good are said in the table."""

from collections.abc import Sequence

from locust_agents.figures import Wait
from locust_agents.misses.totals import Total
from locust_agents.quantities import WIDTH, count, counted, joined, seconds, share
from locust_agents.summary import Summary

_LABEL = 7


def lines(summary: Summary) -> list[str]:
    """Nothing of what did not happen."""
    return [
        *_labelled("reuse", _reuse(summary), ", "),
        *_labelled("wasted", _wasted(summary), ", "),
        *_labelled("capped", _capped(summary.capped), ", "),
    ]


def tool_calls(summary: Summary) -> list[str]:
    """How many, which of them were bad, and how often there should have been one."""
    kinds = ", ".join(f"{number} {kind}" for kind, number in summary.tool_call_kinds.items())
    bad = f"{summary.bad_tool_calls} bad{f': {kinds}' if kinds else ''}"
    missing = [f"no call in {share(summary.no_call)}"] if summary.no_call else []
    return [f"tool calls {summary.tool_calls} ({bad})", *missing]


def again(summary: Summary) -> list[str]:
    """Each cause of tokens that were read again, the most first; what was read for the first time is none."""
    return [_total(total, cause) for cause, total in summary.misses.items() if cause != "first"]


def _reuse(summary: Summary) -> list[str]:
    causes = again(summary)
    if summary.reuse is None:
        return [f"read again: {causes[0]}", *causes[1:]] if causes else []
    cached, possible = (share(part).removesuffix(" %") for part in summary.reuse)
    found = f"{cached} of {possible} % possible"
    return [f"{found}; read again: {causes[0]}", *causes[1:]] if causes else [found]


def _total(total: Total, cause: str) -> str:
    """Where it is not known how many tokens a turn cost, the turns say that there was something."""
    size = f"{count(total.tokens)} tokens" if total.tokens else counted(total.turns, "turn")
    return f"{size} {cause}{_priced(total)}"


def _wasted(summary: Summary) -> list[str]:
    by_profile = [f"{profile} {count(tokens)}" for profile, tokens in summary.wasted_prefill.items()]
    whole = f"{count(sum(summary.wasted_prefill.values()))} tokens prefilled for nobody"
    return [f"{whole}: {by_profile[0]}", *by_profile[1:]] if by_profile else []


def _capped(total: Total | None) -> list[str]:
    if total is None:
        return []
    turns = f"{counted(total.turns, 'turn')} not sent"
    return [f"{turns}: {count(total.tokens)} tokens spared{_priced(total)}"]


def _priced(total: Total) -> str:
    return "" if total.seconds is None else f" ({seconds(Wait(total.seconds))})"


def _labelled(word: str, parts: Sequence[str], between: str) -> list[str]:
    rows = joined(parts, between, WIDTH - _LABEL)
    return [f"{word if number == 0 else '':{_LABEL}}{row}" for number, row in enumerate(rows)]
