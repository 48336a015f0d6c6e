"""What hubd is made of: `sbom` writes build/sbom.json, `audit` lists known vulnerabilities.

    .venv/bin/python .ci/supply_chain.py sbom
    .venv/bin/python .ci/supply_chain.py audit

Both look at the packages in .venv, with tools in an environment of their own: what they need is
nothing that hubd or its tests should see. The SBOM is CycloneDX 1.6, the same for the same
packages.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "build" / "supply-chain"
PINNED = ("cyclonedx-bom==7.5.0", "pip-audit==2.10.1")
SBOM = ROOT / "build" / "sbom.json"
AUDIT_LIMIT_S = 90


def tool(name: str) -> str:
    """The path of one of the tools, installed at first."""
    path = TOOLS / "bin" / name
    if not path.exists():
        venv.create(TOOLS, with_pip=True, clear=True)
        pip = [str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", *PINNED]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    return str(path)


def sbom() -> int:
    """Every package with its version, licence and what needs it."""
    SBOM.parent.mkdir(exist_ok=True)
    command = [
        tool("cyclonedx-py"), "environment", sys.executable, "--pyproject", "pyproject.toml",
        "--output-reproducible", "--output-format", "JSON", "--output-file", str(SBOM),
    ]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True)
    bom = json.loads(SBOM.read_text())
    for component in bom["components"]:
        # Where this machine has its files from is of no use to others.
        found = component.get("externalReferences", [])
        component["externalReferences"] = [one for one in found if one["type"] != "distribution"]
    SBOM.write_text(json.dumps(bom, indent=1) + "\n")
    print(f"{SBOM.relative_to(ROOT)}: {len(bom['components'])} packages")
    return 0


def audit() -> int:
    """Known vulnerabilities; says so where the database told of no package at all."""
    try:
        program = tool("pip-audit")
    except subprocess.CalledProcessError:
        print("vulnerabilities: skipped, pip-audit cannot be installed here")
        return 0
    packages = next(ROOT.glob(".venv/lib/python3*/site-packages")).resolve()
    command = [
        program, "--path", str(packages), "--format", "json", "--progress-spinner",
        "off", "--timeout", "10",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=AUDIT_LIMIT_S, check=False
        )
        found: list[dict[str, Any]] = json.loads(done.stdout or "{}").get("dependencies", [])
    except (subprocess.SubprocessError, json.JSONDecodeError):
        found = []
    looked_up = [one for one in found if "vulns" in one]
    if not looked_up:
        print("vulnerabilities: skipped, the database (pypi.org) cannot be reached from here")
        return 0
    for one in looked_up:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {known['id']}, fixed in {fixed}")
    count = sum(len(one["vulns"]) for one in looked_up)
    print(f"vulnerabilities: {count} known in {len(looked_up)} of {len(found)} packages")
    return 0


if __name__ == "__main__":
    sys.exit({"sbom": sbom, "audit": audit}[sys.argv[1]]())
