"""Level 7: workers of a parameter server that push and pull at the same time. There are no arrays: pushes are tags.

==========  ===========================================================================================================
push        ``key``, and ``worker`` (a number; if it is left out, every worker). The gradient is the next tag.
pull        ``key``, and ``worker``
barrier     which every worker passes
==========  ===========================================================================================================

``settings`` say who there is: ``kind`` (dist_sync or dist_async), ``workers``, ``servers``, ``keys`` (pairs of a key
and the number of its rows), ``sparse`` (keys that are row_sparse), how many ``faults`` there may be (``drops`` and
``duplicates`` of messages, ``crashes`` of servers, which come back), and the ``schedule``: decisions of a simulated
cluster (``mx.kv.simulate``); beyond the end of the list they are 0, the quietest. A backend without a simulator ignores
the schedule.

Each worker runs its steps in their order and does not wait for others. First it sets an optimizer that adds, and
initialises every key with zeros; at last it passes a barrier and pulls every key. The answer is a history of
``mx.kv.histories`` instead of a trace.
"""

KINDS = ("dist_sync", "dist_async")
MOST_WORKERS = 16
MOST_SERVERS = 8
MOST_COLUMNS = 1 << 10
"""Workers times pushes of the busiest worker."""
MOST_NUMBERS = 1 << 22
"""Numbers that all pulls together may give."""
VERBS = ("push", "pull", "barrier")


def scripts_of(program):
    """The steps of each worker: for every worker a list of pairs of a verb and a key (None for a barrier).

    Initialising the keys, the last barrier and the last pulls are not in the lists.
    """
    scripts = [[] for _ in range(program["settings"]["workers"])]
    for step in program["steps"]:
        chosen = scripts if step.get("worker") is None else [scripts[step["worker"]]]
        for script in chosen:
            script.append((step["do"], step.get("key")))
    return scripts


def pushes_of(program):
    """The pushes of the busiest worker; 1 where nobody pushes."""
    return max([1] + [sum(verb == "push" for verb, _ in script) for script in scripts_of(program)])


def expected_events(program):
    """The calls of each worker that a history must hold: pairs of a kind and a key, in order."""
    keys = [key for key, _ in program["settings"]["keys"]]
    ends = [("barrier", None)] + [("pull", key) for key in keys]
    return [script + ends for script in scripts_of(program)]


def check_cluster(program):
    """Return what is wrong with a program whose fields have been checked, or None."""
    settings = program["settings"]
    keys = [key for key, _ in settings["keys"]]
    if len(set(keys)) < len(keys) or not keys:
        return "settings: keys must be there, and different"
    if len({type(key) for key in keys}) > 1:
        return "settings: keys are all numbers, or all texts"
    stranger = [key for key in settings.get("sparse", []) if key not in keys]
    if stranger:
        return "settings: sparse key %r is none of the keys" % (stranger[0],)
    for position, step in enumerate(program["steps"]):
        if step.get("attempt"):
            return "step %d: steps of level 7 have no attempt" % position
        if step["do"] != "barrier" and step["key"] not in keys:
            return "step %d: %r is none of the keys" % (position, step["key"])
        if (step.get("worker") or 0) >= settings["workers"]:
            return "step %d: there is no worker %d" % (position, step["worker"])
    if settings["workers"] * pushes_of(program) > MOST_COLUMNS:
        return "%d workers and %d pushes are more than %d columns" % (
            settings["workers"], pushes_of(program), MOST_COLUMNS
        )
    rows = dict(map(tuple, settings["keys"]))
    pulled = sum(rows[key] for script in expected_events(program) for verb, key in script if verb == "pull")
    if pulled * settings["workers"] * pushes_of(program) > MOST_NUMBERS:
        return "its pulls give more than %d numbers" % MOST_NUMBERS
    return None
