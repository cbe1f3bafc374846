"""Round trips through the packages themselves: pip install 'dpdag[interop]'."""

import numpy as np
import pandas as pd
import pytest

from dpdag import CAM, DAGPosterior

WHY = "an optional package; pip install 'dpdag[interop]'"
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, not ours


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = 3 + np.tanh(2 * a) + 0.2 * rng.normal(size=500)
    c = 10 * np.sin(2 * b) + 5 * a + rng.normal(size=500)
    return pd.DataFrame({"c": c, "a": a, "b": b})


@pytest.fixture(scope="module")
def learner(data: pd.DataFrame) -> CAM:
    learner = CAM().fit(data)
    assert set(learner.graph_.edges) == {("a", "b"), ("b", "c"), ("a", "c")}
    return learner


def test_dowhy_answers_with_our_mechanisms(learner: CAM, data: pd.DataFrame) -> None:
    gcm = pytest.importorskip("dowhy.gcm", reason=WHY, exc_type=ImportError)
    model = learner.to_dowhy()
    assert isinstance(model, gcm.StructuralCausalModel)
    parents = data[["a", "b"]].to_numpy()
    theirs = model.causal_mechanism("c").prediction_model.predict(parents).ravel()
    np.testing.assert_allclose(theirs, learner.predict(data)["c"], rtol=1e-9)

    rows = data.head(5)
    theirs = gcm.counterfactual_samples(model, {"b": lambda b: 3.5}, observed_data=rows)
    np.testing.assert_allclose(
        theirs[list(data)].to_numpy(), learner.counterfactual(rows, {"b": 3.5}), rtol=1e-9
    )
    gcm.util.general.set_random_seed(0)
    drawn = gcm.interventional_samples(model, {"a": lambda a: 1.0}, num_samples_to_draw=4000)
    ours = learner.sample(4000, {"a": 1.0}, random_state=0)
    np.testing.assert_allclose(drawn[list(data)].mean(), ours.mean(0), atol=0.3)


def test_dowhy_answers_for_a_model_of_transformed_columns() -> None:
    gcm = pytest.importorskip("dowhy.gcm", reason=WHY, exc_type=ImportError)
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = np.tanh(2 * a) + 0.2 * rng.normal(size=300)
    data = pd.DataFrame({"b": np.exp(2 * b), "a": np.exp(a)})
    learner = DAGPosterior(random_state=0, verbose=False).fit(data)
    assert set(learner.graph_.edges) == {("a", "b")}
    assert learner.columns_ is not None
    rows = data.head(20)
    theirs = gcm.counterfactual_samples(
        learner.to_dowhy(), {"a": lambda a: 1.5}, observed_data=rows
    )
    np.testing.assert_allclose(
        theirs[list(data)].to_numpy(), learner.counterfactual(rows, {"a": 1.5}), rtol=1e-6
    )


def test_dowhy_answers_for_noise_of_a_size_that_varies() -> None:
    gcm = pytest.importorskip("dowhy.gcm", reason=WHY, exc_type=ImportError)
    rng = np.random.default_rng(0)
    a = rng.normal(size=600)
    b = a + np.exp(0.7 * a) * rng.normal(size=600)
    c = 100 + 10 * b + 5 * rng.laplace(size=600)
    data = pd.DataFrame({"c": c, "a": a, "b": b})
    learner = DAGPosterior(mechanism=["linear", "additive"], random_state=0, verbose=False).fit(
        data
    )
    assert set(learner.graph_.edges) == {("a", "b"), ("b", "c")}
    model = learner.to_dowhy()
    mechanism = model.causal_mechanism("b")
    assert isinstance(mechanism, gcm.causal_mechanisms.InvertibleFunctionalCausalModel)
    assert not isinstance(mechanism, gcm.PostNonlinearModel)
    assert isinstance(model.causal_mechanism("c"), gcm.AdditiveNoiseModel)

    rows = data.head(20)
    theirs = gcm.counterfactual_samples(model, {"a": lambda a: 1.5}, observed_data=rows)
    ours = learner.counterfactual(rows, {"a": 1.5})
    np.testing.assert_allclose(theirs[list(data)].to_numpy(), ours, rtol=1e-9)
    noise = mechanism.estimate_noise(data[["b"]].to_numpy(), data[["a"]].to_numpy())
    np.testing.assert_allclose(noise[:, 0], learner.model_.residuals[:, 2], rtol=1e-6, atol=1e-9)

    gcm.util.general.set_random_seed(0)
    for value in (-1.5, 1.5):
        drawn = gcm.interventional_samples(
            model, {"a": lambda a, at=value: at}, num_samples_to_draw=4000
        )
        ours = learner.sample(4000, {"a": value}, random_state=0)
        np.testing.assert_allclose(drawn[list(data)].std(), ours.std(), rtol=0.1, atol=1e-9)
    again = mechanism.clone()
    again.fit(data[["a"]].to_numpy(), data["b"].to_numpy())
    np.testing.assert_allclose(again.noise.data, mechanism.noise.data, rtol=1e-6, atol=1e-9)


def test_pgmpy_holds_the_same_graph(learner: CAM) -> None:
    base = pytest.importorskip("pgmpy.base", reason=WHY, exc_type=ImportError)
    dag = learner.to_pgmpy()
    assert isinstance(dag, base.DAG)
    assert set(dag.edges()) == set(learner.graph_.edges)
    assert set(dag.nodes()) == {"a", "b", "c"}


def test_the_lingam_matrix_turns_as_lingam_does(learner: CAM) -> None:
    lingam = pytest.importorskip("lingam", reason=WHY, exc_type=ImportError)
    rng = np.random.default_rng(0)
    a = rng.uniform(size=1000)
    theirs = lingam.DirectLiNGAM()
    theirs.fit(np.stack([a, 2 * a + 0.1 * rng.uniform(size=1000)], axis=1))  # 0 → 1
    ours = learner.to_lingam_matrix()[1:, 1:]  # a → b
    np.testing.assert_array_equal(theirs.adjacency_matrix_ != 0, ours != 0)


def test_the_causallearn_matrix_is_that_of_its_graph(learner: CAM) -> None:
    general = pytest.importorskip(
        "causallearn.graph.GeneralGraph", reason=WHY, exc_type=ImportError
    )
    from causallearn.graph.Edges import Edges
    from causallearn.graph.GraphNode import GraphNode

    nodes = [GraphNode(name) for name in ("c", "a", "b")]
    graph = general.GeneralGraph(nodes)
    for i, j in np.argwhere(learner.adjacency_).tolist():
        graph.add_edge(Edges().directed_edge(nodes[i], nodes[j]))
    np.testing.assert_array_equal(graph.graph, learner.to_causallearn_matrix())
