"""The tiny models: built once, by one of several processes, wholly there or not at all."""

import fcntl
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster.tiny import model, store
from locust_agents.cluster.tiny import recipe as tiny_recipe
from locust_agents.errors import ClusterError

IMPORT = "import pathlib, signal, sys; from locust_agents.cluster.tiny import model as tiny_model"
# a job in the background may have inherited that Ctrl-C is ignored
HEAR = "signal.signal(signal.SIGINT, signal.default_int_handler)"
ENSURE = f"{IMPORT}; {HEAR}; sys.executable = sys.argv[2]; tiny_model.ensure('tiny', print, pathlib.Path(sys.argv[1]))"
FILES = {"config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json", "tokenizer_config.json"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    model.ensure("tiny", print, folder)
    return folder


def entries(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def start_ensure(cache: Path, python: str = sys.executable) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", ENSURE, str(cache), python]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def script(path: Path, text: str) -> str:
    """A program in the place of the Python that builds."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def wait_for_child(builder: "subprocess.Popen[str]") -> None:
    while not psutil.Process(builder.pid).children():
        assert builder.poll() is None
        time.sleep(0.01)


def wait_for_lock(cache: Path) -> None:
    with (cache / "models" / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def test_a_model_is_built_once_and_found_again_without_a_word(cache: Path) -> None:
    said: list[str] = []
    folder = model.ensure("tiny", said.append, cache)
    assert said == []
    assert {file.name for file in folder.iterdir()} == FILES
    assert entries(cache) == [folder.name]


def test_two_builders_at_once_both_get_the_model_and_one_builds(tmp_path: Path) -> None:
    outputs = [builder.communicate()[0] for builder in [start_ensure(tmp_path), start_ensure(tmp_path)]]
    assert sorted(outputs) == ["", "making the tiny model (once, a few seconds)\n"]
    assert len(entries(tmp_path)) == 1


@pytest.mark.parametrize(
    ("end", "left"),
    [
        pytest.param(signal.SIGINT, 0, id="Ctrl-C removes what it began"),
        pytest.param(signal.SIGKILL, 1, id="kill -9 leaves something that is no model, and the next build removes it"),
    ],
)
def test_a_build_that_is_ended_leaves_no_model_and_no_process(end: signal.Signals, left: int, tmp_path: Path) -> None:
    held = f'while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exec {sys.executable} "$@"'
    with start_ensure(tmp_path, script(tmp_path / "python", held)) as builder:
        wait_for_child(builder)
        builder.send_signal(end)
    (tmp_path / "go").touch()
    wait_for_lock(tmp_path)  # an orphan holds it until it has ended
    assert len(list(tmp_path.glob("models/*.part"))) == len(entries(tmp_path)) == left
    assert not list(tmp_path.glob("models/*/config.json"))  # an orphan that went on would have written it
    folder = model.ensure("tiny", print, tmp_path)
    assert entries(tmp_path) == [folder.name]


def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = script(tmp_path / "python", "echo first >&2\necho last >&2\nexit 1")
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(ClusterError, match="the tiny model could not be made: last") as raised:
        model.ensure("tiny", print, tmp_path)
    assert raised.value.log_tail == ("first", "last")
    assert entries(tmp_path) == []


def test_a_build_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_BUILD_LIMIT_S", 0.01)
    monkeypatch.setattr(sys, "executable", script(tmp_path / "python", "exec sleep 600"))
    with pytest.raises(ClusterError, match="not made within"):
        model.ensure("tiny", print, tmp_path)
    assert entries(tmp_path) == []


def test_without_mlx_lm_the_way_out_is_to_attach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model, "version", missing)
    with pytest.raises(ClusterError, match="mlx-lm is not installed on this machine: use --attach"):
        model.ensure("tiny", print, tmp_path)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match=r"cannot be kept in .*file/models: Not a directory"):
        model.ensure("tiny", print, tmp_path / "file")


def test_an_unknown_variant_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ClusterError, match="'huge'; take one of tiny, tiny-long, tiny-hybrid"):
        model.ensure("huge", print)


def test_the_name_follows_the_recipe() -> None:
    name = tiny_recipe.folder_name("tiny", "0.32.2")
    assert name == tiny_recipe.folder_name("tiny", "0.32.9")
    others = {tiny_recipe.folder_name(*recipe) for recipe in [("tiny", "0.33.0"), ("tiny-long", "0.32.2")]}
    assert len(others - {name}) == 2


def test_the_command_makes_a_copy(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model, "user_cache_path", lambda _: cache)
    assert model.main([str(tmp_path / "new" / "model")]) == 0
    assert {file.name for file in (tmp_path / "new" / "model").iterdir()} == FILES
    assert "mlx_lm server --model" in capsys.readouterr().out


def test_the_command_refuses_a_folder_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match="is not empty"):
        model.main([str(tmp_path)])
    with pytest.raises(ClusterError, match="is a file"):
        model.main([str(tmp_path / "file")])


def test_the_build_does_not_look_into_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert model.ensure("tiny", print, tmp_path).is_dir()


def test_the_load_process_stays_free_of_mlx() -> None:
    code = f"{IMPORT}; print({{'mlx', 'mlx_lm', 'transformers', 'tokenizers'}} & set(sys.modules))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout == "set()\n"
