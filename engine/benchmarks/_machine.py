"""What the figures were measured on."""

import os
import platform
import re
from pathlib import Path

import msgspec

CPU_FEATURES = ("avx2", "avx_vnni", "avx512_vnni", "avx512_bf16", "asimddp", "i8mm")
"""Those that decide over the speed of integer products, as /proc/cpuinfo names them."""


class Machine(msgspec.Struct, frozen=True):
    """A machine's description."""

    cpu: str
    cores: int
    """Those that this process may use."""
    features: list[str]
    memory_bytes: int
    system: str
    python: str
    load: float
    """Processes that wanted to run, over the last minute: more than 0 disturbs the figures."""

    def __str__(self) -> str:
        return (
            f"{self.cores} cores of {self.cpu} ({', '.join(self.features)}),"
            f" {self.memory_bytes / 2**30:.0f} GiB of memory, {self.system}, Python {self.python};"
            f" load before the run {self.load:.1f}"
        )


def this_machine() -> Machine:
    """Described from /proc and Python."""
    info = Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
    family = re.search(r"^cpu family\s*:\s*(\d+)\n+model\s*:\s*(\d+)", info, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", info, re.MULTILINE)
    present = set(flags[1].split()) if flags else set()
    cpu = name[1] if name else platform.machine()
    if family:
        cpu += f" family {family[1]} model {family[2]}"
    return Machine(
        cpu=cpu,
        cores=len(os.sched_getaffinity(0)),
        features=[feature for feature in CPU_FEATURES if feature in present],
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        load=os.getloadavg()[0],
    )
