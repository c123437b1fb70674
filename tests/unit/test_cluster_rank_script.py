"""The script that begins each rank, in a real /bin/sh: logs, `~`, folders, the pid."""

import subprocess
from pathlib import Path

import pytest

from locust_agents.cluster.rank_script import rank_script
from tests.patience import PATIENCE_S

ODD = 'a folder\'s "name" $HOME; `x`'
SEVERAL = rank_script(is_alone=False, has_folder=False)


def run(script: str, *words: str, **environment: str) -> tuple[int, int, str, str]:
    """Exit status, pid, standard output and error."""
    child = subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", *words],
        env={"PATH": "/usr/bin:/bin", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output, errors = child.communicate(timeout=PATIENCE_S)
    return child.returncode, child.pid, output, errors


def fake_server(folder: Path) -> Path:
    """Prints its pid, folder, environment variable NOTE and words, one a line."""
    path = folder / "server"
    path.write_text('#!/bin/sh\necho "$$"\npwd\necho "${NOTE-}"\nfor word do echo "$word"; done\n')
    path.chmod(0o755)
    return path


def test_log_keeps_odd_names_and_the_pid(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    status, pid, output, errors = run(
        SEVERAL, "/bin/echo", ODD, "b  c", LOCUST_AGENTS_LOGS=str(folder), MLX_RANK="1", HOME="/root"
    )
    assert (status, output, errors) == (0, "", "")
    assert (folder / "rank-1.log").read_text() == f"pid {pid}\n{ODD} b  c\n"


def test_without_the_folder_the_output_stays_in_the_stream(tmp_path: Path) -> None:
    status, pid, output, errors = run(
        SEVERAL, str(fake_server(tmp_path)), "x", LOCUST_AGENTS_LOGS=str(tmp_path / "none"), MLX_RANK="3", NOTE="n"
    )
    assert (status, errors) == (0, "")
    assert output.splitlines() == [f"rank 3 pid {pid}", str(pid), str(Path.cwd()), "n", "x"]
    assert not (tmp_path / "none").exists()


def test_errors_go_to_the_log_too(tmp_path: Path) -> None:
    status, _, output, errors = run(SEVERAL, "/nowhere/python", LOCUST_AGENTS_LOGS=str(tmp_path), MLX_RANK="0")
    assert (status, output, errors) == (127, "", "")
    assert "/nowhere/python" in (tmp_path / "rank-0.log").read_text()


@pytest.mark.parametrize(
    ("environment", "name", "remark"),
    [
        ({"MLX_RANK": "2"}, "rank-2.log", "mlx.launch numbers them"),
        ({"OMPI_COMM_WORLD_RANK": "1"}, "rank-1.log", "Open MPI does"),
        ({"PMI_RANK": "4"}, "rank-4.log", "MPICH does"),
        ({}, "rank-0.log", "nobody does"),
    ],
)
def test_rank_number(tmp_path: Path, environment: dict[str, str], name: str, remark: str) -> None:
    run(SEVERAL, "/bin/echo", LOCUST_AGENTS_LOGS=str(tmp_path), **environment)
    assert [path.name for path in tmp_path.iterdir()] == [name], remark


@pytest.mark.parametrize(
    ("word", "becomes", "remark"),
    [
        ("~/models/x", "{home}/models/x", "the node's home"),
        ("~", "{home}", "alone"),
        ("~/a  'b' \"c\" $d `e`", "{home}/a  'b' \"c\" $d `e`", "what follows is left alone"),
        ("a~/b", "a~/b", "not at the beginning"),
        ("~bob/x", "~bob/x", "somebody else's"),
        ("--x=~/y", "--x=~/y", "inside of a word"),
        ("", "", "an empty word stays one"),
        ("*", "*", "no file names"),
    ],
)
def test_tilde(tmp_path: Path, word: str, becomes: str, remark: str) -> None:
    home = tmp_path / "my home's"
    home.mkdir()
    server = fake_server(home)
    _, _, output, errors = run(SEVERAL, f"~/{server.name}", "first", word, "last", HOME=str(home))
    assert errors == "", remark
    assert output.splitlines()[4:] == ["first", becomes.format(home=home), "last"], remark


def test_folder(tmp_path: Path) -> None:
    script = rank_script(is_alone=False, has_folder=True)
    (tmp_path / ODD).mkdir()
    _, _, output, errors = run(script, f"~/{ODD}", str(fake_server(tmp_path)), "x", HOME=str(tmp_path))
    assert errors == ""
    assert output.splitlines()[2:] == [str(tmp_path / ODD), "", "x"]


def test_missing_folder_ends_the_rank(tmp_path: Path) -> None:
    script = rank_script(is_alone=False, has_folder=True)
    status, _, output, _ = run(
        script, "~/none", str(fake_server(tmp_path)), HOME=str(tmp_path), LOCUST_AGENTS_LOGS=str(tmp_path), MLX_RANK="0"
    )
    assert status != 0
    assert output == ""
    assert str(tmp_path / "none") in (tmp_path / "rank-0.log").read_text()


def test_one_alone_has_no_hostfile() -> None:
    script = rank_script(is_alone=True, has_folder=False)
    words = ("/bin/sh", "-c", 'echo "${MLX_HOSTFILE-none}"')
    assert run(script, *words, MLX_HOSTFILE="/tmp/x")[2].splitlines()[1:] == ["none"]
    assert run(SEVERAL, *words, MLX_HOSTFILE="/tmp/x")[2].splitlines()[1:] == ["/tmp/x"]
