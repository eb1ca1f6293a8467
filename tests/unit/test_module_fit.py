"""Training, scoring, predicting and the files of a module."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch, network, ready


def samples(rows=10, size=4, **settings):
    """Points of three classes in order, far enough apart to learn."""
    label = np.arange(rows) % 3
    data = np.eye(3)[label][:, :2] * 4 + np.linspace(0, 0.5, rows)[:, None]
    return mx.io.NDArrayIter(data, label, size, **settings)


# --- score and predict ----------------------------------------------------------------------------


@pytest.mark.clause("Module/score-counts-padding")
def test_score_counts_padded_rows():
    seen, ended = [], []
    metric = mx.metric.create("acc")
    result = ready().score(
        samples(),
        metric,
        batch_end_callback=lambda p: seen.append((p.epoch, p.nbatch)),
        score_end_callback=[lambda p: ended.append(p.nbatch)],
        epoch=7,
    )
    assert metric.num_inst == 12  # ten rows in batches of four, the last one padded
    assert seen == [(7, 0), (7, 1), (7, 2)]
    assert ended == [3]
    assert [name for name, _ in result] == ["accuracy"]


@pytest.mark.clause("Module/num-batch")
def test_num_batch_takes_no_batch_too_many():
    rows = samples(12, 2)
    module = ready()
    metric = mx.metric.create("acc")
    module.score(rows, metric, num_batch=2)
    assert metric.num_inst == 4
    module.score(rows, metric, num_batch=2, reset=False)
    # four batches are gone; the next one is the fifth
    assert np.array_equal(next(rows).label[0].asnumpy(), [8 % 3, 9 % 3])


@pytest.mark.clause("Module/predict-pad")
@pytest.mark.parametrize("contexts", [1, 2])
def test_predict_leaves_out_padded_rows(contexts):
    module = ready(contexts, mx.init.Xavier())
    together = module.predict(samples())
    assert together.shape == (10, 3)
    assert module.predict(samples(), num_batch=2).shape == (8, 3)
    apart = module.predict(samples(), merge_batches=False)
    assert [[output.shape for output in outputs] for outputs in apart] == [
        [(4, 3)],
        [(4, 3)],
        [(2, 3)],
    ]
    assert np.array_equal(np.concatenate([o[0].asnumpy() for o in apart]), together.asnumpy())
    (listed,) = module.predict(samples(), always_output_list=True)
    assert np.array_equal(listed.asnumpy(), together.asnumpy())


@pytest.mark.clause("Module/predict-pad")
def test_iter_predict_yields_outputs_number_and_batch():
    found = [
        (outputs[0].shape, number, given.pad)
        for outputs, number, given in ready().iter_predict(samples())
    ]
    assert found == [((4, 3), 0, 0), ((4, 3), 1, 0), ((2, 3), 2, 2)]


def test_predict_without_batches_is_empty():
    rows = samples()
    list(rows)
    assert ready().predict(rows, reset=False) == []


@pytest.mark.clause("Module/predict-array")
def test_predict_takes_an_array_and_never_trains():
    net = mx.sym.Dropout(mx.sym.Variable("data"), p=0.5)
    module = mx.mod.Module(net, label_names=None)
    module.bind(DATA)
    module.init_params()
    assert module.predict(mx.nd.array(ROWS)).asnumpy().tolist() == ROWS.tolist()
    assert module.predict(ROWS[:2]).asnumpy().tolist() == ROWS[:2].tolist()


@pytest.mark.clause("ExecutorGroup/metric")
def test_metrics_see_each_context_by_name():
    seen = []

    class Recorder(mx.metric.EvalMetric):
        def update_dict(self, label, pred):
            seen.append(
                ({k: v.shape for k, v in label.items()}, {k: v.shape for k, v in pred.items()})
            )

    module = ready(2)
    module.forward(batch(ROWS, np.zeros(4)))
    module.update_metric(Recorder("recorder"), [mx.nd.zeros((4,))])
    module.update_metric(
        Recorder("recorder"), [[mx.nd.zeros((2,))], [mx.nd.zeros((2,))]], pre_sliced=True
    )
    assert seen == [({"softmax_label": (2,)}, {"softmax_output": (2, 3)})] * 4


@pytest.mark.clause("ExecutorGroup/metric", "ExecutorGroup/label-covers")
@pytest.mark.parametrize("contexts", [1, 2])
def test_a_metric_sees_no_label_beyond_the_batch(contexts):
    seen = []

    class Recorder(mx.metric.EvalMetric):
        def update_dict(self, label, pred):
            seen.extend(label["softmax_label"].asnumpy().tolist())

    module = ready(contexts)
    module.forward(batch(ROWS, [0, 1, 2, 0]))
    module.update_metric(Recorder("recorder"), [mx.nd.array([0, 1, 2, 0, 7, 8])])
    assert seen == [0, 1, 2, 0]


@pytest.mark.clause("ExecutorGroup/metric")
def test_metrics_of_a_module_bound_without_labels_go_by_position():
    module = mx.mod.Module(network())
    with pytest.warns(UserWarning, match="label_shapes"):
        module.bind(DATA)
    module.init_params()
    module.forward(batch(ROWS))
    metric = mx.metric.create("acc")
    module.update_metric(metric, [mx.nd.zeros((4,))])
    assert metric.num_inst == 4


# --- fit ------------------------------------------------------------------------------------------


@pytest.mark.clause("Module/fit")
def test_every_context_restarts_from_the_mean():
    # moving means start at 0 and move half-way to their context's batch, to 1 and to 3: their mean is 2
    module = mx.mod.Module(
        mx.sym.MakeLoss(mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", momentum=0.5)), label_names=None,
        context=[mx.cpu(0), mx.cpu(1)],
    )
    rows = mx.io.NDArrayIter(np.array([[1.0], [3.0], [5.0], [7.0]]), batch_size=4)
    module.fit(rows, num_epoch=1, eval_metric=mx.metric.Loss(), optimizer_params={"learning_rate": 0.0})
    held = [executor.aux_dict["bn_moving_mean"].asnumpy().tolist() for executor in module._exec_group.execs]
    assert held == [[2], [2]]


@pytest.mark.clause("Module/fit")
def test_fit_trains_logs_and_calls_back(caplog):
    calls = []
    module = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)])
    with caplog.at_level(logging.INFO):
        module.fit(
            samples(12),
            eval_data=samples(12),
            num_epoch=3,
            begin_epoch=1,
            initializer=mx.init.Xavier(),
            optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
            batch_end_callback=lambda p: calls.append(("batch", p.epoch, p.nbatch)),
            epoch_end_callback=lambda epoch, symbol, arg, aux: calls.append(
                ("epoch", epoch, sorted(arg))
            ),
            eval_batch_end_callback=lambda p: calls.append(("eval", p.epoch, p.nbatch)),
            eval_end_callback=lambda p: calls.append(("scored", p.epoch, p.nbatch)),
        )
    names = ["fc_bias", "fc_weight"]
    assert calls == [
        call
        for epoch in (1, 2)
        for call in (
            *(("batch", epoch, n) for n in range(3)),
            ("epoch", epoch, names),
            *(("eval", epoch, n) for n in range(3)),
            ("scored", epoch, 3),
        )
    ]
    starts = [message.split("=")[0] for message in caplog.messages]
    assert starts == [
        start
        for epoch in (1, 2)
        for start in (
            f"Epoch[{epoch}] Train-accuracy",
            f"Epoch[{epoch}] Time cost",
            f"Epoch[{epoch}] Validation-accuracy",
        )
    ]
    assert dict(module.score(samples(12), "acc"))["accuracy"] > 0.6


@pytest.mark.clause("Module/fit")
def test_fit_goes_on_from_given_parameters():
    module = mx.mod.Module(network())
    given = {"fc_weight": mx.nd.ones((3, 2)), "fc_bias": mx.nd.zeros((3,))}
    module.fit(
        samples(4),
        num_epoch=1,
        arg_params=given,
        aux_params={},
        optimizer_params={"learning_rate": 0.0},
    )
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1]] * 3


@pytest.mark.clause("ExecutorGroup/monitor")
def test_a_monitor_stays_on_through_a_reshape():
    names = []
    monitor = mx.mon.Monitor(1, stat_func=lambda array: array, pattern="fc_output|fc_weight")
    module = ready()
    module.install_monitor(monitor)
    for rows in (4, 2):
        monitor.tic()
        module.forward(batch(np.ones((rows, 2)), np.zeros(rows)))
        names.append([name for _, name, _ in monitor.toc()])
    assert names == [["fc_output", "fc_weight"]] * 2


# --- files ----------------------------------------------------------------------------------------


def step(module):
    module.forward_backward(batch(ROWS, [0, 1, 2, 0]))
    module.update()


def weights(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


@pytest.mark.clause("Module/checkpoint")
@pytest.mark.parametrize("contexts", [1, 2])
def test_resuming_equals_going_on(tmp_path, contexts, caplog):
    prefix = str(tmp_path / "net")
    options = {"learning_rate": 0.5, "momentum": 0.9}
    module = ready(contexts, mx.init.Xavier())
    module.init_optimizer(optimizer_params=options)
    step(module)
    with caplog.at_level(logging.INFO):
        module.save_checkpoint(prefix, 3, save_optimizer_states=True)
    assert caplog.messages == [
        f'Saved checkpoint to "{prefix}-0003.params"',
        f'Saved optimizer state to "{prefix}-0003.states"',
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "net-0003.params",
        "net-0003.states",
        "net-symbol.json",
    ]

    other = mx.mod.Module.load(
        prefix, 3, load_optimizer_states=True, context=[mx.cpu(i) for i in range(contexts)]
    )
    assert (other.binded, other.params_initialized) == (False, True)
    assert weights(other).keys() == weights(module).keys()
    other.bind(DATA, LABEL)
    other.init_optimizer(optimizer_params=options)
    for each in (module, other):
        step(each)
        step(each)
    for name, value in weights(module).items():
        assert np.array_equal(weights(other)[name], value), name


@pytest.mark.clause("Module/checkpoint")
def test_params_files_alone(tmp_path):
    file = str(tmp_path / "weights")
    module = ready(initializer=mx.init.Xavier())
    module.save_params(file)
    assert sorted(mx.nd.load(file)) == ["arg:fc_bias", "arg:fc_weight"]
    other = ready()
    other.load_params(file)
    assert np.array_equal(weights(other)["fc_weight"], weights(module)["fc_weight"])


def test_epochs_beyond_9999_use_five_digits(tmp_path):
    ready().save_checkpoint(str(tmp_path / "net"), 12345)
    assert (tmp_path / "net-12345.params").exists()
