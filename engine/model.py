"""A model that is ready to compute: configuration, packed weights, and forward.

Knows nothing of text: token ids in, logits out.
"""

import dataclasses
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from engine.architectures import architecture_of
from engine.architectures.config import ModelConfig, read_config
from engine.architectures.family import Family
from engine.architectures.rope import RopeTable, rope_factors
from engine.architectures.tensors import check_tensors, tensor_shapes
from engine.buffers import MAX_ROWS, Buffers
from engine.formats.packed import LANES
from engine.forward import (
    NOTHING_SKIPPED,
    Forward,
    Observer,
    Skipping,
    add_final_norm,
    add_head,
    build_body,
)
from engine.gguf import GGUFFile, ModelFormatError
from engine.kernels.attention_pieces import query_rows
from engine.kernels.compiling import fill_cache
from engine.kernels.dispatch import choose_path, compile_operation
from engine.kernels.kv_layout import (
    BLOCK_TOKENS,
    BYTE,
    FLOAT_BYTES,
    GROUP,
    HALF_BYTES,
    KVLayout,
    blocks_for,
)
from engine.kernels.program import OUTPUTS, ROWS, Program
from engine.kv import BlockPool, KVSequence
from engine.lora import AdapterFile, Adapters
from engine.moved_keys import KeyTurner
from engine.sparsity.calibrated import Sparsity, check
from engine.sparsity.neurons import Neurons, can_skip, taken_apart
from engine.sparsity.predictor import Predictor, read_predictor
from engine.step_part import Part
from engine.step_rows import StepRows
from engine.threads import ThreadPool, Walk
from engine.weights import Progress, Weights

KVFormat = Literal["auto", "f16", "int8"]
MAX_THREADS = 64
DEFAULT_CONTEXT = 8192
"""Positions of a sequence where nobody says: a full one takes 1 GB in a model of 8 billion weights,
where the 131 072 that it was trained for would take 17 GB."""


_RESULT_ROWS = 32
"""Logits of a step with no more rows lie where those of the one before the last did: between two
steps, making an array and asking for its address takes 30 µs."""


def _silent(stage: str, fraction: float) -> None:
    """Progress that nobody watches."""


class Model:
    """A loaded model. `forward` blocks and is for one thread at a time; it holds no GIL while it
    computes."""

    def __init__(
        self,
        gguf: GGUFFile,
        threads: int,
        context_length: int | None,
        cache_directory: Path | None,
        progress: Progress,
        adapters: Adapters,
        activation: str | None,
        kv_format: KVFormat,
        sparsity: Sparsity,
    ) -> None:
        """Use `Model.load`."""
        self.gguf = gguf
        self.content_hash = _identity(adapters.content_hash(gguf.content_hash()), activation)
        name, family = architecture_of(gguf)
        self.family = family
        whole = read_config(gguf, name, family, activation)
        self.config: ModelConfig = _with_context(whole, context_length)
        shapes = tensor_shapes(whole, family, gguf.tensors)
        names = check_tensors(gguf, shapes)
        by_neuron = taken_apart(self.config, sparsity.thresholds is not None)
        where = (self.content_hash, cache_directory, progress)
        weights = Weights(gguf, names, *where, adapters, by_neuron)
        self.kv_layout = _kv_layout(self.config, kv_format, exact=weights.exact)
        """What a KV block of this model looks like."""
        self.weights = weights  # keeps the map alive that the programs point into
        self._angles = _angles(self.config, family, rope_factors(gguf, self.config))
        self._buffers = Buffers(self.config, threads, *(a.cell for a in self._angles))
        forwards = [self._forward(results=results) for results in (False, True, True)]
        add_head(forwards[1])
        add_final_norm(forwards[2])
        bodies = [forward.program for forward in forwards]
        self.program = bodies[1]
        """What a step with logits does."""
        self.sparsity = sparsity
        about = (self.config, family, weights, self.content_hash)
        self.predictor = read_predictor(sparsity, *about, cache_directory, progress)
        """What guesses which neurons of a token that is decoded alone are zero, if anything."""
        self.neurons = self._read_neurons(cache_directory, progress, threads)
        """What is left out of a token that is decoded alone; None: nothing."""
        self.alone = self._alone(self.neurons) if self.neurons is not None else None
        """What a token that is decoded alone does in its place, unless `skips` is False."""
        self.skips = True
        if self.alone is not None:
            bodies.append(self.alone)
        _compile(bodies, progress)
        self.threads = threads
        self._width = (self.config.vocabulary + LANES - 1) // LANES * LANES
        self._results = [self._result_room() for _ in range(2)]
        self._rows = StepRows(MAX_ROWS, query_rows(self.config.heads, self.config.kv_heads))
        walks = [self._walk(body) for body in bodies]
        self._body, self._with_head, self._with_norm = walks[:3]
        self._decode = walks[3] if self.alone is not None else None
        self._pool = ThreadPool(threads)
        progress("compiling kernels", 1.0)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        context_length: int | None = None,
        cache_directory: Path | None = None,
        progress: Progress | None = None,
        adapters: Sequence[AdapterFile] = (),
        activation: str | None = None,
        kv_format: KVFormat = "f16",
        sparsity: Sparsity | None = None,
    ) -> Self:
        """Load a GGUF file.

        threads: default the cores that this process may use. context_length: positions of a
        sequence, at most what the model was trained for; default that, up to DEFAULT_CONTEXT.
        cache_directory: where packed weights are kept; without it they are packed into memory.
        progress: told ("packing weights" | "compiling kernels", fraction). adapters: LoRA files to
        add to the weights. activation: silu, gelu, relu, relu2 or drelu, for a file that does not
        say that it has another than its family. kv_format: of keys and values; int8 takes half the
        memory of f16, and a model in float32 keeps float32 unless it is int8; auto is int8 where
        the model can have it and is not in float32. sparsity: what is
        skipped when a token is decoded alone; default what is zero by itself, which changes no
        result. Raises OSError, ModelFormatError, CalibrationError, or ValueError for what this
        model cannot do.
        """
        if threads is None:
            threads = len(os.sched_getaffinity(0))
        if not 1 <= threads <= MAX_THREADS:
            raise ValueError(f"threads is {threads}; 1 to {MAX_THREADS} are possible")
        gguf = GGUFFile(path)
        try:
            with closing(Adapters.opened(adapters, gguf)) as opened:
                told = progress or _silent
                where = (context_length, cache_directory)
                kept = sparsity or Sparsity()
                formats = (activation, kv_format)
                return cls(gguf, threads, *where, told, opened, *formats, kept)
        except ModelFormatError as error:
            gguf.close()
            raise ModelFormatError(f"{gguf.path.name}: {error}") from None
        except BaseException:
            gguf.close()
            raise

    def _read_neurons(
        self, cache_directory: Path | None, progress: Progress, threads: int
    ) -> Neurons | None:
        """The neurons one by one, if there is something to skip."""
        calibration, config = self.sparsity.calibration, self.config
        if calibration is not None:
            check(calibration, self.content_hash, config.layers, config.ffn_dim)
        if not self.sparsity.zeros and calibration is None:
            return None
        if not can_skip(config, self.weights, self.sparsity.thresholds is not None):
            return None
        where = (self.content_hash, cache_directory, progress, threads)
        order = calibration.order if calibration else None
        predicted = self.predictor is not None
        return Neurons(config, self.family, self.weights, *where, order, predicted=predicted)

    def _alone(self, neurons: Neurons) -> Program:
        """The program of a token that is decoded alone."""
        skipping = Skipping(neurons, self.sparsity.thresholds, self.predictor)
        body = self._forward(skipping=skipping)
        add_head(body)
        return body.program

    def with_zeros(
        self, thresholds: Sequence[float] | None, predictor: Predictor | None = None
    ) -> Program:
        """A program that makes activations zero in all rows, and skips nothing: what decoding
        token by token with these thresholds, or this predictor, computes, for measurements."""
        skipping = Skipping(None, thresholds, predictor)
        body = self._forward(skipping=skipping)
        add_head(body)
        return body.program

    @property
    def block_inputs(self) -> int:
        """Address of float32 (rows, dim): what the last norm before a block has made."""
        return self._buffers.h

    @property
    def weight_bytes(self) -> int:
        """Bytes of packed weights that a decoded token reads."""
        c = self.config
        return self.weights.bytes_per_token(c.experts_used / c.experts if c.experts else 1.0)

    @property
    def kv_identity(self) -> str:
        """What decides the bytes of a KV block besides its tokens and the code."""
        angles = b"".join(table.first(BLOCK_TOKENS).tobytes() for table in self._angles)
        positions = hashlib.sha256(angles).hexdigest()
        skipped = [*(self.sparsity.thresholds or ())]
        guessed = [self.predictor.content_hash] if self.predictor else []
        parts = (self.content_hash, *self.kv_layout, choose_path(), positions, *skipped, *guessed)
        return " ".join(map(str, parts))

    def key_turner(self) -> KeyTurner:
        """What turns keys of this model to other positions; ValueError where it cannot be."""
        family, (angles, local) = self.family, self._angles
        alike = family.rope != "none" and not family.no_rope_every and local is angles
        if not alike or family.learned_positions:
            raise ValueError(
                "reuse_chunks needs a model that rotates the keys of all layers alike; this one"
                " does not"
            )
        return KeyTurner(angles, halves_apart=family.rope == "halves")

    def new_cache(self) -> KVSequence:
        """An empty KV cache for one sequence, with an arena of its own."""
        capacity = self.config.context_length
        return KVSequence(BlockPool(self.kv_layout, blocks_for(capacity)), capacity)

    def forward(
        self,
        tokens: NDArray[np.int32],
        cache: KVSequence,
        want: Literal["last", "all", "none"] = "last",
    ) -> NDArray[np.float32]:
        """Append tokens to the cache; float32 (rows, vocabulary) logits of the positions wanted.

        tokens: int32 (n,), n ≥ 1. Raises ContextFullError, NoFreeBlocksError (the cache is then as
        before) and ValueError for an id that is not in the vocabulary.
        """
        tokens = self._checked(tokens)
        cache.reserve(tokens.size)
        rows = {"last": 1, "all": tokens.size, "none": 0}[want]
        logits = np.empty((rows, self._width), np.float32)
        for start in range(0, tokens.size, MAX_ROWS):
            piece = tokens[start : start + MAX_ROWS]
            last = start + piece.size == tokens.size
            outputs = piece.size if want == "all" else int(want == "last" and last)
            out = logits[start:] if want == "all" else logits
            self._step(self._with_head, [Part(piece, cache, outputs)], out.ctypes.data)
        return logits[:, : self.config.vocabulary]

    def step(
        self, parts: Sequence[Part], meanwhile: Callable[[], None] | None = None
    ) -> NDArray[np.float32]:
        """One step for several sequences at once, each in one part: at most MAX_ROWS tokens.

        float32 (outputs of all parts, vocabulary), in their order: the same bits as `forward` of
        each sequence alone. They stay as they are until the step after the next one. meanwhile:
        called while the other threads have begun; it must leave the sequences as they are. Raises
        as `forward`, before anything is computed.
        """
        for part in parts:
            self._check(part.tokens)
        rows = sum(len(part.tokens) for part in parts)
        if not 0 < rows <= MAX_ROWS:
            raise ValueError(f"a step of {rows} tokens; 1 to {MAX_ROWS} are possible")
        for part in parts:
            part.sequence.reserve(len(part.tokens))
        outputs = sum(part.outputs for part in parts)
        if outputs > _RESULT_ROWS:
            logits = np.empty((outputs, self._width), np.float32)
            self._step(self._with_head, parts, logits.ctypes.data, meanwhile)
            return logits[:, : self.config.vocabulary]
        self._results.reverse()
        by_rows, address = self._results[0]
        self._step(self._with_head, parts, address, meanwhile)
        return by_rows[outputs]

    def hidden(
        self, tokens: NDArray[np.int32], cache: KVSequence | None = None
    ) -> NDArray[np.float32]:
        """float32 (n, dim): the states after the final norm, for embeddings.

        Appends to the cache; without one the tokens are a sequence of their own.
        """
        tokens = self._checked(tokens)
        cache = cache or self.new_cache()
        cache.reserve(tokens.size)
        states = np.empty((tokens.size, self.config.dim), np.float32)
        for start in range(0, tokens.size, MAX_ROWS):
            piece = tokens[start : start + MAX_ROWS]
            part = Part(piece, cache, piece.size)
            self._step(self._with_norm, [part], states[start:].ctypes.data)
        return states

    def use_program(self, program: Program) -> None:
        """Do this in every step with logits from now on: for measurements."""
        self.program, self.skips = program, False
        self._with_head = self._walk(program)

    def observed(self, observer: Observer) -> Callable[[NDArray[np.int32]], None]:
        """A forward pass over a sequence of tokens that adds what matrices are multiplied with to
        the observer's sums."""
        body = self._forward(observer)
        walk = self._walk(body.program)

        def show(tokens: NDArray[np.int32]) -> None:
            tokens, cache = self._checked(tokens), self.new_cache()
            cache.reserve(tokens.size)
            for start in range(0, tokens.size, MAX_ROWS):
                piece = tokens[start : start + MAX_ROWS]
                # Wanted are all rows, so that all are seen; what they give is not computed.
                self._step(walk, [Part(piece, cache, piece.size)], 0)

        return show

    def close(self) -> None:
        """End the threads and unmap the model file."""
        self._pool.close()
        self.gguf.close()

    def _forward(
        self,
        observer: Observer | None = None,
        skipping: Skipping = NOTHING_SKIPPED,
        *,
        results: bool = True,
    ) -> Forward:
        size = self.kv_layout.number_bytes
        parts = (self.family, self.config, self.weights, self._buffers)
        return build_body(*parts, size, observer, skipping, results=results)

    def _result_room(self) -> tuple[list[NDArray[np.float32]], int]:
        """Room for the logits of small steps, cut to every number of rows; its address."""
        room = np.empty((_RESULT_ROWS, self._width), np.float32)
        cut = [room[:rows, : self.config.vocabulary] for rows in range(_RESULT_ROWS + 1)]
        return cut, room.ctypes.data

    def _walk(self, program: Program) -> Walk:
        return Walk.through(program.table(compile_operation), self._rows.step)

    def _checked(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        tokens = np.ascontiguousarray(tokens, np.int32)
        if tokens.ndim != 1 or tokens.size == 0:
            raise ValueError(f"tokens have shape {tokens.shape}; (n,) with n ≥ 1 is expected")
        self._check(tokens.tolist())
        return tokens

    def _check(self, tokens: Sequence[int] | NDArray[np.int32]) -> None:
        if not len(tokens):
            raise ValueError("a part without tokens")
        if min(tokens) < 0 or max(tokens) >= self.config.vocabulary:
            raise ValueError(f"a token id outside 0..{self.config.vocabulary - 1}")

    def _step(
        self,
        walk: Walk,
        parts: Sequence[Part],
        out: int,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Compute parts that have room for it; the results that they want go to address `out`."""
        longest = self._rows.fill(parts, out)
        for angles in self._angles:
            angles.reach(longest)
        step = walk.words
        alone = step[ROWS] == step[OUTPUTS] == 1 and walk is self._with_head
        if alone and self.skips and self._decode is not None:
            walk = self._decode
        self._pool.walk(walk if step[OUTPUTS] else self._body, meanwhile)
        for part in parts:
            part.sequence.advance(len(part.tokens))


def _identity(content_hash: str, activation: str | None) -> str:
    """What tells this model from others in caches: the same weights may compute something else."""
    if activation is None:
        return content_hash
    return hashlib.sha256(f"{content_hash} {activation}".encode()).hexdigest()


def _kv_layout(config: ModelConfig, kv_format: KVFormat, *, exact: bool) -> KVLayout:
    """How keys and values are kept; ValueError if this model's cannot be."""
    size = FLOAT_BYTES if exact else HALF_BYTES
    whole_groups = config.head_dim % GROUP == 0
    if kv_format == "int8" or (kv_format == "auto" and whole_groups and not exact):
        size = BYTE
        if not whole_groups:
            raise ValueError(
                f"the KV format int8 needs heads of a multiple of {GROUP} numbers; this model's"
                f" have {config.head_dim}: use f16"
            )
    return KVLayout(config.layers, config.kv_heads, config.head_dim, size)


def _with_context(config: ModelConfig, context_length: int | None) -> ModelConfig:
    """The configuration with the context that is asked for, or one that a small box can fill."""
    if context_length is None:
        context_length = DEFAULT_CONTEXT
    if context_length < 1:
        raise ValueError(f"context_length is {context_length}; at least 1 is needed")
    return dataclasses.replace(config, context_length=min(context_length, config.context_length))


def _angles(
    config: ModelConfig, family: Family, factors: NDArray[np.float32] | None
) -> tuple[RopeTable, RopeTable]:
    """Rotary angles of layers that see everything, and of those with a window."""
    angles = RopeTable(config, factors)
    if family.local_rope_base is None:
        return angles, angles
    return angles, RopeTable(config, None, base=family.local_rope_base)


def _compile(programs: list[Program], progress: Progress) -> None:
    """Compile every operation in use, telling how far it is."""
    functions = list(dict.fromkeys(f for program in programs for f in program.functions()))
    fill_cache(functions, lambda fraction: progress("compiling kernels", fraction))
    for function in functions:
        compile_operation(function)
