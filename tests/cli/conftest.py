"""Commands of dpdag as processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(SOURCE),
    "OMP_NUM_THREADS": "1",
    "COLUMNS": "100",
    "NO_COLOR": "1",
}


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    status: int
    stdout: str
    stderr: str


class Commands:
    """Runs ``dpdag`` with arguments, in a folder."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("zygote.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=ENVIRONMENT,
            text=True,
        )

    def __call__(
        self, folder: Path, *arguments: object, user: int | None = None, max_file: int | None = None
    ) -> Result:
        """Run in ``folder``, as another user or with a limit on the size of files if given."""
        streams = {name: folder.parent / f"{folder.name}.{name}" for name in ("stdout", "stderr")}
        command = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(folder),
            "user": user,
            "max_file": max_file,
            **{name: str(file) for name, file in streams.items()},
        }
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        status = json.loads(self._process.stdout.readline())
        return Result(status, *(streams[name].read_text() for name in ("stdout", "stderr")))

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="session")
def dpdag() -> Iterator[Commands]:
    """The command line, imported once."""
    commands = Commands()
    yield commands
    commands.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to run in."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture(scope="session")
def own_process() -> Callable[..., subprocess.Popen]:
    """Start the installed command where there is one, else the module, from nothing."""

    def start(*arguments: object, extra: dict[str, str] | None = None, cwd: Path | None = None):
        script = Path(sys.executable).with_name("dpdag")
        command = [str(script)] if script.exists() else [sys.executable, "-m", "dpdag"]
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            env={**ENVIRONMENT, **(extra or {})},
            cwd=cwd,
            # A test run in the background ignores Ctrl-C, and its children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
