"""What a module that keeps its names and shapes answers about them."""

from __future__ import annotations

from ..io import DataDesc
from .life_cycle import demand


class Described:
    """Names and descriptions of inputs and outputs, for modules that keep them in attributes of their own."""

    _data_names: list[str]
    _label_names: list[str]
    _output_names: list[str]
    _data_shapes: list[DataDesc]
    _label_shapes: list[DataDesc] | None

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs."""
        demand(self, "data_shapes")
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None when bound without."""
        demand(self, "label_shapes")
        return self._label_shapes
