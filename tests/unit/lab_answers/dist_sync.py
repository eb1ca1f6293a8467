import copy


def start(workers):
    return {"workers": workers, "next": {}, "early": {}, "answers": {}, "held": {}, "queues": {}, "pulls": []}


def step(state, worker, number, ask):
    state, replies = copy.deepcopy(state), []
    if number < state["next"].get(worker, 0):
        answer = state["answers"].get((worker, number))
        return state, [] if answer is None else [(worker, number, answer)]
    state["early"][worker, number] = ask
    while (worker, state["next"].get(worker, 0)) in state["early"]:
        now = state["next"].get(worker, 0)
        state["next"][worker] = now + 1
        replies += act(state, worker, now, state["early"].pop((worker, now)))
    for who, which, answer in replies:
        state["answers"][who, which] = answer
    return state, replies


def act(state, worker, number, ask):
    kind, key = ask[0], ask[1] if len(ask) > 1 else None
    if kind == "init":
        state["held"].setdefault(key, ask[2])
    if kind == "pull":
        if state["queues"].get((key, worker)):
            state["pulls"].append((key, worker, number))
            return []
        return [(worker, number, state["held"][key].copy())]
    replies = [(worker, number, "done")]
    if kind == "push":
        state["queues"].setdefault((key, worker), []).append(ask[2])
        replies += settle(state, key)
    return replies


def settle(state, key):
    queues = [state["queues"].setdefault((key, rank), []) for rank in range(state["workers"])]
    while all(queues):
        total = queues[0].pop(0)
        for queue in queues[1:]:
            total = total + queue.pop(0)
        state["held"][key] = state["held"][key] + total
    ready = [one for one in state["pulls"] if one[0] == key and not state["queues"][key, one[1]]]
    state["pulls"] = [one for one in state["pulls"] if one not in ready]
    return [(who, number, state["held"][key].copy()) for _, who, number in ready]
