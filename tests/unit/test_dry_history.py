"""What a cache would still know of each planned request: files, repeats, roles, compaction, text that changes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from locust_agents.forecast.dry_run import dry_run
from locust_agents.forecast.session_plan import START, Load, PlannedTurn, Terms
from locust_agents.plugins.api import Agent, Document, Session, behaviour
from locust_agents.profile import Compaction, Profile, Role, Volatile
from locust_agents.prompts.prefix_break import Kind, PrefixBreak

# 1,000 tokens before the history; answers of 50 each, so that a prompt's size can be written down
BARE = Profile("bare", "none", "made up", system_tokens=600, tool_tokens=400, tools=("read",), max_tokens=None)
FIFTY = Terms(answer_tokens=50)


def plan(
    function: Callable[..., Session], profile: Profile = BARE, terms: Terms = FIFTY, prefix: PrefixBreak | None = None
) -> tuple[PlannedTurn, ...]:
    agent = Agent("a/0.0", "a/0.0#0", "1 a/0.0 0", preamble_tokens=1000.0, profile=profile)
    made = dry_run(Load("a", behaviour(function), profile, prefix=prefix), agent, terms)
    assert made.fault is None
    return made.turns


def sizes(turns: tuple[PlannedTurn, ...]) -> list[tuple[int, int | None, int]]:
    return [(turn.prompt_tokens, turn.kept_tokens, turn.said_tokens) for turn in turns]


def says_twice(agent: Agent) -> Session:
    yield agent.user("One.", tokens=100)
    yield agent.user("Two.", tokens=200)


def shows_files(agent: Agent) -> Session:
    one, two = Document("one", 300), Document("two", 400)
    yield agent.user("First.", tokens=100).showing(one, two)
    yield agent.user("Both are known.", tokens=100).showing(one, two)
    yield agent.user("The second is edited.", tokens=100).showing(one, Document("two", 400, version=2))
    yield agent.user("The first has grown.", tokens=100).showing(Document("one", 500, version=2))


def test_files_stand_before_the_history() -> None:
    assert sizes(plan(shows_files)) == [
        (1800, None, 800),
        (1950, 1850, 100),
        (2100, 1000 + 300 + 200, 500),  # half of the edited file, and nothing behind it
        (2450, 1000, 600),
    ]


def repeats(agent: Agent) -> Session:
    yield agent.user("One.", tokens=100).leave(in_prefill=True)
    yield agent.again().leave(after_chunks=20)
    yield agent.again()
    yield agent.user("Two.", tokens=100)


def test_the_same_request_again() -> None:
    turns = plan(repeats)
    # left in prefill, nothing was stored; left in the answer, all of the prompt was
    assert sizes(turns) == [(1100, None, 100), (1100, None, 0), (1100, 1100, 0), (1250, 1150, 100)]
    assert [turn.answer_tokens for turn in turns] == [0, 20, 50, 50]


def resumes(agent: Agent) -> Session:
    yield agent.user("One.", tokens=100)
    yield agent.user("Two.", tokens=100).fresh()
    yield agent.user("Three.", tokens=100)


def test_a_fresh_start_is_in_no_cache() -> None:
    assert sizes(plan(resumes)) == [(1100, None, 100), (1250, None, 100), (1400, 1300, 100)]


def completes(agent: Agent) -> Session:
    for prefix in (300, 310, 20):
        yield agent.complete(prefix, 200, answer_tokens=13)


def test_a_hole_has_no_history() -> None:
    turns = plan(completes)
    assert sizes(turns) == [(500, 0, 500), (510, 300, 210), (220, 20, 200)]
    assert [(turn.kind, turn.answer_tokens) for turn in turns] == [("first", 13)] * 3


def test_its_answers_are_short() -> None:
    def writes(agent: Agent) -> Session:
        for _ in range(60):
            yield agent.complete(300, 200)

    tokens = sorted(turn.answer_tokens for turn in plan(writes, terms=Terms()))
    assert 9 <= tokens[30] <= 20


def rests(agent: Agent) -> Session:
    yield agent.pause(1.5, always=True)
    yield agent.pause(10)
    yield agent.user("One.", tokens=100)


def test_what_the_client_itself_takes_is_not_scaled() -> None:
    (turn,) = plan(rests, terms=Terms(answer_tokens=50, gap_scale=0.1, gap_cap_s=1))
    assert turn.waits == {START: 2.5}


def delegates(agent: Agent) -> Session:
    def below(child: Agent) -> Session:
        yield child.user("Explore.", tokens=100)

    yield agent.spawn([below(agent.child("sub")), below(agent.child())])


def test_a_role_has_its_own_preamble() -> None:
    profile = replace(BARE, roles={"sub": Role(50, 150, ("read",), None)})
    own, plain = plan(delegates, profile)
    assert (own.prompt_tokens, own.shared, own.shared_tokens) == (300, "bare.sub", 200)
    assert (plain.prompt_tokens, plain.shared, plain.shared_tokens) == (1100, "bare", 1000)


# remark, profile, (prompt, kept) of the second turn, tokens that sessions share
ODD: list[tuple[str, Profile, tuple[int, int], int]] = [
    ("plain", BARE, (1350, 1150), 1000),
    ("examples", replace(BARE, few_shot_tokens=500), (1850, 1650), 1500),
    ("an environment in the first user message", replace(BARE, first_user_tokens=70), (1420, 1220), 1000),
    ("something at each user message", replace(BARE, each_user_tokens=30), (1410, 1180), 1000),
    ("a reminder that moves", replace(BARE, reminder_tokens=40), (1390, 1100), 1000),
    ("another head each time", replace(BARE, volatile=(Volatile("system_head", 0, "", "request"),)), (1350, 0), 0),
    ("another tool each time", replace(BARE, volatile=(Volatile("tools", 0.5, "", "request"),)), (1350, 800), 800),
    ("another head each session", replace(BARE, volatile=(Volatile("system", 0.5, "", "session"),)), (1350, 1150), 300),
    ("another head each day", replace(BARE, volatile=(Volatile("system", 0.5, "", "day"),)), (1350, 1150), 1000),
]


@pytest.mark.parametrize(("profile", "second", "shared"), [pytest.param(*row[1:], id=row[0]) for row in ODD])
def test_what_a_product_puts_around(profile: Profile, second: tuple[int, int], shared: int) -> None:
    _, turn = plan(says_twice, profile)
    assert (turn.prompt_tokens, turn.kept_tokens, turn.shared_tokens) == (*second, shared)


# kind, kept of the second turn
BREAKS: list[tuple[Kind, int]] = [
    ("head_hash", 0),
    ("date_tail", 552),
    ("tools_change", 888),
    ("file_refresh", 1000),
    ("moving_reminder", 1100),
    ("none", 1150),
]


@pytest.mark.parametrize(("kind", "kept"), BREAKS)
def test_a_prefix_that_is_broken_on_purpose(kind: Kind, kept: int) -> None:
    assert [turn.kept_tokens for turn in plan(says_twice, prefix=PrefixBreak(kind))] == [None, kept]
    assert plan(says_twice, prefix=PrefixBreak(kind, 0.0))[1].kept_tokens == 1150


def test_a_product_can_be_kept_from_changing_its_prompt() -> None:
    hashed = replace(BARE, volatile=(Volatile("system_head", 0, "", "request"),))
    assert plan(says_twice, hashed, prefix=PrefixBreak("none"))[1].kept_tokens == 1150


def grows(agent: Agent) -> Session:
    reply = yield agent.user("One.", tokens=1000)
    for _ in range(3):
        reply = yield agent.tool_results(reply, tokens=1000)
    yield agent.user("Last.", tokens=100)


# remark, rule, scale, (kind, prompt, kept) of the compaction, prompt after it
SAME = Compaction(3000, 0, 200, "same", instruction_tokens=100)
COMPACTIONS: list[tuple[str, Compaction, float, tuple[int, int], int]] = [
    ("the prompt as it was", SAME, 1.0, (3200, 3100), 1300),
    ("without its tools", replace(SAME, call="without_tools"), 1.0, (2800, 600), 1300),
    ("another prompt", replace(SAME, call="flattened", system_tokens=70), 1.0, (2270, 0), 1300),
    ("its bound is scaled", replace(SAME, trigger_tokens=6000), 0.5, (3150, 3100), 725),
]


@pytest.mark.parametrize(("rule", "scale", "call", "after"), [pytest.param(*row[1:], id=row[0]) for row in COMPACTIONS])
def test_a_client_compacts_by_its_own_rule(rule: Compaction, scale: float, call: tuple[int, int], after: int) -> None:
    def long(agent: Agent) -> Session:
        for tokens in (1000, 1000, 100):
            yield agent.user("More.", tokens=tokens if scale == 1 else tokens * 2.5)

    turns = plan(long, replace(BARE, compaction=rule), Terms(scale=scale, answer_tokens=50))
    assert [turn.kind for turn in turns].count("compaction") == 1, [turn.prompt_tokens for turn in turns]
    number = [turn.kind for turn in turns].index("compaction")
    assert (turns[number].prompt_tokens, turns[number].kept_tokens) == call
    assert (turns[number + 1].prompt_tokens, turns[number + 1].kept_tokens) == (after, None)


def test_below_its_bound_nobody_compacts() -> None:
    kinds = [turn.kind for turn in plan(grows, replace(BARE, compaction=replace(SAME, trigger_tokens=9000)))]
    assert kinds == ["first", "later", "later", "later", "later"]
