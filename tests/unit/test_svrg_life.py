"""The life of an SVRGModule: other shapes, other bindings, files, and what fit makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

from .svrg_nets import (
    PLAIN,
    ROWS,
    TARGETS,
    batch,
    fresh,
    gradients,
    iterator,
    means,
    network,
    ready,
    run,
    steps,
    weights,
)

# --- other shapes, other bindings -----------------------------------------------------------------


@pytest.mark.clause("SVRG/few-rows")
@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 7])
def test_a_last_batch_with_few_rows(rows, contexts) -> None:
    # The slice rule cannot cut 6 rows for 4 contexts either: 2, 2, 2, none.
    data = iterator(ROWS[:rows], TARGETS[:rows], 8)
    module = ready(data, contexts)
    module.update_full_grads(data)
    exact = np.array(ROWS[:rows], float)
    errors = exact.sum(axis=1) - TARGETS[:rows]
    expected = np.float32(errors @ exact) * np.float32(8) / np.float32(rows)
    assert means(module)[0]["fc_weight"] == expected.tolist()


@pytest.mark.clause("SVRG/batch-size")
def test_a_reshape_between_steps() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    module.reshape([("data", (2, 2))], [("target", (2,))])
    assert module._mod_aux.data_shapes[0].shape == (2, 2)
    module.forward_backward(batch(0, 2))
    assert gradients(module) == [[5, 5.75], [0.25]]


@pytest.mark.clause("SVRG/rebind")
def test_a_rebind_needs_a_new_full_pass() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    module.bind(data.provide_data, data.provide_label)  # bound already
    module.forward_backward(batch(0, 4))
    module.bind(data.provide_data, data.provide_label, force_rebind=True)
    with pytest.raises(AssertionError) as caught:
        module.forward_backward(batch(0, 4))
    assert caught.value.clause == "SVRG/needs-full-pass"
    assert run(module, data, 1) == PLAIN


@pytest.mark.clause("SVRG/rebind")
def test_bound_for_evaluation_and_back() -> None:
    data = iterator()
    module = ready(data)
    module.update_full_grads(data)
    for training in (False, True):
        module.bind(data.provide_data, data.provide_label, for_training=training, force_rebind=True)
        assert module.score(data, "mse") == [("mse", 8.125)]
    assert run(module, data, 1) == PLAIN


@pytest.mark.clause("SVRG/shared-module")
def test_modules_that_share_parameters_have_snapshots_of_their_own() -> None:
    data = iterator()
    module, other = ready(data), fresh()
    other.bind(data.provide_data, data.provide_label, shared_module=module)
    assert other.optimizer_initialized
    module.update_full_grads(data)
    with pytest.raises(AssertionError):
        other.forward_backward(batch(0, 4))
    module.forward_backward(batch(0, 4))
    module.update()
    other.update_full_grads(data)
    other.forward_backward(batch(4, 8))
    assert gradients(other)[0] != [10, 11.5]
    assert weights(other) == weights(module)
    snapshots = [one._mod_aux.get_params()[0]["fc_bias"].asscalar() for one in (module, other)]
    assert snapshots == [0, -0.5 / 64]


@pytest.mark.clause("SVRG/init-optimizer")
@pytest.mark.parametrize("settings", [{}, {"contexts": 2}])
def test_a_call_that_is_ignored_changes_nothing(settings, caplog) -> None:
    data = iterator()
    module = ready(data, **settings)
    module.update_full_grads(data)
    module.init_optimizer()
    assert "init_optimizer changes nothing" in caplog.text
    module.forward_backward(batch(0, 4))
    module.init_optimizer(force_init=True)
    with pytest.raises(AssertionError):
        module.forward_backward(batch(0, 4))


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.clause("SVRG/load")
def test_load(tmp_path) -> None:
    data, prefix = iterator(), str(tmp_path / "net")
    module = ready(data, parameters={"momentum": 0.5, "learning_rate": 1 / 16})
    run(module, data, 1)
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-0001.params", "net-0001.states", "net-symbol.json"]
    loaded = SVRGModule.load(prefix, 1, load_optimizer_states=True, label_names=["target"], update_freq=3)
    assert type(loaded) is SVRGModule
    assert loaded.update_freq == 3
    assert loaded.symbol.tojson() == network().tojson()
    loaded.bind(data.provide_data, data.provide_label)
    loaded.init_optimizer(optimizer_params={"momentum": 0.5, "learning_rate": 1 / 16})
    assert run(loaded, data, 1) == run(module, data, 1)
    with pytest.raises(TypeError) as caught:
        SVRGModule.load(prefix, 1, label_names=["target"])
    assert caught.value.clause == "SVRG/update-freq"


@pytest.mark.clause("SVRG/resume")
@pytest.mark.parametrize("contexts", [1, 2])
@pytest.mark.parametrize("begin", [2, 4])
def test_resumed_where_a_pass_is_due(begin, contexts, tmp_path) -> None:
    settings = {
        "num_epoch": 6, "eval_metric": "mse", "optimizer_params": {"learning_rate": 1 / 16, "momentum": 0.5},
        "initializer": mx.init.One(),
    }
    prefix = str(tmp_path / "net")
    whole = fresh(contexts=contexts, frequency=2)
    whole.fit(iterator(size=3), epoch_end_callback=lambda epoch, *_: whole.save_checkpoint(
        prefix, epoch + 1, save_optimizer_states=True), **settings)
    again = SVRGModule.load(
        prefix, begin, load_optimizer_states=True, label_names=["target"], update_freq=2,
        context=[mx.cpu(i) for i in range(contexts)],
    )
    again.fit(iterator(size=3), begin_epoch=begin, **settings)
    assert weights(again) == weights(whole)


@pytest.mark.clause("SVRG/fit", "SVRG/resume")
@pytest.mark.parametrize(("begin", "passes"), [(0, [0, 3]), (1, [1, 3]), (2, [2, 3]), (3, [3])])
def test_when_fit_makes_a_full_pass(begin, passes, monkeypatch) -> None:
    module, seen = fresh(frequency=3), []
    original = SVRGModule.update_full_grads
    monkeypatch.setattr(SVRGModule, "update_full_grads", lambda self, data: (seen.append(-1), original(self, data)))
    module.fit(
        iterator(), eval_data=iterator(), eval_metric="mse", begin_epoch=begin, num_epoch=5,
        epoch_end_callback=lambda epoch, *_: seen.append(epoch),
    )
    assert [seen[i + 1] for i, what in enumerate(seen) if what == -1] == passes


def test_steps_are_those_of_a_module() -> None:
    # without a full pass in between, two epochs of SVRG with one snapshot are what NumPy says
    data = iterator(dtype="float64")
    module = ready(data, rate=1 / 16)
    module.update_full_grads(data)
    rows, targets = np.c_[np.array(ROWS, float), np.ones(8)], np.array(TARGETS, float)
    start = now = np.array([1.0, 1, 0])
    for _ in range(2):
        steps(module, data)
        for part in (slice(0, 4), slice(4, 8)):
            own = rows[part].T @ rows[part] @ (now - start)
            now = now - (own / 4 + rows.T @ (rows @ start - targets) / 8) / 16
    assert weights(module) == pytest.approx(now.tolist(), rel=1e-12)
