"""What the operations on single neurons (`kernels.sparse`, `kernels.gates`) are told of a layer,
and what they note: int64 slots."""

RECORDS = 0  # address of the neurons' records
RECORD_BYTES = 1  # from a record to the next
COLUMN = 2  # bytes of a record before the column
PLACES = 3  # address of int32 (neurons,): which record a neuron has
SCALES = 4  # address of the float16 scales of the columns, (blocks, 2, outputs)
LIMIT = 5  # active neurons up to which skipping is faster than reading everything
STEPS = 6  # tokens so far,
ACTIVE_GATES = 7  # neurons whose rows were needed for them,
ACTIVE_COLUMNS = 8  # and those whose columns were
ASK = 9  # bytes of a page where records are to be asked for before they are read, else 0
UPPER = 10  # address of the upper halves of the gate's weights, packed with 4 bits
GATE_ROWS = 11  # address of the gate's rows, one by one,
GATE_ROW_BYTES = 12  # and from one to the next
DEVIATIONS = 13  # address of float32 (neurons,): of a row's weights from their upper halves
WHOLE = 14  # tokens for which gates are read whole, without a look at the halves; ALWAYS: all
OPEN_LIMIT = 15  # gates that may be left open by the halves before it is better to read them whole
OPEN = 16  # gates that the halves left open, of this token
STRAYED = 17  # whether a gate was ever too far from what its upper half said
HALVED = 18  # tokens whose gates were read by halves so far,
OPENED = 19  # and gates that were left open of them
LAYER_SLOTS = 20

ALWAYS = -1
