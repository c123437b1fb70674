"""One agent's history as turns change it: what is said, what was heard, and the requests that come of it."""

from collections.abc import Sequence
from dataclasses import replace

from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.errors import PluginError
from locust_agents.misses.past import Past
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Reply, Say, Turn
from locust_agents.profile import Compaction
from locust_agents.prompts import conversation, messages, request, shortening
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.composer import Composer
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.counting import Count, Kept
from locust_agents.prompts.fim import Typing
from locust_agents.prompts.history import History
from locust_agents.prompts.request import Request
from locust_agents.prompts.sizing import Sizer
from locust_agents.prompts.style import Style as Style
from locust_agents.prompts.voice import Voice


class Dialogue:
    """The history of one agent. A turn is `take` (or `say`), `body`, and `hear` of its last attempt.

    `request` is the one that `body` made last, `request_before` the one before it: None at the start of a history, and
    where compaction made it another one. Parts that did not change between them are the same objects. `past` judges
    what the cache held of each.
    """

    def __init__(self, agent: Agent, style: Style, sizer: Sizer) -> None:
        self.agent = agent
        self.turns = 0
        self.past = Past()
        self.request: Request | None = None
        self.request_before: Request | None = None
        self._style = style
        self._profile, preamble = style.of(agent.role)
        self._sizer = sizer
        self._count = Count(sizer)
        self._voice = Voice(self._profile, preamble, style.scale, sizer, agent)
        self._composer = Composer(self._profile, preamble, style, sizer, self._voice, agent)
        self._typing = Typing(preamble.nonce, f"{agent.seed} {agent.session}", style.scale, sizer, agent.seed)
        self._history = History(self._voice)
        self._answer_tokens: int | None = None
        self._ends_loop = False
        self._summary_call: tuple[Preamble, tuple[bytes, ...]] | None = None
        self._before_summary: Kept | None = None
        self._is_again = self._is_hole = False
        self._has_reasoned = False

    # -- what is sent

    def take(self, turn: Turn) -> None:
        """Takes in all that a turn asks for; `body` is then its request. Raises PluginError with nothing to send."""
        self._ends_loop = turn.ends_loop or (turn.is_again and self._ends_loop)
        if turn.is_again:
            self._take_back()
        elif turn.hole is not None:
            self._is_again, self._is_hole = False, True
            self._typing.move(turn.hole)
        else:
            self._composer.show(turn.documents)
            if turn.is_fresh:
                self._renew()
            self.say(turn.says)

    def say(self, says: Sequence[Say]) -> None:
        """Adds the messages of a turn; calls that nobody answers are answered first, as real clients do.

        What answers no open call (it was answered before, or compacted away) is said as the user.
        """
        self._is_again = self._is_hole = False
        self._count.begin()
        for chars in self._history.say(says):
            self._count.said(chars)

    def body(self, max_tokens: int | None) -> bytes:
        """The bytes of the next request; `max_tokens` None leaves it to the server."""
        if self.request is None or not self._is_again:
            self.request_before, self.request = self.request, self._made(max_tokens)
        return self.request.body()

    def max_tokens(self, wanted: int | None) -> int | None:
        """The limit to send: the turn's own, the drawn size of the answer, or the profile's."""
        if wanted is not None:
            return wanted
        if self._style.outputs == "live":
            return self._profile.max_tokens
        self._answer_tokens = self._voice.drawn_tokens(self._ends_loop)
        return self._answer_tokens

    @property
    def preamble(self) -> Preamble:
        """The start of the last request; before there is any, of the first."""
        return self._composer.preamble if self._summary_call is None else self._summary_call[0]

    @property
    def path(self) -> str:
        """Where the last request goes, below the server's address."""
        return request.CHAT if self.request is None else self.request.path

    @property
    def sent(self) -> tuple[bytes, ...]:
        """The parts of the last request: a head, then one for each message; none before there is any."""
        return () if self.request is None else self.request.parts

    # -- what came of it

    def hear(self, answer: Answer, outcome: Outcome, first_token_s: float | None) -> Reply:
        """Takes the last attempt's answer into the history and says what the behaviour gets."""
        self.turns += 1
        self._has_reasoned = self._has_reasoned or bool(answer.reasoning)
        usage = answer.usage
        text, calls = self._completed(answer) if self._is_hole else self._heard(answer, outcome)
        tokens, prompt = (None, None) if usage is None else (usage.completion_tokens, usage.prompt_tokens)
        return Reply(text, calls, outcome, tokens, first_token_s, prompt)

    @property
    def continued_tokens(self) -> int | None:
        """Tokens of the next prompt that the cache should hold; None where nothing was counted since it began."""
        return self._typing.continued_tokens if self._is_hole else self._count.continued_tokens

    def estimate_tokens(self) -> int:
        """Prompt tokens of the next request: the last one's as counted, and an estimate of all that differs."""
        if self._is_hole:
            return round(self._sizer.tokens(len(self._typing.prompt)))
        return self._count.estimate([len(part) for part in self._parts], self._composer.preamble)

    # -- beside the history

    def plant(self, text: str) -> None:
        """Puts a text behind the next message that is said, on top of the size that was asked for."""
        self._history.plant(text)

    def holds(self, text: str) -> bool:
        """Whether the history says this, a text of plain ASCII that needs no escape."""
        return any(text.encode() in message for message in self._history.messages)

    def branch(self, question: str, max_tokens: int) -> Branch:
        """One more question, at temperature 0, which leaves no trace here: neither in the history nor in its counts.

        Open calls are answered first, as a template wants it. A model that was seen to reason is asked not to: its
        few tokens are for the answer.
        """
        start = conversation.greedy(self._composer.preamble)
        parts = (start.head, *self._parts[1:], *self._history.closing(), messages.user(question))
        limit = (self._profile.max_tokens_field, max_tokens)
        made = request.chat(start, parts, limit, False if self._has_reasoned else self._style.thinking)
        return Branch(max(0, self.turns - 1), start, made, self._count.continued_tokens)

    # -- compaction

    def compaction_request(self, rule: Compaction | None, text: str, max_tokens: int | None) -> bytes:
        """The bytes of a call for a summary of the history, in the product's way; `text` asks for it.

        What is heard then leaves the history with `compacted` or with `unasked`.
        """
        self._before_summary = self._count.keep()
        instruction = Say(text, rule.instruction_tokens or None) if rule else Say(text)
        is_flat = rule is not None and rule.call == "flattened"
        self.say(() if is_flat else (instruction,))
        if rule is not None and rule.call != "same":
            asked = self._voice.text(instruction, 1, False) if is_flat else ""
            chars = self._sizer.plain_chars(rule.system_tokens * self._style.scale)
            self._summary_call = shortening.asking(rule, self.preamble, self._parts, asked, chars)
        return self.body(max_tokens)

    def compacted(self, keep_tokens: float, summary: str) -> None:
        """Replaces the history by a summary and what came last before it was asked for, from a user message on."""
        tokens = keep_tokens * self._style.scale
        self._history.shorten(self._voice.environment + summary, tokens, self._sizer.tokens_per_char)
        self._count.forget()
        self._composer.note("compacted")
        self._forget_request()

    def unasked(self) -> None:
        """Takes the last turn out again: a summary that did not come leaves the history as it was."""
        self._history.unask()
        if self._before_summary is not None:
            self._count.put_back(self._before_summary)
        self._forget_request()

    def summary(self, text: str, tokens: float) -> str:
        """The summary to keep: the model's own words, or filler of its size where replies are scripted or empty."""
        return text if text and self._style.replies == "live" else self._voice.summary(tokens)

    # -- inside

    @property
    def _parts(self) -> tuple[bytes, ...]:
        """What the next plain request would send."""
        return self._composer.parts(self._history.messages)

    def _made(self, max_tokens: int | None) -> Request:
        if self._is_hole:
            return request.completion(self._composer.preamble, self._typing.prompt, max_tokens)
        changes = self._composer.vary()
        preamble, parts = self._summary_call or (self._composer.preamble, self._parts)
        limit = (self._profile.max_tokens_field, max_tokens)
        return request.chat(preamble, parts, limit, self._style.thinking, changes)

    def _take_back(self) -> None:
        """The last request is sent once more: its answer is forgotten."""
        if self.request is None and not self._history.messages:
            raise PluginError(f"agent.again() before any turn of session {self.agent.session!r}: yield a turn first")
        self._is_again = True
        if self.request is not None:
            self.request_before = self.request = replace(self.request, changes=())
        if not self._is_hole:
            self._history.take_back()
            self._count.drop_answer()

    def _renew(self) -> None:
        """Gives files and history a new start; what else was said stays."""
        self._composer.renew()
        if self._history.reopen():
            self._composer.note("taken up again, with another first line")
        self._count.continued_tokens = None

    def _forget_request(self) -> None:
        self._before_summary = self._summary_call = self.request = None

    def _completed(self, answer: Answer) -> tuple[str, tuple[ToolCall, ...]]:
        self._typing.heard(answer.usage)
        return "".join(answer.content), ()

    def _heard(self, answer: Answer, outcome: Outcome) -> tuple[str, tuple[ToolCall, ...]]:
        usage = answer.usage
        is_live = self._style.replies == "live"
        if self._summary_call is None:
            if is_live or self.turns == 1:  # what a script said lies between, and was not counted
                self._count.learn(usage, self.preamble, self._is_only_longer)
            sizes = [len(part) for part in self._parts]
            self._count.heard(usage, sizes, is_live and outcome is Outcome.OK and self._goes_back_whole(answer))
        text, calls = self._kept(answer, outcome)
        # What a turn left behind without a count, or a template may drop (reasoning), would spoil the next one's.
        self._count.leave(usage is not None and not answer.reasoning and (outcome is Outcome.OK or not text))
        return text, calls

    @property
    def _is_only_longer(self) -> bool:
        """The turn's messages are all that the last request had more than what was sent, and counted, before."""
        if not self._composer.is_bare:
            return False
        before = () if self.request_before is None else self.request_before.parts
        return self.sent[: len(before)] == before

    def _goes_back_whole(self, answer: Answer) -> bool:
        """Calls that a client mends, and reasoning that it drops, are not what the cache holds."""
        is_thought_kept = not answer.reasoning or self._profile.reasoning_replay != "none"
        return is_thought_kept and not any(call.is_bad for call in answer.tool_calls.values())

    def _kept(self, answer: Answer, outcome: Outcome) -> tuple[str, tuple[ToolCall, ...]]:
        text = "".join(answer.content)
        is_ok = outcome is Outcome.OK
        # A call that came in full or not at all: only an answer that ended properly has whole ones.
        calls = tuple(answer.tool_calls.values()) if is_ok else ()
        reasoning, replay = "".join(answer.reasoning), self._profile.reasoning_replay
        if self._style.replies == "scripted":
            if not is_ok:  # half an answer of the model's depends on when it broke off; the script must not
                return text, ()
            # with drawn outputs, what was asked of the model
            text, calls = self._voice.answer(self._answer_tokens, f"{self.agent.session}_{self.turns}", self._ends_loop)
            reasoning = ""
        self._history.hear(text, calls, reasoning, replay)
        return text, calls
