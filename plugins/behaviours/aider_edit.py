"""Aider's way: files stand before the history, so that each edit takes everything behind it out of the cache."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, Agent, Document, Reply, Session, behaviour

# Aider's own default for its repository map (its `--map-tokens`).
_MAP_TOKENS = 1024


@behaviour
def aider_edit(agent: Agent, files: int = 3, file_tokens: int = 1500, edits: int = 6) -> Session:
    """Works on `files` files of `file_tokens`; each answer edits one of them, which is sent anew before the history.

    A prompt of 2 to 10k tokens in all is usual, answers are edit blocks; sizes and counts of files are assumptions.
    """
    versions = dict.fromkeys(range(files), 1)
    for _ in range(edits):
        shown = [Document(f"src/part_{name}.py", file_tokens, version) for name, version in versions.items()]
        repo_map = Document("repository map", _MAP_TOKENS, version=sum(versions.values()))
        turn = agent.user("Change this too.", tokens=agent.draw(HUMAN_TEXT))
        reply: Reply = yield turn.showing(repo_map, *shown)
        if not reply.ok:
            return
        yield agent.pause(agent.draw(HUMAN_GAP))
        versions[agent.rng.randrange(files)] += 1
