"""N agents at once, one streamed request each: locust -f agents_ttft.py --headless -u 8 -r 100 --host http://mac1:8080"""

from statistics import median

from locust import events, run_single_user

from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.user import CodingAgent
from locust_agents.plugins.api import Agent, Session, behaviour

waits: list[float] = []


@behaviour
def one_question(agent: Agent, prompt_tokens: int = 8192) -> Session:
    yield agent.user("Where is the fault?", tokens=prompt_tokens - agent.preamble_tokens, answer_tokens=64)


class Asker(CodingAgent):
    behaviour, sessions = one_question, 1


def note(agent: str, ttft_s: float, **_: object) -> None:
    waits.append(ttft_s)
    print(f"{agent}: {ttft_s:.3f} s   (median {median(waits):.3f} s, worst {max(waits):.3f} s)")


ensure_hooks(events).first_token.add_listener(note)
if __name__ == "__main__":
    run_single_user(Asker)
