"""The whole plugin surface: what a behaviour yields, what it is sent, what it holds, and what a listener gets."""

from locust_agents.answers.stream import ToolCall
from locust_agents.draws import FINAL_ANSWER, HUMAN_GAP, HUMAN_TEXT, LOOP_LENGTH, TOOL_CALL, TOOL_GAP, TOOL_RESULT
from locust_agents.outcome import Outcome
from locust_agents.plugins.agent import Agent
from locust_agents.plugins.behaviour import Behaviour, behaviour
from locust_agents.plugins.protocols import Launcher, Listener, Running
from locust_agents.plugins.steps import Compact, Handle, Join, Pause, Session, Side, Spawn, Step
from locust_agents.plugins.turns import Document, Hole, Reply, Say, Turn
from locust_agents.profile import Profile
from locust_agents.records import TurnRecord

__all__ = [
    "FINAL_ANSWER",
    "HUMAN_GAP",
    "HUMAN_TEXT",
    "LOOP_LENGTH",
    "TOOL_CALL",
    "TOOL_GAP",
    "TOOL_RESULT",
    "Agent",
    "Behaviour",
    "Compact",
    "Document",
    "Handle",
    "Hole",
    "Join",
    "Launcher",
    "Listener",
    "Outcome",
    "Pause",
    "Profile",
    "Reply",
    "Running",
    "Say",
    "Session",
    "Side",
    "Spawn",
    "Step",
    "ToolCall",
    "Turn",
    "TurnRecord",
    "behaviour",
]
