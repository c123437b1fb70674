"""What a session would send, known without sending: every step of the protocol, sizes, pauses, and what never ends."""

from collections.abc import Callable
from math import inf

import pytest

from locust_agents.forecast.dry_run import MOST_TURNS, dry_run
from locust_agents.forecast.session_plan import START, Load, SessionPlan, Terms
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Reply, Session, behaviour
from locust_agents.profile import Profile
from locust_agents.prompts.sizing import Calibration

BARE = Profile("bare", "none", "made up", system_tokens=100, tool_tokens=0, tools=(), max_tokens=None)
TOOLED = Profile("tooled", "none", "made up", 700, 300, ("read",), max_tokens=500, tool_result_cap_tokens=5000)
# answers of 50 tokens each, so that a prompt's size can be written down
FIFTY = Terms(answer_tokens=50)

seen: list[object] = []
"""What the behaviours below were sent; each test that looks at it clears it first."""


def plan(
    function: Callable[..., Session],
    terms: Terms = FIFTY,
    profile: Profile = BARE,
    until_s: float = inf,
    most_turns: int = MOST_TURNS,
) -> SessionPlan:
    agent = Agent("a/0.0", "a/0.0#0", "1 a/0.0 0", preamble_tokens=float(profile.system_tokens + profile.tool_tokens))
    return dry_run(Load("a", behaviour(function), profile), agent, terms, until_s, most_turns)


def talk(agent: Agent) -> Session:
    reply = yield agent.user("Begin.", tokens=200)
    yield agent.pause(10)
    yield agent.pause(5)
    yield agent.tool_results(reply, tokens=300)


def test_a_session_of_two_turns() -> None:
    first, later = plan(talk).turns
    assert (first.kind, first.prompt_tokens, first.said_tokens, first.kept_tokens) == ("first", 300, 200, None)
    # 100 of the preamble, 200 and 50 that were said before, 300 new; all but those are in the cache
    assert (later.kind, later.prompt_tokens, later.said_tokens, later.kept_tokens) == ("later", 650, 300, 350)
    assert (first.answer_tokens, first.waits, later.waits) == (50, {START: 0.0}, {0: 15.0})
    assert plan(talk).ends == {1: 0.0}


# remark, terms, (prompt, kept) of the second turn, pause before it
COUNTED = Calibration("", preamble_tokens={"bare": 40})
TERMS: list[tuple[str, Terms, tuple[int, int], float]] = [
    ("scale is of texts and preamble, not of live answers", Terms(scale=0.5, answer_tokens=50), (350, 200), 15),
    ("gaps are scaled, then capped", Terms(gap_scale=2, gap_cap_s=12, answer_tokens=50), (650, 350), 22),
    ("the server's own count of the preamble", Terms(answer_tokens=50, calibration=COUNTED), (590, 290), 15),
]


@pytest.mark.parametrize(("terms", "tokens", "gap_s"), [pytest.param(*row[1:], id=row[0]) for row in TERMS])
def test_terms(terms: Terms, tokens: tuple[int, int], gap_s: float) -> None:
    later = plan(talk, terms).turns[1]
    assert (later.prompt_tokens, later.kept_tokens) == tokens
    assert later.waits == {0: gap_s}


def test_a_scripted_answer_is_not_in_the_cache() -> None:
    live, scripted = plan(talk, Terms()).turns, plan(talk, Terms(replies="scripted")).turns
    assert live[1].kept_tokens == live[0].prompt_tokens + live[0].answer_tokens
    assert scripted[1].kept_tokens == scripted[0].prompt_tokens
    assert scripted[1].prompt_tokens > scripted[0].prompt_tokens + 300


def asks(agent: Agent) -> Session:
    for _ in range(40):
        yield agent.user("Go on.", tokens=20)


# remark, terms, least and most of the answers' tokens
ANSWERS: list[tuple[str, Terms, Profile, int, int]] = [
    ("live: as real ones are", Terms(), BARE, 91, 3478),
    ("live: as real ones are, whatever the scale", Terms(scale=0.01), BARE, 91, 3478),
    ("live: up to the profile's limit", Terms(), TOOLED, 91, 500),
    ("drawn: scaled", Terms(scale=0.1, outputs="drawn"), BARE, 9, 348),
]


@pytest.mark.parametrize(("terms", "profile", "least", "most"), [pytest.param(*row[1:], id=row[0]) for row in ANSWERS])
def test_answers_are_drawn(terms: Terms, profile: Profile, least: int, most: int) -> None:
    tokens = [turn.answer_tokens for turn in plan(asks, terms, profile).turns]
    assert len(set(tokens)) > 10
    assert least <= min(tokens) <= max(tokens) <= most
    if profile is TOOLED:
        assert max(tokens) == most


def capped(agent: Agent) -> Session:
    reply = yield agent.user("Read.", tokens=6000, answer_tokens=7)
    seen.append(reply)
    yield agent.tool_results(reply, tokens=6000)


def test_a_made_up_reply_is_ok_and_calls_one_tool() -> None:
    seen.clear()
    first, later = plan(capped, profile=TOOLED).turns
    (reply,) = seen
    assert isinstance(reply, Reply)
    assert (reply.ok, [call.name for call in reply.tool_calls], reply.tokens) == (True, ["read"], 7)
    assert (first.said_tokens, first.answer_tokens) == (6000, 7)
    assert later.said_tokens == 5000  # the product cuts what its tools return


def test_a_profile_without_tools_calls_none() -> None:
    seen.clear()
    assert plan(capped).turns[1].said_tokens == 6000
    assert [reply.tool_calls for reply in seen if isinstance(reply, Reply)] == [()]


def small(agent: Agent) -> Session:
    yield agent.user("A sentence that is said as it is, with no size.", tokens=None)
    yield agent.user("", tokens=1)


def test_no_message_is_smaller_than_its_template() -> None:
    sentence, nothing = plan(small).turns
    assert sentence.said_tokens == round(47 / 4 + 5)
    assert nothing.said_tokens == 9


def leaves(agent: Agent) -> Session:
    seen.append((yield agent.user("Long.", tokens=100).leave(after_chunks=5)))
    seen.append((yield agent.user("Late.", tokens=100).leave(after_s=8)))
    yield agent.user("Stay.", tokens=100)


def test_who_leaves_has_left() -> None:
    seen.clear()
    early, late, stays = plan(leaves, profile=TOOLED).turns
    assert [(reply.outcome, reply.tool_calls) for reply in seen if isinstance(reply, Reply)] == [
        (Outcome.ABANDONED, ())
    ] * 2
    assert (early.answer_tokens, early.leaves_after_s, late.leaves_after_s, stays.leaves_after_s) == (5, None, 8, None)
    assert stays.kept_tokens == late.prompt_tokens


def one(agent: Agent, tokens: float = 60, rest_s: float = 0.0) -> Session:
    yield agent.user("A child.", tokens=tokens)
    yield agent.pause(rest_s)


def delegates(agent: Agent) -> Session:
    yield agent.pause(3)
    seen.append((yield agent.spawn([one(agent.child()), one(agent.child(), rest_s=4)], wait=True)))
    yield agent.user("Both are back.", tokens=100)


def test_sub_agents_run_side_by_side_and_are_waited_for() -> None:
    seen.clear()
    first, second, after = plan(delegates).turns
    assert [(turn.kind, turn.waits) for turn in (first, second)] == [("sub", {START: 3.0})] * 2
    assert (after.kind, after.waits) == ("first", {START: 3.0, 0: 0.0, 1: 4.0})
    assert [type(reply) for reply in seen[0]] == [Reply, Reply]  # type: ignore[attr-defined]


def goes_on(agent: Agent) -> Session:
    beside = yield agent.side(one(agent.child(), rest_s=7))
    handles = yield agent.spawn([one(agent.child())], wait=False)
    yield agent.user("Meanwhile.", tokens=100)
    seen.append((yield agent.join([beside, *handles])))
    yield agent.user("Joined.", tokens=100)
    seen.append((yield agent.spawn([])))


def test_sides_and_joins() -> None:
    seen.clear()
    made = plan(goes_on)
    kinds = [turn.kind for turn in made.turns]
    assert sorted(kinds[:3]) == ["first", "side", "sub"]
    side, sub, main = (kinds.index(kind) for kind in ("side", "sub", "first"))
    assert all(turn.waits == {START: 0.0} for turn in made.turns[:3])
    assert made.turns[3].waits == {main: 0.0, side: 7.0, sub: 0.0}
    assert [len(replies) for replies in seen] == [2, 0]  # type: ignore[arg-type]


def compacts(agent: Agent) -> Session:
    for _ in range(4):
        yield agent.user("More.", tokens=250)
    seen.append((yield agent.compact(keep_tokens=650, summary_tokens=80)))
    yield agent.user("And on.", tokens=30)


def test_compaction_starts_anew_from_summary_and_the_last_turns() -> None:
    seen.clear()
    summary, after = plan(compacts).turns[4:]
    assert (summary.kind, summary.kept_tokens) == ("compaction", 100 + 4 * 300)
    assert summary.answer_tokens == 50
    # the preamble, the summary, two turns of 250 and their answers, and what is new; only the preamble may be cached
    assert (after.prompt_tokens, after.kept_tokens, after.kind) == (100 + 80 + 600 + 30, None, "later")
    assert [type(reply) for reply in seen] == [Reply]


def endless(agent: Agent) -> Session:
    while True:
        yield agent.user("Again.", tokens=20)


def pauses_for_ever(agent: Agent) -> Session:
    yield agent.user("Once.", tokens=20)
    while True:
        yield agent.pause(1)


def rests_without_time(agent: Agent) -> Session:
    while True:
        yield agent.pause(0)


def has_an_endless_child(agent: Agent) -> Session:
    yield agent.side(endless(agent.child()))
    for _ in range(3):
        yield agent.user("My own.", tokens=20)


def waits_for_an_endless_child(agent: Agent) -> Session:
    yield agent.spawn([pauses_for_ever(agent.child())])
    yield agent.user("Never.", tokens=20)


# remark, behaviour, until_s, most turns, turns of the plan
ENDLESS: list[tuple[str, Callable[..., Session], float, int, int]] = [
    ("turns without an end", endless, inf, 30, 30),
    ("turns without an end and no bound but ours", endless, inf, MOST_TURNS, 10_000),
    ("pauses without an end, cut at the duration", pauses_for_ever, 60, MOST_TURNS, 1),
    ("pauses of nothing, cut after many steps", rests_without_time, 60, MOST_TURNS, 0),
    ("a child beside leaves the session its own turns", has_an_endless_child, inf, 20, 20),
    ("a child that is waited for", waits_for_an_endless_child, 60, MOST_TURNS, 1),
]


@pytest.mark.parametrize(
    ("function", "until_s", "most", "turns"), [pytest.param(*row[1:], id=row[0]) for row in ENDLESS]
)
def test_what_never_ends_is_cut(function: Callable[..., Session], until_s: float, most: int, turns: int) -> None:
    made = plan(function, until_s=until_s, most_turns=most)
    assert (len(made.turns), made.is_cut, made.fault) == (turns, True, None)
    if function is has_an_endless_child:
        assert [turn.kind for turn in made.turns].count("later") == 2


def reads_json(agent: Agent) -> Session:
    reply = yield agent.user("JSON, please.", tokens=20)
    raise ValueError(f"no JSON: {reply.text}\nand more")


def yields_nothing(agent: Agent) -> Session:
    yield agent.user("Hello.", tokens=20)
    yield None  # type: ignore[misc]


def spawns_a_function(agent: Agent) -> Session:
    yield agent.spawn([one])  # type: ignore[list-item]


FAULTS: list[tuple[Callable[..., Session], int, str]] = [
    (reads_json, 1, "behaviour 'reads_json' raised on made-up answers: ValueError: no JSON: Made up."),
    (yields_nothing, 1, "it yielded None, which is no step"),
    (spawns_a_function, 0, "which is no session"),
]


@pytest.mark.parametrize(("function", "turns", "words"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_fault_is_told_in_one_line(function: Callable[..., Session], turns: int, words: str) -> None:
    made = plan(function)
    assert len(made.turns) == turns
    assert words in (made.fault or "")
    assert "\n" not in (made.fault or "")


@pytest.mark.parametrize("name", sorted(registry.behaviours()))
def test_shipped_behaviours_have_the_same_plan_each_time(name: str) -> None:
    load = Load("a", registry.behaviour(name), registry.profile("opencode"))

    def made(seed: str) -> SessionPlan:
        return dry_run(load, Agent("a/0.0", "a/0.0#0", seed, preamble_tokens=6724.0), Terms())

    assert made("1 a/0.0 0") == made("1 a/0.0 0") != made("2 a/0.0 0")
    assert not made("1 a/0.0 0").is_cut
