"""A server that replays timed bytes: what tests, plugins and benchmarks hold a client against."""

from locust_agents.cluster.replay.chat import MLX_HEADERS, ToolCall, chat_stream
from locust_agents.cluster.replay.completions import completion_stream
from locust_agents.cluster.replay.file import load_scripts, script_from_json
from locust_agents.cluster.replay.held import Received, ReplayServer
from locust_agents.cluster.replay.scripts import Ending, Framing, Script
from locust_agents.cluster.replay.whole import chat_answer
from locust_agents.cluster.replay.wire import STAMP

__all__ = [
    "MLX_HEADERS",
    "STAMP",
    "Ending",
    "Framing",
    "Received",
    "ReplayServer",
    "Script",
    "ToolCall",
    "chat_answer",
    "chat_stream",
    "completion_stream",
    "load_scripts",
    "script_from_json",
]
