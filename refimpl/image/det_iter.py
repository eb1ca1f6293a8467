"""ImageDetIter: batches of pictures with the objects in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..io import DataDesc
from ..log import LOG
from ..ndarray import NDArray
from .creating import _MEAN, _STD
from .detection import CreateDetAugmenter
from .image_iter import ImageIter


class ImageDetIter(ImageIter):
    """Batches of pictures, and labels of shape ``(batch_size, most objects, object width)``; what is no object is -1.

    The labels of a picture are ``header width, object width, ..., objects``; each object is a class, then left, top,
    right and bottom edge in parts of the picture, and whatever else fills its width.

    Args:
        batch_size, data_shape, path_imgrec, path_imglist, path_root, path_imgidx, shuffle, part_index, num_parts,
            imglist, data_name, label_name, last_batch_handle: as for :class:`ImageIter`.
        aug_list: augmenters for detection; if None, those of ``CreateDetAugmenter(data_shape, **kwargs)``.
        kwargs: of CreateDetAugmenter.

    Raises:
        RuntimeError: labels are no objects.
        AssertionError, ValueError, MXNetError, FileNotFoundError, ImportError: as ImageIter.
    """

    @decides("ImageDetIter/values")
    def __init__(
        self, batch_size: int, data_shape: Sequence[int], path_imgrec: Any = None, path_imglist: Any = None,
        path_root: Any = None, path_imgidx: Any = None, shuffle: bool = False, part_index: int = 0, num_parts: int = 1,
        aug_list: Sequence[Any] | None = None, imglist: Sequence[Any] | None = None, data_name: str = "data",
        label_name: str = "label", last_batch_handle: str = "pad", **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size, data_shape, path_imgrec=path_imgrec, path_imglist=path_imglist, path_root=path_root,
            path_imgidx=path_imgidx, shuffle=shuffle, part_index=part_index, num_parts=num_parts, aug_list=[],
            imglist=imglist, data_name=data_name, label_name=label_name, last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._most_objects()
        self.provide_label = [DataDesc(label_name, (batch_size, *self.label_shape))]

    @decides("ImageDetIter/label-shape")
    def _most_objects(self) -> tuple[int, int]:
        """(objects, width) that the labels of every picture fit into; reads all of them once."""
        self.reset()
        most, widths = 0, set()
        while True:
            try:
                label, _ = self.next_sample()
            except StopIteration:
                break
            count, width = self._objects(label).shape
            most = max(most, count)
            widths.add(width)
        require(
            "ImageDetIter/widths", len(widths) == 1,
            f"objects of all pictures have one width; found {sorted(widths) or 'no picture'}", RuntimeError,
        )
        self.reset()
        return most, widths.pop()

    @decides("ImageDetIter/labels")
    def _objects(self, label: Any) -> np.ndarray:
        """The objects of a picture that have an area: shape (count, width)."""
        raw = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label, np.float32).ravel()
        require("ImageDetIter/objects", raw.size >= 7, f"labels have 7 numbers or more, not {raw.size}", RuntimeError)
        head, width = raw[:2]
        whole = 2 <= head <= raw.size and 5 <= width <= raw.size and head == int(head) and width == int(width)
        require(
            "ImageDetIter/objects", whole and (raw.size - int(head)) % int(width) == 0,
            f"{raw.size} labels with a header of {head:g} and objects of {width:g} numbers: expected header width"
            " (2 or more), object width (5 or more), ..., objects", RuntimeError,
        )
        objects = raw[int(head) :].reshape(-1, int(width))
        objects = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]
        require("ImageDetIter/no-object", len(objects), "no object of the picture has an area", RuntimeError)
        return objects

    @decides("ImageDetIter/skip")
    def _row(self, label: Any, content: bytes) -> tuple[np.ndarray, np.ndarray] | None:
        """(picture, objects) as a batch has them; None if no object is left."""
        data = self.imdecode(content)
        try:
            self.check_valid_image([data])
            objects = self._objects(label)
        except RuntimeError as error:
            LOG.debug("a picture is left out: %s", error)
            return None
        data, objects = self.augmentation_transform(data, objects)
        seen = (objects[:, 0] >= 0) & (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not seen.any():
            LOG.debug("a picture is left out: the augmenters left no object")
            return None
        most, width = self.provide_label[0].shape[1:]
        require(
            "ImageDetIter/widths", len(objects) <= most and objects.shape[1] == width,
            f"a picture has {objects.shape} objects, label_shape is {(most, width)}", ValueError,
        )
        return self._laid_out(data), objects

    def augmentation_transform(  # type: ignore[override]  # as in MXNet
        self, data: NDArray, label: np.ndarray
    ) -> tuple[NDArray, np.ndarray]:
        """The picture and its objects as the augmenters change them."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    # --- shapes ------------------------------------------------------------------------------------

    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Refuse a shape of labels that has fewer objects than now, or objects of another width.

        Raises:
            ValueError: it has.
        """
        require(
            "ImageDetIter/reshape", len(label_shape) == 2, f"label_shape is (objects, width), not {label_shape}",
            ValueError,
        )
        require(
            "ImageDetIter/reshape", label_shape[0] >= self.label_shape[0],
            f"pictures have up to {self.label_shape[0]} objects, label_shape leaves space for {label_shape[0]}",
            ValueError,
        )
        width = self.provide_label[0].shape[2]
        require(
            "ImageDetIter/reshape", label_shape[1] == width,
            f"objects have {width} numbers, label_shape gives them {label_shape[1]}", ValueError,
        )

    @decides("ImageDetIter/reshape")
    def reshape(self, data_shape: Sequence[int] | None = None, label_shape: Sequence[int] | None = None) -> None:
        """Change the shapes of batches; augmenters stay as they are.

        Args:
            data_shape: (3, height, width), or None.
            label_shape: (objects, width), or None.

        Raises:
            ValueError: a shape is something else.
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [DataDesc(self.provide_data[0].name, (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [DataDesc(self.provide_label[0].name, (self.batch_size, *label_shape))]
            self.label_shape = (label_shape[0], label_shape[1])

    @decides("ImageDetIter/sync")
    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Give both iterators labels of as many objects as the longer ones have; returns ``it``.

        Raises:
            AssertionError: ``it`` is no ImageDetIter, or its objects have another width.
        """
        require(
            "ImageDetIter/sync", isinstance(it, ImageDetIter),
            f"it must be an ImageDetIter, not {type(it).__name__}", AssertionError,
        )
        require(
            "ImageDetIter/sync", self.label_shape[1] == it.label_shape[1],
            f"objects have {self.label_shape[1]} numbers here and {it.label_shape[1]} there; both need the same",
            AssertionError,
        )
        most = max(self.label_shape[0], it.label_shape[0])
        for one in (self, it):
            if most > one.label_shape[0]:
                one.reshape(None, (most, one.label_shape[1]))
                if verbose:
                    LOG.info("ImageDetIter: label_shape is now %s", one.label_shape)
        return it

    # --- pictures to look at -----------------------------------------------------------------------

    @decides("ImageDetIter/draw")
    def draw_next(
        self, color: Sequence[float] | None = None, thickness: int = 2, mean: Any = None, std: Any = None,
        clip: bool = True, waitKey: Any = None, window_name: str = "draw_next",  # noqa: N803  # MXNet's name
        id2labels: Any = None,
    ) -> Iterator[np.ndarray]:
        """Yield pictures with frames around their objects: uint8 of shape (height, width, 3), blue first.

        Args:
            color: of the frames, red first; None draws one from ``numpy.random`` for each.
            thickness: of the frames, in pixels.
            mean, std: what the augmenters subtracted and divided by, to be undone; True is ImageNet's.
            clip: keep values within 0 .. 255.
            waitKey, id2labels: windows and texts are OpenCV's; only None is taken.
            window_name: without effect.

        Raises:
            ImportError: a window or text is asked for.
        """
        if waitKey is not None or id2labels is not None:
            raise refusal(
                "ImageDetIter/draw", "waitKey and id2labels need OpenCV's windows and texts; leave them None, and show"
                " the pictures that are yielded", ImportError,
            )
        while True:
            try:
                label, content = self.next_sample()
            except StopIteration:
                return
            data, objects = self.augmentation_transform(self.imdecode(content), self._objects(label))
            pixels = data.asnumpy().astype(np.float32)
            if std is not None:
                pixels = pixels * np.asarray(_STD if std is True else std, np.float32)
            if mean is not None:
                pixels = pixels + np.asarray(_MEAN if mean is True else mean, np.float32)
            pixels = pixels[:, :, ::-1]
            picture = (pixels.clip(0, 255) if clip else pixels).astype(np.uint8)
            for row in objects:
                drawn = np.random.rand(3) * 255  # noqa: NPY002  # MXNet's stream
                _frame(picture, row[1:5], drawn if color is None else color[::-1], thickness)
            yield picture


def _frame(picture: np.ndarray, box: np.ndarray, color: Any, thickness: int) -> None:
    """Draw the edges of a box, whose edges are in parts of the picture."""
    height, width = picture.shape[:2]
    left, top, right, bottom = (int(edge) for edge in box * (width, height, width, height))
    near, far = (thickness - 1) // 2, thickness // 2 + 1
    inside = np.zeros((height, width), bool)
    inside[max(top - near, 0) : max(bottom + far, 0), max(left - near, 0) : max(right + far, 0)] = True
    inside[max(top + far, 0) : max(bottom - near, 0), max(left + far, 0) : max(right - near, 0)] = False
    picture[inside] = color


__all__ = ["ImageDetIter"]
