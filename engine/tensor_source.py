"""What the packing of weights needs of a model file, whatever its format."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.gguf_header import TensorInfo


class TensorSource(Protocol):
    """Tensors by name, read piece by piece."""

    @property
    def tensors(self) -> Mapping[str, TensorInfo]: ...

    def tensor_bytes(self, name: str, start: int = 0, size: int | None = None) -> NDArray[np.uint8]:
        """The raw bytes of a tensor, or `size` of them from `start`.

        Raises ModelFormatError where the file does not have them any more.
        """
        ...
