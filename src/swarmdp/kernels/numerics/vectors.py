"""Four neighbouring entries of an array at once, where the compiler does not see that it may.

Indices are unsigned, and unsigned sums may wrap around: LLVM then cannot prove that four indices in
a row are neighbours in memory, and copies entry by entry. These functions say so. Arrays have to be
contiguous and have room for whole vectors: PADDING entries behind the last one.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

VECTOR_WIDTH = 4
PADDING = 8  # arrays that are read in whole vectors have room for this many more


def _copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Load four entries, add the shift if there is one, store them."""
    source, target = (
        context.make_array(signature.args[place])(context, builder, arguments[place])
        for place in (0, 2)
    )
    # Bytes of an entry: vectors of int64 and of float64 are copied the same way.
    size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
    vector = ir.VectorType(context.get_data_type(signature.args[0].dtype), VECTOR_WIDTH)

    def four(array: Any, index: Any) -> Any:
        return builder.bitcast(builder.gep(array.data, [index]), vector.as_pointer())

    # Aligned to one entry only: a stretch may begin anywhere.
    entries = builder.load(four(source, arguments[1]), align=size)
    if len(arguments) == 5:
        # The same number in all four entries.
        shift = ir.Constant(vector, ir.Undefined)
        for lane in range(VECTOR_WIDTH):
            place = ir.Constant(ir.IntType(32), lane)
            shift = builder.insert_element(shift, arguments[4], place)
        entries = builder.fadd(entries, shift)
    builder.store(entries, four(target, arguments[3]), align=size)
    return context.get_dummy_value()


@intrinsic
def copy_four(_: Any, source: Any, begin: Any, target: Any, place: Any) -> Callable[..., Any]:
    """target[place : place + 4] = source[begin : begin + 4], for contiguous arrays of one type."""
    return types.void(source, begin, target, place), _copy  # type: ignore[return-value]


@intrinsic
def shift_four(
    _: Any, source: Any, begin: Any, target: Any, place: Any, shift: Any
) -> Callable[..., Any]:
    """target[place : place + 4] = source[begin : begin + 4] + shift, for floating-point numbers."""
    return types.void(source, begin, target, place, shift), _copy  # type: ignore[return-value]
