"""The measurement of the prefix cache, made small: it runs real engines, and its parts agree."""

import pytest
from click.testing import CliRunner

from hubd.benchmarks import cache
from hubd.commands.bench import bench, benchmarks


@pytest.fixture
def small(monkeypatch):
    sizes = {"SYSTEM_TOKENS": 200, "ROUNDS": 1, "RESTARTS": 1, "FOREIGN_REQUESTS": 3}
    for name, size in sizes.items():
        monkeypatch.setattr(cache, name, size)


async def test_the_figures_agree_with_each_other(small, model_path, tmp_path):
    figures = await cache.measure(cache.Bench(model_path, 1, tmp_path))
    assert figures.restarted_cached_tokens >= 192, "at least the whole blocks of the system prompt"
    assert figures.ttft_cached_ratio == pytest.approx(
        figures.ttft_cached_ms / figures.ttft_alone_ms, abs=0.02
    )
    assert figures.foreign_hit_ratio > 0.9 > 0.1 > figures.foreign_hit_ratio_unmoved
    assert figures.foreign_hit_ratio > figures.foreign_hit_ratio_with_first > 0.5
    assert "from disk" in cache.show(figures)


def test_measurements_of_both_rooms_are_commands():
    assert set(benchmarks()) >= {"engine", "cache"}
    shown = CliRunner().invoke(bench, ["--help"]).output
    assert "What a long prompt costs the second time" in shown


def test_a_model_that_is_not_there_is_said(tmp_path):
    with pytest.raises(SystemExit, match=r"no\.gguf"):
        cache.main(["--model", str(tmp_path / "no.gguf"), "--cache-directory", str(tmp_path)])
