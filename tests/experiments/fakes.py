"""Learners and data that take no time; importable by the processes that tests start."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

from dpdag.datasets import Dataset, Provenance

TRUTH = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def tiny(name: str, index: int) -> Dataset:
    """Thirty rows of noise and a chain of three nodes."""
    X = np.random.default_rng(index).normal(size=(30, 3))
    return Dataset(X, TRUTH, ["a", "b", "c"], name, Provenance("generated", "noise"))


class Guess(BaseEstimator):
    """Random scores; every fit leaves a line in ``log``, and may end badly.

    Arguments:
        log: File.
        end: "raise", "sleep", "die", or "die once": at the first fit that ``log`` knows of.
        delay: Seconds of every fit.
        shift: Added to the scores.
    """

    def __init__(
        self,
        log: str = "",
        end: str = "",
        delay: float = 0.0,
        shift: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        self.log = log
        self.end = end
        self.delay = delay
        self.shift = shift
        self.random_state = random_state

    def fit(self, X: np.ndarray) -> "Guess":
        before = Path(self.log).read_text() if self.log and Path(self.log).exists() else ""
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.random_state} {X[0, 0]:.6f}\n")
        time.sleep(60 if self.end == "sleep" else self.delay)
        if self.end == "raise":
            raise ValueError("no idea")
        if self.end == "die" or (self.end == "die once" and not before):
            os.kill(os.getpid(), signal.SIGKILL)
        scores = np.random.default_rng([self.random_state, int(1e6 * abs(X[0, 0]))]).random((3, 3))
        self.edge_scores_ = scores + self.shift
        self.adjacency_ = TRUTH
        return self


class NoLearner:
    """Has no ``fit``."""
