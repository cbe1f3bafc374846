"""Everything a training run is at the end of an epoch, and its way to disk and back."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Generator, Tensor

from .adam import ReplicaAdam, aligned

_TENSORS, _FACTS = "training.safetensors", "training.json"
_FORMAT = 1


@dataclass
class TrainingState:
    """The mutable state of one run.

    Attributes:
        parameters: Named tensors with a leading replica axis, trained in place.
        adam: Their optimiser.
        generators: One random stream per replica.
        best: A copy of the parameters at each replica's best validation loss.
        best_loss: (r,) that loss.
        stale: (r,) checks since it last improved.
        stopped: (r,) replicas that train no more, and ``diverged``: those of them whose loss became
            infinite.
        epoch: Epochs finished.
        history: Rows of (r,) tensors, one per epoch.
    """

    parameters: dict[str, Tensor]
    adam: ReplicaAdam
    generators: list[Generator]
    best: dict[str, Tensor]
    best_loss: Tensor
    stale: Tensor
    stopped: Tensor
    diverged: Tensor
    epoch: int = 0
    history: list[dict[str, Tensor]] = field(default_factory=list)

    @classmethod
    def start(
        cls, parameters: dict[str, Tensor], adam: ReplicaAdam, generators: list[Generator]
    ) -> TrainingState:
        """The state before the first epoch."""
        device, r = next(iter(parameters.values())).device, len(generators)
        return cls(
            parameters=parameters,
            adam=adam,
            generators=generators,
            best={name: tensor.detach().clone() for name, tensor in parameters.items()},
            best_loss=torch.full((r,), torch.inf, device=device),
            stale=torch.zeros(r, dtype=torch.long, device=device),
            stopped=torch.zeros(r, dtype=torch.bool, device=device),
            diverged=torch.zeros(r, dtype=torch.bool, device=device),
        )

    def keep_best(
        self,
        loss: Tensor,  # (r,)
        *,
        early: bool = True,
        improvement: float = 0.0,
    ) -> None:
        """Copy the parameters of every running replica whose validation loss is its lowest yet.

        Without early stopping every finite state counts as better than the one before.
        """
        improved = (loss < self.best_loss - improvement) if early else loss.isfinite()
        improved = improved & ~self.stopped
        self.best_loss = torch.where(improved, loss, self.best_loss)
        self.stale = torch.where(improved, 0, self.stale + 1)
        for name, tensor in self.parameters.items():
            better = aligned(improved, tensor)
            self.best[name] = torch.where(better, tensor.detach(), self.best[name])

    def stop(self, which: Tensor) -> None:  # (r,) bool
        """End the training of some replicas, at their best state."""
        if not bool(which.any()):
            return
        self.stopped = self.stopped | which
        self.adam.slow(self.stopped, 0.0)
        self.restore(which)

    @torch.no_grad()
    def restore(self, which: Tensor) -> None:  # (r,) bool
        """Go back to the best state of some replicas."""
        if not bool(which.any()):
            return
        for name, tensor in self.parameters.items():
            tensor.copy_(torch.where(aligned(which, tensor), self.best[name], tensor))

    def begin_anew(self, which: Tensor, *, slowing: float) -> None:  # (r,) bool
        """Forget how good some replicas were, as what they minimise has changed."""
        if not bool(which.any()):
            return
        self.adam.slow(which, slowing)
        self.best_loss = self.best_loss.masked_fill(which, torch.inf)
        self.stale = self.stale.masked_fill(which, 0)

    def save(self, folder: Path) -> None:
        """Write to a folder, all or nothing."""
        tensors = {f"parameter/{k}": v.detach() for k, v in self.parameters.items()}
        tensors |= {f"best/{k}": v for k, v in self.best.items()}
        tensors |= {f"adam/{k}": v for k, v in self.adam.state_dict().items()}
        tensors |= {f"generator/{k}": g.get_state() for k, g in enumerate(self.generators)}
        tensors |= {"best_loss": self.best_loss, "stale": self.stale, "stopped": self.stopped}
        for name in self.history[0] if self.history else ():
            tensors[f"history/{name}"] = torch.stack([row[name] for row in self.history])
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        save_file({k: v.cpu().contiguous() for k, v in tensors.items()}, partial / _TENSORS)
        facts = {"format": _FORMAT, "epoch": self.epoch, "replicas": len(self.generators)}
        (partial / _FACTS).write_text(json.dumps(facts))
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)

    def load(self, folder: Path) -> None:
        """Continue from a folder as if never interrupted."""
        if not (folder / _FACTS).is_file():
            raise ValueError(f"'resume_from' must be a checkpoint folder; {folder} is not one.")
        facts = json.loads((folder / _FACTS).read_text())
        tensors = load_file(folder / _TENSORS)
        shapes = {k: tuple(v.shape) for k, v in self.parameters.items()}
        stored = {
            k.removeprefix("parameter/"): tuple(v.shape)
            for k, v in tensors.items()
            if k.startswith("parameter/")
        }
        if facts.get("format") != _FORMAT or stored != shapes:
            raise ValueError(
                f"The checkpoint in {folder} belongs to another model, data set or version; "
                "resume with the settings it was made with."
            )
        device = self.best_loss.device
        with torch.no_grad():
            for name, tensor in self.parameters.items():
                tensor.copy_(tensors[f"parameter/{name}"])
                self.best[name] = tensors[f"best/{name}"].to(device)
        prefix = "adam/"
        self.adam.load_state_dict(
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        )
        for k, generator in enumerate(self.generators):
            generator.set_state(tensors[f"generator/{k}"])
        for name in ("best_loss", "stale", "stopped"):
            setattr(self, name, tensors[name].to(device))
        self.epoch = int(facts["epoch"])
        names = [k.removeprefix("history/") for k in tensors if k.startswith("history/")]
        self.history = [
            {name: tensors[f"history/{name}"][k].to(device) for name in names}
            for k in range(self.epoch)
        ]
