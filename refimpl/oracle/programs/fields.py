"""The fields of steps and their checks. A step of an untrusted program is checked before any of its steps runs.

A check is a function of a value that returns what is wrong with it, or None. Its attribute ``schema`` says the same in
JSON Schema, from which ``spec/schemas.py`` makes the files in ``refimpl/oracle/schema``.
"""

import math

from .clusters import KINDS, MOST_SERVERS, MOST_WORKERS
from .values import check_array

MOST_DEVICES = 8
LARGEST_BATCH = 4096
MOST_EPOCHS = 20
LONGEST_NAME = 200
LONGEST_TEXT = 100_000
LONGEST_LIST = 256
MOST_ROWS = 1 << 16


def says(schema):
    """A decorator that gives a check its JSON Schema."""
    def decorate(check):
        check.schema = schema
        return check
    return decorate


def whole(low, high):
    """A whole number between two bounds, which are possible too."""
    @says({"type": "integer", "minimum": low, "maximum": high})
    def check(value):
        right = type(value) is int and low <= value <= high
        return None if right else "%s is no whole number from %d to %d" % (_shown(value), low, high)
    return check


@says({"type": "boolean"})
def truth(value):
    """True or false."""
    return None if isinstance(value, bool) else "%s is neither true nor false" % _shown(value)


@says({"type": "number"})
def real(value):
    """A finite number."""
    right = type(value) in (int, float) and -math.inf < value < math.inf
    return None if right else "%s is no finite number" % _shown(value)


def _text_of(most):
    @says({"type": "string", "maxLength": most})
    def check(value):
        right = isinstance(value, str) and len(value) <= most
        return None if right else "%s is no text of at most %d characters" % (_shown(value), most)
    return check


name = _text_of(LONGEST_NAME)
text = _text_of(LONGEST_TEXT)


def one_of(*options):
    """One of some texts."""
    @says({"enum": list(options)})
    def check(value):
        return None if isinstance(value, str) and value in options else "%s is none of %s" % (
            _shown(value), ", ".join(options)
        )
    return check


def maybe(check):
    """Null, or a value that ``check`` allows."""
    return says(_any({"type": "null"}, check.schema))(lambda value: None if value is None else check(value))


def either(first, second):
    """A value that one of two checks allows."""
    return says(_any(first.schema, second.schema))(lambda value: first(value) and second(value))


def _any(*schemas):
    """A schema of the values that any of some schemas allows."""
    return {"anyOf": [each for schema in schemas for each in schema.get("anyOf", [schema])]}


def listed(check, most=LONGEST_LIST):
    """A list."""
    @says({"type": "array", "items": check.schema, "maxItems": most})
    def check_list(value):
        if not isinstance(value, list) or len(value) > most:
            return "%s is no list of at most %d" % (_shown(value), most)
        return next((wrong for wrong in map(check, value) if wrong), None)
    return check_list


def by_name(check):
    """An object whose keys are names."""
    @says({
        "type": "object", "propertyNames": name.schema, "additionalProperties": check.schema,
        "maxProperties": LONGEST_LIST,
    })
    def check_object(value):
        if not isinstance(value, dict) or len(value) > LONGEST_LIST:
            return "%s is no object of at most %d" % (_shown(value), LONGEST_LIST)
        return next((wrong for key, each in value.items() for wrong in (name(key), check(each)) if wrong), None)
    return check_object


@says({"$ref": "#/$defs/array"})
def array(value):
    """An array, see ``values``."""
    try:
        check_array(value, "array")
    except ValueError as error:
        return str(error)
    return None


shape = listed(whole(0, MOST_ROWS), 12)
"""Up to 12 sides."""


def fields(**checks):
    """An object with these fields; those whose name ends in ``_`` may be absent."""
    optional = {key[:-1]: check for key, check in checks.items() if key.endswith("_")}
    required = {key: check for key, check in checks.items() if not key.endswith("_")}

    @says({
        "type": "object", "required": list(required), "additionalProperties": False,
        "properties": {key: check.schema for key, check in [*required.items(), *optional.items()]},
    })
    def check_fields(value):
        if not isinstance(value, dict):
            return "%s is no object" % _shown(value)
        missing = [key for key in required if key not in value]
        if missing:
            return "field %s is missing" % missing[0]
        for key, each in value.items():
            check = required.get(key) or optional.get(key)
            if check is None:
                return "there is no field %s" % _shown(key)
            wrong = check(each)
            if wrong:
                return "%s: %s" % (key, wrong)
        return None
    return check_fields


def pair(first, second):
    """A list of two."""
    @says({"type": "array", "prefixItems": [first.schema, second.schema], "minItems": 2, "maxItems": 2})
    def check(value):
        if not isinstance(value, list) or len(value) != 2:
            return "%s is no pair" % _shown(value)
        return first(value[0]) or second(value[1])
    return check


def _shown(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


index = either(whole(-(2**31), 2**31 - 1), name)
requirement = one_of("write", "add", "null")
arrays = listed(array)
rows = listed(maybe(listed(whole(0, MOST_ROWS))))
parameter = maybe(either(either(real, truth), name))
schedule = maybe(fields(
    kind=one_of("factor", "multifactor", "poly", "cosine"),
    step_=either(whole(1, 1 << 20), listed(whole(1, 1 << 20))), factor_=real, stop_factor_lr_=real, base_lr_=real,
    max_update_=whole(1, 1 << 20), pwr_=real, final_lr_=real, warmup_steps_=whole(0, 1 << 20), warmup_begin_lr_=real,
    warmup_mode_=one_of("linear", "constant"),
))
RULE = {"optimizer_": name, "parameters_": maybe(by_name(parameter)), "schedule_": schedule}
description = fields(name=name, shape=shape, dtype_=name, layout_=name)
descriptions = {"data": listed(description), "labels_": maybe(listed(description))}
contexts = whole(1, MOST_DEVICES)
batch = whole(1, LARGEST_BATCH)
some = maybe(whole(1, 1000))
metric = either(
    fields(
        name=one_of("top_k_acc", "perplexity", "nll_loss"), top_k_=whole(2, 100), ignore_label_=maybe(whole(0, 100)),
    ),
    one_of("acc", "ce", "mae", "mse", "rmse", "loss"),
)
data = {"data": arrays, "labels_": maybe(arrays)}
names = listed(name)
last = {"last_": one_of("pad", "discard", "roll_over")}

EXECUTOR = {
    "bind": fields(requirements_=by_name(requirement), gradients_=by_name(array)),
    "forward": fields(train_=truth, arrays_=by_name(array), keywords_=truth),
    "backward": fields(heads_=maybe(arrays), train_=truth),
    "reshape": fields(arrays=by_name(array)),
    "share": fields(),
    "monitor": fields(inputs_=truth),
    "outputs": fields(),
    "read": fields(),
    "seed": fields(value=whole(0, 2**31 - 1)),
}
_CREATE = {"contexts": contexts, "data": names, "labels": names, "fixed_": maybe(names)}
_BATCH = dict(data, pad_=whole(0, LARGEST_BATCH))
MODULE = {
    "create": fields(loads_=maybe(listed(whole(0, 1000), MOST_DEVICES)), states_=maybe(names), **_CREATE),
    "bind": fields(
        train_=truth, inputs_=truth, requirement_=either(requirement, by_name(requirement)), again_=truth,
        **descriptions
    ),
    "init_params": fields(given_=maybe(names), rest_=maybe(real), missing_=truth, force_=truth),
    "set_params": fields(arrays=by_name(array), missing_=truth, extra_=truth, force_=truth),
    "init_optimizer": fields(
        store_=maybe(name), force_=truth, rates_=maybe(listed(pair(name, real))), on_store_=truth, **RULE
    ),
    "forward": fields(train_=maybe(truth), apart_=truth, **_BATCH),
    "backward": fields(heads_=maybe(arrays)),
    "forward_backward": fields(**_BATCH),
    "update": fields(), "get_params": fields(), "outputs": fields(),
    "reshape": fields(**descriptions), "share": fields(**descriptions), "borrow": fields(**descriptions),
    "use": fields(number=whole(0, 1000)),
    "save": fields(states_=truth), "load": fields(contexts=contexts, states_=truth),
    "save_states": fields(), "load_states": fields(),
    "update_metric": fields(labels=arrays, metric_=metric, own_=truth),
    "score": fields(batch=batch, batches_=some, metric_=metric, again_=truth, **dict(data, **last)),
    "predict": fields(data=arrays, batch=batch, batches_=some, merge_=truth, **last),
    "fit": fields(batch=batch, epochs=whole(0, MOST_EPOCHS), store_=maybe(name), **dict(data, **dict(RULE, **last))),
    "set_states": fields(value_=maybe(real), parts_=maybe(listed(arrays))), "get_states": fields(),
    "monitor": fields(), "watched": fields(),
    "shapes": fields(), "infer": fields(shapes=by_name(shape)),
}
BUCKETS = dict(
    MODULE,
    create_buckets=fields(contexts=contexts, default=whole(0, 1 << 20), fixed_=maybe(names)),
    switch=fields(key=whole(0, 1 << 20), **descriptions),
    forward=fields(train_=maybe(truth), key_=maybe(whole(0, 1 << 20)), **_BATCH),
    forward_backward=fields(key_=maybe(whole(0, 1 << 20)), **_BATCH),
    create_svrg=fields(frequency=whole(1, MOST_EPOCHS), **_CREATE),
    full_pass=fields(batch=batch, **dict(data, **last)),
    prepare=fields(key_=maybe(whole(0, 1 << 20)), **data),
)
del BUCKETS["create"]
_FACTORS = listed(pair(index, real))
OPTIMIZER = {
    "create": fields(
        names_=listed(pair(index, name)), variables_=maybe(_FACTORS), **dict(RULE, optimizer=RULE["optimizer_"])
    ),
    "multiply": fields(rates_=_FACTORS, decays_=_FACTORS),
    "update": fields(indices=listed(index), gradients=arrays, rows_=maybe(rows)),
    "resume": fields(whole_=truth, device_=whole(0, MOST_DEVICES - 1)),
    "ask": fields(numbers=listed(whole(0, 1 << 20))),
    "set_rate": fields(value=real),
    "seed": fields(value=whole(0, 2**31 - 1)),
    "read": fields(),
}
_KEYS = either(index, listed(index))
_VALUES = {"keys": _KEYS, "values": either(arrays, listed(arrays)), "rows_": maybe(either(rows, listed(maybe(rows))))}
STORE = {
    "create": fields(kind=name),
    "init": fields(keys=_KEYS, values=arrays, rows_=maybe(rows)),
    "broadcast": fields(keys=_KEYS, values=arrays, shapes=listed(shape)),
    "push": fields(**_VALUES), "pushpull": fields(**_VALUES),
    "pull": fields(keys=_KEYS, shapes=listed(shape), outs_=contexts),
    "row_sparse_pull": fields(key=index, ids=listed(listed(whole(0, MOST_ROWS))), shape=shape),
    "updater": fields(kept_=truth),
    "optimizer": fields(**dict(RULE, optimizer=RULE["optimizer_"])),
    "compress": fields(threshold=real),
    "save": fields(file=whole(0, 1000), whole_=truth), "load": fields(file=whole(0, 1000)),
    "barrier": fields(),
}
_WORKER = maybe(whole(0, MOST_WORKERS - 1))
CLUSTER = {
    "push": fields(key=index, worker_=_WORKER), "pull": fields(key=index, worker_=_WORKER), "barrier": fields(),
}
STEPS = {1: EXECUTOR, 2: EXECUTOR, 3: MODULE, 4: BUCKETS, 5: OPTIMIZER, 6: STORE, 7: CLUSTER}
"""What the steps of each level may hold."""
BUCKET = fields(
    key=whole(0, 1 << 20), heads=listed(whole(0, 1000)), data=names, labels=names,
)
_FAULTS = whole(0, 1000)
CLUSTERS = fields(
    kind=one_of(*KINDS), workers=whole(1, MOST_WORKERS), servers=whole(1, MOST_SERVERS),
    keys=listed(pair(index, whole(1, 64)), 16), sparse_=listed(index, 16), schedule_=listed(whole(0, 1 << 20), 4096),
    faults_=fields(drops_=_FAULTS, duplicates_=_FAULTS, crashes_=_FAULTS),
)
SETTINGS = {4: fields(buckets_=listed(BUCKET)), 7: CLUSTERS}
"""What the settings of programs of a level may hold; others have none."""


def check_step(level, step, where):
    """Raise ValueError where a step does not belong to this level, or a field has a forbidden value."""
    known = STEPS.get(level)
    if known is None:
        return
    if step["do"] not in known:
        raise ValueError("no program: %s: level %d has no step %s" % (where, level, _shown(step["do"])))
    given = {key: value for key, value in step.items() if key not in ("do", "attempt")}
    wrong = truth(step.get("attempt", False)) or known[step["do"]](given)
    if wrong:
        raise ValueError("no program: %s (%s): %s" % (where, step["do"], wrong))


def check_settings(level, settings):
    """Raise ValueError where the settings hold fields that programs of this level lack."""
    if level in STEPS:
        wrong = SETTINGS.get(level, fields())(settings)
        if wrong:
            raise ValueError("no program: settings: %s" % wrong)
