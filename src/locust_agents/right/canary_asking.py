"""Decides when an agent is asked whether the server's answers are right, with what, and who judges what comes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from locust_agents import stages
from locust_agents.answers.stream import Answer
from locust_agents.plan import RunPlan
from locust_agents.plugins.api import Agent, Turn
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.dialogue import Dialogue
from locust_agents.right import answer_check, canary, identity
from locust_agents.right.answer_check import Checked, Checks, Judge
from locust_agents.right.canary import TASK, Crowd
from locust_agents.scenarios.model import Scenario

# Two words are 16 tokens at most in current vocabularies; the rest is for a model that cannot do without a sentence.
_ANSWER_TOKENS = 48
_BESIDE = "side"


@dataclass(frozen=True, slots=True)
class Question:
    """What to send, and who judges the answer once it has ended properly."""

    branch: Branch
    judge: Judge


def asking_of(plan: RunPlan, scenario: Scenario) -> "Asking | None":
    """The part of a run's checks that one process takes; None where the plan has none."""
    if plan.checks is None:
        return None
    crowd = Crowd({name: entry.agents for name, entry in scenario.swarm.items()}, scenario.seed)
    return Asking(plan.checks, crowd, plan.model, plan.calibration.nonce)


class Asking:
    """The checks of one process. An agent's turns are counted over its sessions and sub-agents, not over calls aside.

    Once in `every` turns the turn's message carries a late code word, and when the turn was ok that word and the one in
    the history's first message are asked back, between this turn and the next. So an agent has never two requests open
    because of us, and its next turn starts later by one short answer. The server keeps one more entry in its cache.
    A turn that cannot carry a word (sent again, or a hole), or that failed, puts the question off to the next one.
    After compaction a new early word is planted, unless the summary still has the old one.
    """

    def __init__(self, checks: Checks, crowd: Crowd, model: str, nonce: str) -> None:
        self._checks = checks
        self._crowd = crowd
        self._alone = identity.branch(model, nonce)
        self._turns_since: Counter[str] = Counter()
        self._late: dict[str, str] = {}
        self._sessions: dict[str, str] = {}

    def before(self, turn: Turn, dialogue: Dialogue, kind: str | None) -> None:
        """A turn is about to be taken: counts it, and has it carry the words that it must."""
        if kind == _BESIDE:
            return
        agent = turn.agent
        self._turns_since[agent.name] += 1
        if self._is_due(agent):
            self._late[agent.session] = f"step {dialogue.turns + 1}"
        if not self._checks.words or turn.is_again or turn.hole is not None or not turn.says:
            return
        places = [place for place in self._places(agent) if not dialogue.holds(self._word(agent, place))]
        dialogue.plant("".join(canary.sentence(place, self._word(agent, place)) for place in places))

    def after(self, agent: Agent, dialogue: Dialogue, kind: str | None) -> Sequence[Question]:
        """A turn has ended well: what is to be asked now, if anything."""
        if kind == _BESIDE or not self._is_due(agent):
            return []
        words = self._standing(agent, dialogue) if self._checks.words else {}
        if words and len(words) < len(self._places(agent)):
            return []
        asked = [self._of_words(agent, dialogue, words)] if words else []
        if self._checks.alone is not None:
            asked.append(self._of_identity(self._checks.alone, dialogue))
        if asked:
            self._turns_since[agent.name] = 0
            self._late.pop(agent.session, None)
        return asked

    def _is_due(self, agent: Agent) -> bool:
        return self._turns_since[agent.name] >= self._checks.every

    def _places(self, agent: Agent) -> list[str]:
        late = self._late.get(agent.session)
        return [TASK] if late is None else [TASK, late]

    def _word(self, agent: Agent, place: str) -> str:
        found = canary.word(self._crowd, agent.name, agent.session, place)
        self._sessions[found] = agent.session
        return found

    def _standing(self, agent: Agent, dialogue: Dialogue) -> dict[str, str]:
        words = {place: self._word(agent, place) for place in self._places(agent)}
        return {place: word for place, word in words.items() if dialogue.holds(word)}

    def _of_words(self, agent: Agent, dialogue: Dialogue, words: Mapping[str, str]) -> Question:
        def judge(answer: Answer) -> Checked:
            return answer_check.of_words(answer, own, lambda word: self._whose(word, agent))

        own = list(words.values())
        return Question(dialogue.branch(canary.question(list(words)), _ANSWER_TOKENS), judge)

    def _of_identity(self, alone: str, dialogue: Dialogue) -> Question:
        branch = replace(self._alone, turns=max(0, dialogue.turns - 1))
        return Question(branch, lambda answer: answer_check.of_identity(answer, alone))

    def _whose(self, word: str, agent: Agent) -> str | None:
        """Another history's session, where it is one of this process; else the agent that the word itself tells of."""
        if (session := self._sessions.get(word)) is not None:
            return None if session == agent.session else session
        owner = canary.owner(self._crowd, word)
        return None if owner is None or owner == stages.numbered(agent.name) else f"{owner[0]}, agent {owner[1]}"
