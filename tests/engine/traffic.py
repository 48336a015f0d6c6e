"""A batch and what is asked of it: every answer must be, token by token, the one that it would have
been alone and without a cache."""

import functools

import msgspec
import numpy as np

from engine.batch import Batch, Ticket
from engine.generate import Finished, Generation, Piece
from engine.kv import BlockPool
from engine.model import Model
from engine.prefix_cache import PrefixCache
from engine.sampling import Sampler
from engine.sampling_params import SamplingParams
from engine.tokenizer import Tokenizer

TEXT = np.random.default_rng(3).integers(0, 256, 400).tolist()
FEW = {7: 100.0, 8: 100.0, 9: 99.0}
"""A bias after which an answer repeats itself, so that guesses ahead are often right."""


class Home:
    """A model, its tokenizer, and answers computed one by one without any cache."""

    def __init__(self, path):
        self.model = Model.load(path, threads=1)
        self.tokenizer = Tokenizer(self.model.gguf.metadata)
        self.alone = functools.cache(self._alone)

    def _alone(self, length, seed, tokens, biased):
        prompt, params = TEXT[:length], sampling(seed, tokens, biased)
        sampler, cache = Sampler(params, 288, prompt), self.model.new_cache()
        logits = self.model.forward(np.array(prompt, np.int32), cache)
        answer = [sampler.sample(logits[0])]
        while len(answer) < tokens:
            logits = self.model.forward(np.array(answer[-1:], np.int32), cache)
            answer.append(sampler.sample(logits[0]))
        return answer

    def until_stop(self, answer, part):
        """The answer up to the token that completes what the text of a part of it is; that text."""
        text = self.tokenizer.decode(answer[part])
        if not text or "\N{REPLACEMENT CHARACTER}" in text:
            return answer, ()
        ends = range(1, len(answer) + 1)
        end = next(end for end in ends if text in self.tokenizer.decode(answer[:end]))
        return answer[:end], (text,)

    def batch(self, blocks, **options):
        return Traffic(self, blocks, **options)


class Traffic:
    """A batch whose steps the test makes, and what became of every request."""

    def __init__(self, home, blocks, max_active=16):
        self.home = home
        self.cache = PrefixCache(BlockPool(home.model.kv_layout, blocks))
        self.batch = Batch(home.model, self.cache, max_active)
        self.tickets, self.wanted, self.outcomes, self.ended = [], [], [], []
        self.expected = []

    def submit(
        self,
        length,
        seed=None,
        tokens=10,
        biased=False,
        priority=0,
        stop_at=None,
        stop_after=None,
        gone_after=None,
        leader=None,
        **more,
    ):
        """stop_at: the answer's text there is its stop string; stop_after: all that so many of its
        tokens say is; gone_after: pieces that its receiver takes."""
        expected = self.home.alone(length, seed, tokens, biased)
        params = sampling(seed, tokens, biased)
        if stop_at is not None or stop_after is not None:
            part = slice(stop_after) if stop_at is None else slice(stop_at, stop_at + 2)
            expected, stop = self.home.until_stop(expected, part)
            params = msgspec.structs.replace(params, stop=stop)
        request = Generation(TEXT[:length], params, self.home.tokenizer, 512)
        number, outcomes = len(self.tickets), []

        def sink(outcome):
            if gone_after is not None and len(outcomes) >= gone_after:
                outcomes.append(None)
                raise RuntimeError("Event loop is closed")
            outcomes.append(outcome)
            if not isinstance(outcome, Piece):
                self.ended.append(number)

        leader = None if leader is None else self.tickets[leader]
        ticket = Ticket(request, sink, (priority, number), lambda: None, leader, **more)
        self.tickets.append(ticket)
        self.wanted.append((length, seed, tokens, biased))
        self.expected.append(expected)
        self.outcomes.append(outcomes)
        self.batch.add(ticket)

    def step(self):
        self.batch.step(busy=False)
        assert self.cache.pool.free <= self.cache.pool.blocks

    def run(self, limit=4000):
        while self.batch.active or self.batch.waiting:
            self.step()
            limit -= 1
            assert limit, "it does not come to an end"

    def check(self):
        """Every answer is right, none is lost, and no block either."""
        for ticket, expected, outcomes in zip(
            self.tickets, self.expected, self.outcomes, strict=True
        ):
            tokens = [outcome.token for outcome in outcomes if isinstance(outcome, Piece)]
            if None in outcomes:
                assert ticket.cancelled
                assert tokens == expected[: outcomes.index(None)]
                continue
            assert isinstance(outcomes[-1], Finished), outcomes[-1]
            if ticket.cancelled:
                assert tokens == expected[: len(tokens)]
            else:
                assert tokens == expected
                assert outcomes[-1].completion_tokens == len(expected)
        assert self.cache.make_room(self.cache.pool.blocks), "a block is lost"


def sampling(seed, tokens, biased):
    return SamplingParams(
        temperature=0.0 if seed is None else 1.0,
        seed=seed,
        max_tokens=tokens,
        ignore_eos=True,
        logit_bias=FEW if biased else {},
    )
