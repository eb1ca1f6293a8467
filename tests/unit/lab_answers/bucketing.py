import refimpl as mx


class Buckets:
    def __init__(self, sym_gen, default_key):
        self.sym_gen, self.default_key, self.modules = sym_gen, default_key, {}
        self.owner = self.current = self.made(default_key)
        self.modules[default_key] = self.owner

    def made(self, key):
        with mx.name.NameManager():
            symbol, names, _ = self.sym_gen(key)
        return mx.mod.Module(symbol, names, None)

    def bind(self, data_shapes):
        self.owner.bind(data_shapes)

    def set_params(self, params):
        self.owner.set_params(params, {})

    def init_optimizer(self, **settings):
        self.owner.init_optimizer(**settings)
        for module in self.modules.values():
            if module is not self.owner:
                module.borrow_optimizer(self.owner)

    def forward(self, batch):
        key = getattr(batch, "bucket_key", None)
        if key is None:
            raise TypeError("the batch has no bucket_key")
        module = self.modules.get(key)
        if module is None:
            module = self.made(key)
            module.bind(batch.provide_data, shared_module=self.owner)
            self.modules[key] = module
        module.forward(batch, is_train=True)
        self.current = module

    def backward(self):
        self.current.backward()

    def update(self):
        self.current.update()

    def outputs(self):
        return self.current.get_outputs()[0]
