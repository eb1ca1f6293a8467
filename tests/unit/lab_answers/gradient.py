import numpy as np


def gradients(nodes, values, head, wanted):
    parts = {node.name: [] for node in nodes}
    parts[nodes[-1].name].append(head)
    found = {}
    for node in reversed(nodes):
        gradient = None
        for part in parts[node.name]:
            gradient = part if gradient is None else gradient + part
        if node.name in wanted:
            found[node.name] = np.zeros_like(values[node.name]) if gradient is None else gradient.copy()
        if gradient is None or node.kind == "variable":
            continue
        first, second = node.inputs
        if node.kind == "multiply":
            parts[first].append(gradient * values[second])
            parts[second].append(gradient * values[first])
        else:
            parts[first].append(gradient)
            parts[second].append(-gradient if node.kind == "subtract" else gradient)
    return found
