"""Work launched at once: a function of tensors as a CUDA graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import torch
from torch import Tensor

_WARM_UP = 3  # calls that load kernels and allocate what libraries keep, as torch advises


@dataclass
class _Record:
    """What is known of calls with tensors of certain shapes."""

    calls: int = 0
    fails: bool = False
    graph: torch.cuda.CUDAGraph | None = None
    inputs: tuple[Tensor, ...] = ()
    output: Tensor | None = None


class Captured:
    """A function of tensors that a GPU is given as one graph, once it ran a few times as it is.

    Beside its arguments the function may read and change tensors that stay in place; it must not
    ask for their values. On a CPU it is simply called.

    Arguments:
        function: From tensors to a tensor.
        version: A value that changes when recorded graphs are out of date.

    Example:
        >>> double = Captured(lambda x: 2 * x)
        >>> double(torch.tensor(1.0)).item()
        2.0
    """

    def __init__(
        self, function: Callable[..., Tensor], *, version: Callable[[], Hashable] = lambda: None
    ) -> None:
        self.function = function
        self.version = version
        self._recorded: Hashable = None
        self._records: dict[Hashable, _Record] = {}
        self._stream: torch.cuda.Stream | None = None

    def __call__(self, *tensors: Tensor) -> Tensor:
        if not tensors[0].is_cuda:
            return self.function(*tensors)
        if self._recorded != self.version():
            self._recorded, self._records = self.version(), {}
        record = self._records.setdefault(tuple(x.shape for x in tensors), _Record())
        with torch.cuda.device(tensors[0].device):
            # Kernels are compiled for what arguments are aligned to: always the same memory.
            if not record.inputs:
                record.inputs = tuple(x.contiguous().clone() for x in tensors)
            else:
                for own, value in zip(record.inputs, tensors):
                    own.copy_(value)
            record.calls += 1
            if record.graph is None and record.calls > _WARM_UP and not record.fails:
                try:
                    record.graph, record.output = self._capture(record.inputs)
                except RuntimeError:  # of CUDA; what cannot be recorded is launched as it is
                    record.fails = True
            if record.graph is None:
                return self._aside(lambda: self.function(*record.inputs))
            record.graph.replay()
            assert record.output is not None
            return record.output.clone()

    def _aside(self, work: Callable[[], Tensor]) -> Tensor:
        """Do work on the stream that graphs are recorded on, which no other work is on."""
        main = torch.cuda.current_stream()
        if self._stream is None:
            self._stream = torch.cuda.Stream()
        self._stream.wait_stream(main)
        with torch.cuda.stream(self._stream):
            result = work()
        main.wait_stream(self._stream)
        return result

    def _capture(self, inputs: tuple[Tensor, ...]) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        graph = torch.cuda.CUDAGraph()

        def capture() -> Tensor:
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                return self.function(*inputs)
            finally:
                graph.capture_end()

        collects = gc.isenabled()
        gc.disable()  # memory of earlier graphs must not be freed while one is recorded
        try:
            torch.cuda.synchronize()
            return graph, self._aside(capture)
        finally:
            if collects:
                gc.enable()
