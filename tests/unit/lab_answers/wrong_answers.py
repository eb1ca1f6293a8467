"""Wrong answers to the labs: (the rule that must be named, a piece of the right answer, what stands in its place)."""

from __future__ import annotations

PLANTED = {
    "slicing": [
        ("split/half-to-even", "round(weight * batch_size / total)", "int(weight * batch_size / total + 0.5)"),
        ("split/shortfall", "shares[-1] += max(0, batch_size - sum(shares))", "pass"),
        ("split/shortfall", "shares[-1] +=", "shares[0] +="),
        ("split/excess", "end = min(begin + share, batch_size)", "end = begin + share"),
        ("split/empty", "if end <= begin:", "if False:"),
    ],
    "push": [
        ("KVStore/push-replaces", "self.held[key] = merged", "self.held[key] = self.held[key] + merged"),
        ("KVStore/push-copies", "total = values[0].copy()", "total = values[0]"),
        ("KVStore/sum-order-local", '1 if kind == "device" else 4', "1"),
        ("KVStore/pull-copies", "return self.known(key).copy()", "return self.known(key)"),
        ("KVStore/updater", "self.updater(key, merged, stored)", "self.updater(key, stored, merged)"),
    ],
    "in-place": [
        ("memory/inplace", "if name in step.over), None)", "), None)"),
        ("memory/lifetime", "            last[name] = number\n", "            last.setdefault(name, number)\n"),
        ("memory/lifetime", "        last[name] = len(steps)\n", "        pass\n"),
        ("memory/inplace", "        if taken is not None:\n", "        if False:\n"),
        ("memory/inplace", "elif free:\n", """elif done:
            taken = done[0]
            place[step.output] = place[taken]
        elif free:
"""),
        ("memory/lifetime", "elif free:", "elif False:"),
    ],
    "gradient": [
        ("gradient/chain", "gradient = part if gradient is None else gradient + part", "gradient = part"),
        ("gradient/chain", "for part in parts[node.name]:", "for part in reversed(parts[node.name]):"),
        ("gradient/chain", "for part in parts[node.name]:", "for part in parts[node.name][:7]:"),
        ("gradient/chain", "gradient * values[second]", "gradient * values[first]"),
        ("gradient/unreached", "np.zeros_like(values[node.name]) if gradient is None", "None if gradient is None"),
    ],
    "bucketing": [
        ("Bucketing/parameters", "module.bind(batch.provide_data, shared_module=self.owner)",
         """module.bind(batch.provide_data)
            module.set_params(self.owner.get_params()[0], {})
            if self.owner.optimizer_initialized:
                module.init_optimizer(optimizer_params={"learning_rate": 1.0, "rescale_grad": 1.0})
"""),
        ("Bucketing/forward", "self.current = module", "pass"),
        ("Bucketing/optimizer", "module.borrow_optimizer(self.owner)", "module.init_optimizer(**settings)"),
        ("Bucketing/names", "with mx.name.NameManager():", "if True:"),
        ("Bucketing/failed-switch", "            module = self.made(key)\n",
         "            module = self.current = self.made(key)\n"),
    ],
    "dist-sync": [
        ("Cluster/pull-own", 'if state["queues"].get((key, worker)):', "if False:"),
        ("Cluster/once", 'if number < state["next"].get(worker, 0):', "if False:"),
        ("Cluster/once", """    while (worker, state["next"].get(worker, 0)) in state["early"]:
        now = state["next"].get(worker, 0)
        state["next"][worker] = now + 1
        replies += act(state, worker, now, state["early"].pop((worker, now)))
""", """    state["next"][worker] = max(number + 1, state["next"].get(worker, 0))
    replies += act(state, worker, number, state["early"].pop((worker, number)))
"""),
        ("Cluster/rank-order", 'in range(state["workers"])]', 'in reversed(range(state["workers"]))]'),
        ("Cluster/pure", "copy.deepcopy(state)", "state"),
        ("Cluster/ahead", 'state["queues"].setdefault((key, worker), []).append(ask[2])',
         'state["queues"][key, worker] = [ask[2]]'),
    ],
    "svrg": [
        ("SVRG/full-gradient", "own = rows[: len(rows) - pad]", "own = rows"),
        ("SVRG/step", "n - o + m * rows", "n + o - m * rows"),
        ("SVRG/batch-size", "m * rows / batch_size", "m"),
        ("SVRG/step", "new, old = gradient(weights, rows), gradient(snapshot, rows)",
         "new, old = gradient(weights, rows), gradient(weights, rows)"),
        ("SVRG/fit", "if epoch % update_freq == 0:", "if True:"),
    ],
    "kernel": [
        ("cumsum/axis", "axis = p.axis % len(shape)", "axis = p.axis % len(shape) * 0"),
        ("contract/fills", "total = 0.0\n", "total = out.flat[start] * 0.0\n"),
        ("cumsum/dtype", "total = 0.0\n", "total = a.flat.dtype.type(0)\n"),
        ("cumsum/gradient", "for k in reversed(range(side)):", "for k in range(side):"),
        ("contract/inputs-stay", "            out.flat[start + k * inner] = total\n",
         "            out.flat[start + k * inner] = total\n            a.flat[start + k * inner] = total\n"),
    ],
}
"""By the name of the lab, five each."""
