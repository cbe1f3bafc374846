"""Labels of columns: text, numbers, tuples or a mixture, each kept as it is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Label = Hashable


def label_texts(labels: Iterable[Label]) -> list[str]:
    """Labels as text, for people and for files; as Python writes them where text would be shared.

    Example:
        >>> label_texts([3, "dose", ("a", 1)]), label_texts([1, "1"])
        (['3', 'dose', "('a', 1)"], ['1', "'1'"])
    """
    labels = list(labels)
    texts = [str(label) for label in labels]
    return texts if len(set(texts)) == len(texts) else [repr(label) for label in labels]


def are_positions(labels: Sequence[Label]) -> bool:
    """Whether labels are 0, 1, … in this order, which pandas gives to columns without names."""
    return list(labels) == list(range(len(labels)))


def label_array(labels: Iterable[Label]) -> NDArray[np.object_]:  # -> (n,)
    """An array of labels as they are; numpy alone would make a matrix of tuples."""
    return np.fromiter(labels, dtype=object)


def label_index(labels: Iterable[Label]) -> pd.Index[Any]:
    """The columns of a DataFrame: levels, as pandas has it, of tuples of one length."""
    import pandas as pd

    labels = list(labels)
    lengths = {len(label) if isinstance(label, tuple) else 0 for label in labels}
    return pd.Index(labels, tupleize_cols=len(lengths) == 1)
