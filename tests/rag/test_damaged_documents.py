"""A few hundred damaged documents: each ends in text or one clear reason, none in a Python error.

``bench/mutate_documents.py`` does the same for thousands.
"""

from bench.mutate_documents import mutations, read, seeds
from rag import loaders
from rag.worker import Worker

FILES = 320


def test_the_seeds_cover_every_type_and_can_be_read(tmp_path):
    kinds = seeds()
    assert {loaders.TYPES[f".{kind}"].module for kind in kinds} == {
        kind.module for kind in loaders.TYPES.values()
    }
    for kind, content in kinds.items():
        path = tmp_path / f"a.{kind}"
        path.write_bytes(content)
        page = loaders.load(path).pages[0]
        assert page.is_scan or page.text.strip()


async def test_damaged_documents_end_in_text_or_a_reason(tmp_path):
    worker = Worker("rag.load_worker")
    ended = []
    try:
        for number, (kind, content) in enumerate(mutations(7, FILES)):
            path = tmp_path / f"{number}.{kind}"
            path.write_bytes(content)
            reply = await read(worker, path)
            assert reply.reason or reply.chunks or reply.scans
            if "process ended" in reply.reason:
                ended.append(reply.reason)
    finally:
        await worker.close()
    assert ended == []
