"""What an attempt's record says of the prompt cache: how much it could have held, and why it did not."""

from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.misses.causes import Miss
from locust_agents.misses.past import Attempted
from locust_agents.prompts import request
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.dialogue import Dialogue


def taken_at(exchange: Exchange) -> float | None:
    """When the server took the turn out of its queue, on the process's clock; headers that end a whole answer do not
    tell, its sending does."""
    since_s = exchange.headers_s if exchange.answer.is_streamed else exchange.sent_s
    return None if since_s is None else exchange.started + since_s


def expected_tokens(swarm: Swarm, dialogue: Dialogue | Branch, exchange: Exchange) -> int | None:
    """What the cache should have held of the prompt."""
    if dialogue.continued_tokens is not None:
        return dialogue.continued_tokens
    at_s = taken_at(exchange)
    return None if at_s is None else swarm.prefixes.shared(dialogue.preamble.starts, at_s)


def miss(
    swarm: Swarm, dialogue: Dialogue, kind: str, profile: str, exchange: Exchange, expected: int | None
) -> Miss | None:
    """As far as this process can tell."""
    answer, at_s, starts = exchange.answer, taken_at(exchange), dialogue.preamble.starts
    usage, session = answer.usage, dialogue.agent.session
    parts = () if dialogue.path == request.COMPLETIONS else dialogue.sent
    return dialogue.past.judge(
        Attempted(
            kind=kind,
            epoch=swarm.plan.epoch,
            parts=parts,
            prompt=None if usage is None else usage.prompt_tokens,
            cached=None if usage is None else usage.cached_tokens,
            expected=expected,
            start=dialogue.preamble.tokens,
            twin=None if at_s is None else swarm.prefixes.twin(session, starts, at_s),
            head_before=swarm.prefixes.head_before(profile, parts[0]) if parts else None,
            done_tokens=answer.progress[-1].done if answer.progress else None,
            has_token=answer.first_token_s is not None,
        )
    )
