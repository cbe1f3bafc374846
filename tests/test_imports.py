"""What importing the package costs and offers."""

import os
import subprocess
import sys

import pytest

import dpdag


def test_every_public_name_is_there_and_listed() -> None:
    assert set(dpdag.__all__) <= set(dir(dpdag))
    for name in dpdag.__all__:
        assert getattr(dpdag, name) is not None
    assert dpdag.VIDPDAG is dpdag.learners.VIDPDAG
    assert dpdag.distributions.Knowledge is dpdag.Knowledge
    for name in ("VIDPDG", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(dpdag, name)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, dpdag; dir(dpdag); heavy = {'torch', 'sklearn', 'scipy', 'pandas', 'numpy'};"
        "sys.exit(f'{heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("own", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_passively_unless_the_caller_says_otherwise(own, expected) -> None:
    others = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", "import os, dpdag; print(os.environ['OMP_WAIT_POLICY'])"],
        env=others if own is None else {**others, "OMP_WAIT_POLICY": own},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.strip() == expected
