"""KVStoreBase, the interface of all stores, and TestStore, the smallest store."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, TypeVar

from ..base import decides, described, require

AnyStore = TypeVar("AnyStore", bound=type)


class KVStoreBase:
    """The interface of a store: write a subclass and :meth:`register` it to plug in your own.

    Module needs ``broadcast`` and ``pushpull``; a store whose ``is_capable("optimizer")`` is True also keeps the
    weights and updates them itself.
    """

    OPTIMIZER = "optimizer"
    kv_registry: ClassVar[dict[str, type]] = {}

    def __repr__(self) -> str:
        return described(self, self._words)

    def _words(self) -> str:
        return f"{self.type}, worker {self.rank} of {self.num_workers}"

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Give ``key`` its first value and copy that into every array of ``out``.

        Args:
            key: int or str.
            value: the first value, an NDArray; used only when the key is new.
            out: an NDArray or a list of NDArrays.
            priority: int; a call of higher priority may be carried out earlier, with the same result.
        """
        raise NotImplementedError(f"{type(self).__name__} must override broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Sum the arrays of ``value`` and copy the result into ``out``.

        Args:
            key: int or str.
            value: an NDArray, or a list with an NDArray for each device.
            out: an NDArray or a list of NDArrays; None means ``value``.
            priority: int; a call of higher priority may be carried out earlier, with the same result.
        """
        raise NotImplementedError(f"{type(self).__name__} must override pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """Update the stored weights with ``optimizer`` on each push."""
        raise NotImplementedError(f"{type(self).__name__} must override set_optimizer")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store has a capability; the only known capability is ``KVStoreBase.OPTIMIZER``."""
        raise NotImplementedError(f"a store must override is_capable (asked for {capability})")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the optimizer's states, and with ``dump_optimizer`` the optimizer too."""
        raise NotImplementedError(f"{type(self).__name__} must override save_optimizer_states")

    def load_optimizer_states(self, fname: str) -> None:
        """Read a file of :meth:`save_optimizer_states`."""
        raise NotImplementedError(f"{type(self).__name__} must override load_optimizer_states")

    @property
    def type(self) -> str:
        """The name by which the store was created."""
        raise NotImplementedError(f"{self.__class__.__name__} must override type")

    @property
    def rank(self) -> int:
        """Number of this worker, from 0."""
        raise NotImplementedError(f"{self.__class__.__name__} must override rank")

    @property
    def num_workers(self) -> int:
        """The number of workers that share the store."""
        raise NotImplementedError(f"{self.__class__.__name__} must override num_workers")

    @staticmethod
    @decides("KVStore/register")
    def register(klass: AnyStore) -> AnyStore:
        """Let :func:`mx.kv.create` make a ``klass()`` when it is asked for the lower-case name of the class."""
        name = klass.__name__.lower()
        if name in KVStoreBase.kv_registry:
            warnings.warn(
                f"kvstore {name!r} is {klass.__module__}.{klass.__name__} now, no longer"
                f" {KVStoreBase.kv_registry[name].__name__}", UserWarning, stacklevel=2,
            )
        KVStoreBase.kv_registry[name] = klass
        return klass


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store that keeps nothing: broadcast copies, pushpull sums and copies. For tests of the interface."""

    __test__ = False  # pytest would take the class for a test

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Copy ``value`` into every array of ``out``."""
        for target in out if isinstance(out, (list, tuple)) else [out]:
            target[:] = value

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Copy the sum of ``value`` into every array of ``out``."""
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        total = values[0].copy()
        for array in values[1:]:
            total += array.as_in_context(total.context)
        targets = value if out is None else out
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            target[:] = total

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Return False: the store holds no optimizer.

        Raises:
            ValueError: the capability is unknown.
        """
        require(
            "KVStore/capability", capability.lower() == KVStoreBase.OPTIMIZER,
            f"Unknown capability: {capability}", ValueError,
        )
        return False

    type = property(lambda self: "teststore")  # noqa: ARG005  # the store has no state to read
    rank = property(lambda self: 0)  # noqa: ARG005
    num_workers = property(lambda self: 1)  # noqa: ARG005


__all__ = ["KVStoreBase", "TestStore"]
