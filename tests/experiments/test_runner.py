"""Cells are run once, by whatever engine, and errors stay with the cells that made them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from dpdag import CAM, NOTEARS
from dpdag.experiments import Experiment, Method, Outcome, Store
from dpdag.experiments.cell import Cell, plan
from dpdag.experiments.engines import Local, OnRay
from dpdag.experiments.runner import Engine, batches, missing, run

Make = Callable[..., Experiment]


def finish(
    experiment: Experiment, store: Store, engine: Engine | None = None, *, retry: bool = False
) -> list[Outcome]:
    """Run what is missing; the outcomes of all cells in the order of the plan."""
    cells = plan(experiment)
    left = missing(cells, store, alone=experiment.alone, retry=retry)
    run(batches(left, 1 if experiment.alone else 10), store, engine or Local())
    found = store.outcomes()
    return [found[cell.identity] for cell in cells]


def test_resuming_does_nothing_twice(experiment: Make, log: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first = finish(experiment(), store)
    assert len(first) == 2
    assert finish(experiment(), store) == first
    assert len(log.read_text().splitlines()) == 2
    assert len(store.cells.read_bytes().splitlines()) == 2


def test_a_changed_parameter_is_a_new_cell(experiment: Make, log: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    finish(experiment(), store)
    finish(experiment(shift=1.0), store)
    assert len(log.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"index": 1},
        {"seed": 1},
        {"held_out": True},
        {"device": "cuda"},
        {"measures": ()},
        {"method": Method("CAM", CAM, {"penalty": 2.0})},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_changes_the_result_changes_the_identity(
    fakes: ModuleType, experiment: Make, change: dict
) -> None:
    source, measures = experiment().sources[0], experiment().measures
    cell = Cell(source, 0, Method("CAM", CAM), measures=measures)
    assert replace(cell).identity == cell.identity
    assert replace(cell, method=Method("CAM", CAM, {"penalty": 3.0})).identity == cell.identity
    assert replace(cell, **change).identity != cell.identity


def test_failing_cells_are_recorded_and_the_rest_goes_on(experiment: Make, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    outcomes = finish(experiment("raise", "die", "sleep", ""), store, Local(jobs=2, timeout=2))
    errors = {one.method: one.error for one in outcomes}
    assert errors == {
        "raise": "ValueError: no idea",
        "die": "RuntimeError: its process ended with status -9.",
        "sleep": "TimeoutError: took longer than 2 seconds; see --timeout.",
        "guess": "",
    }
    assert all(one.values.keys() >= {"Dir-AUC-PR", "seconds"} for one in outcomes if not one.error)


def test_failures_are_run_again_only_when_asked(
    experiment: Make, log: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    finish(experiment("raise"), store)
    finish(experiment("raise"), store)
    assert len(log.read_text().splitlines()) == 2
    finish(experiment("raise"), store, retry=True)
    assert len(log.read_text().splitlines()) == 4


def test_learners_that_can_train_as_one_batch_and_times_are_of_single_fits(
    experiment: Make, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    quick = Method("NOTEARS", NOTEARS, {"max_epochs": 2})
    together = replace(experiment(), methods=(quick,))
    batch = finish(together, store)
    assert {one.batch for one in batch} == {2}
    assert batch[0].batch_seconds == pytest.approx(2 * batch[0].seconds)
    alone = finish(replace(together, alone=True), store)
    assert {one.batch for one in alone} == {1}
    aucs = [[one.values["Dir-AUC-PR"] for one in some] for some in (batch, alone)]
    assert aucs[0] == pytest.approx(aucs[1])
    assert len(store.cells.read_bytes().splitlines()) == 4


def test_a_cell_that_breaks_its_batch_fails_alone(experiment: Make, tmp_path: Path) -> None:
    def engine(work):  # batches fail as a whole
        for batch in work:
            whole = RuntimeError("lost") if len(batch) > 1 else None
            yield batch, whole or next(Local()([batch]))[1]

    quick = Method("NOTEARS", NOTEARS, {"max_epochs": 2})
    outcomes = finish(replace(experiment(), methods=(quick,)), Store(tmp_path / "s"), engine)
    assert [one.error for one in outcomes] == ["", ""]


def test_rows_held_out_differ_from_set_to_set(experiment: Make) -> None:
    cells = plan(replace(experiment(), held_out=True, sources=_single(experiment())), sets=3)
    assert [cell.index for cell in cells] == [0, 1, 2]
    assert len(plan(replace(experiment(), sources=_single(experiment())), sets=3)) == 1


def _single(experiment: Experiment) -> tuple:
    return (replace(experiment.sources[0], count=1),)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
class TestRay:
    """A real Ray on this machine."""

    def test_gives_what_processes_give(self, experiment: Make, tmp_path: Path) -> None:
        pytest.importorskip("ray", reason="needs pip install 'dpdag[ray]'")
        both = [
            finish(experiment("", "raise"), Store(tmp_path / name), engine)
            for name, engine in (("local", Local()), ("ray", OnRay()))
        ]
        for local, ray in zip(*both, strict=True):
            assert (local.id, local.error) == (ray.id, ray.error)
            timeless = [{**one.values, "seconds": 0} for one in (local, ray)]
            assert timeless[0] == timeless[1]

    def test_loses_nothing_with_a_worker_and_does_nothing_twice(
        self, experiment: Make, log: Path, tmp_path: Path
    ) -> None:
        pytest.importorskip("ray", reason="needs pip install 'dpdag[ray]'")
        store = Store(tmp_path / "store")
        outcomes = finish(experiment("die once"), store, OnRay())
        assert [one.error for one in outcomes] == ["", ""]
        assert len(log.read_text().splitlines()) == 3  # the one that died among them
        assert len(store.cells.read_bytes().splitlines()) == 2
        assert finish(experiment("die once"), store, OnRay()) == outcomes

    def test_ends_cells_that_take_too_long(self, experiment: Make, tmp_path: Path) -> None:
        pytest.importorskip("ray", reason="needs pip install 'dpdag[ray]'")
        outcomes = finish(experiment("sleep"), Store(tmp_path / "store"), OnRay(jobs=2, timeout=2))
        said = "TimeoutError: took longer than 2 seconds; see --timeout."
        assert [one.error for one in outcomes] == [said, said]
