"""What importing the package costs and offers."""

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
