"""Decides that a built model is either wholly there or not at all, whoever else builds it and whatever kills them."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from locust_agents.errors import ClusterError
from locust_agents.telling import Say

_BUILD_LIMIT_S = 120.0  # takes 2 s on two idle cores
_UNFINISHED = ".part"
_LOG_LINES = 20


def build_once(variant: str, folder: Path, say: Say) -> None:
    """Builds a variant in a process of its own, beside `folder`, and gives it that name when it is whole.

    Of several processes one builds and the others wait. Raises ClusterError when the build fails, OSError when the
    place cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _only_builder(folder.parent) as lock:
        if folder.is_dir():  # another process built it while this one waited
            return
        say(f"making the {variant} model (once, a few seconds)")
        unfinished = folder.with_name(folder.name + _UNFINISHED)
        try:
            unfinished.mkdir()
            _run_build(variant, unfinished, lock)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _only_builder(models: Path) -> Iterator[int]:
    # the kernel frees a dead builder's lock: who holds it may remove what others left unfinished
    lock = os.open(models / ".lock", os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in models.glob(f"*{_UNFINISHED}"):
            shutil.rmtree(left)
        yield lock
    finally:
        os.close(lock)


def _run_build(variant: str, folder: Path, lock: int) -> None:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        with _child(variant, folder, lock, log.fileno()) as child:
            try:
                child.wait(_BUILD_LIMIT_S)
            except subprocess.TimeoutExpired as error:
                raise ClusterError(f"the {variant} model was not made within {_BUILD_LIMIT_S:.0f} s") from error
            finally:
                child.kill()
        log.seek(0)
        tail = tuple(log.read().splitlines()[-_LOG_LINES:])
    if child.returncode != 0:
        raise ClusterError(f"the {variant} model could not be made: {tail[-1] if tail else 'no reason given'}", tail)


def _child(variant: str, folder: Path, lock: int, log: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # -P: a module in the working folder must not stand in for one of ours
        [sys.executable, "-P", "-m", "locust_agents.cluster.tiny.build", variant, str(folder)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
        stdin=subprocess.PIPE,  # never written: it closes when we end, however we end, and the child ends with it
        stdout=subprocess.DEVNULL,
        stderr=log,
        pass_fds=[lock],  # an orphan keeps the lock until it is gone
        start_new_session=True,  # Ctrl-C is ours to handle
    )
