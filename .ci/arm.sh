#!/usr/bin/env bash
# Tests of the engine's kernels on ARM, emulated: an arm64 Debian in build/arm under qemu, as root.
#
#   .ci/arm.sh pi5 [PYTEST ARGUMENTS]    # dot product: the path neon
#   .ci/arm.sh pi4 [PYTEST ARGUMENTS]    # without: the path armv8
#
# Compiling under emulation takes long: half an hour for the default tests. Tells whether code is
# right, never how fast it is.
set -euo pipefail
cd "$(dirname "$0")/.."

board=${1:?pi4 or pi5}
shift
case $board in
    pi5) cpu=max,pauth-impdef=on part=0xd0b path=neon more=" fphp asimdhp asimdrdm lrcpc dcpop asimddp atomics" ;;
    pi4) cpu=cortex-a72 part=0xd08 path=armv8 more="" ;;
    *) echo "pi4 or pi5, not $board" >&2; exit 2 ;;
esac
if [ $# -eq 0 ]; then
    set -- tests/engine/test_kernels.py tests/engine/test_attention.py -k "$path"
fi

root=$PWD/build/arm
if ! command -v qemu-aarch64-static >/dev/null || ! command -v debootstrap >/dev/null; then
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        qemu-user-static debootstrap rsync
fi
if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    # The first stage alone, and all that it fetched unpacked: nothing is configured, nothing needs it.
    debootstrap --foreign --arch=arm64 --variant=minbase --include=python3,libgomp1 bookworm "$root"
    for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    # What the kernels and their tests do not import is several gigabytes.
    grep == constraints.txt | grep -vE \
        '^(torch|transformers|sentence-transformers|accelerate|llama|mypy|ruff|grimp|import-linter|mcp|qdrant|schemathesis|fastapi|scikit|scipy|grpcio|librt|ast_serialize|starlette-context|jsonschema_rs)' \
        > "$root/requirements.txt"
    platforms=(--platform manylinux2014_aarch64)
    for version in 17 24 26 27 28 31 34 35 36; do platforms+=(--platform "manylinux_2_${version}_aarch64"); done
    .venv/bin/python -m pip install --quiet --target "$root/site" "${platforms[@]}" \
        --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none \
        --only-binary=:all: --no-deps --requirement "$root/requirements.txt"
    touch "$root/ready"
fi

rsync -a --delete --exclude .git --exclude .venv --exclude build --exclude __pycache__ ./ "$root/repo/"
mkdir -p "$root/models"
models=${HUBD_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/hubd}/models
rsync -a --include '*.gguf' --exclude '*' "$models/" "$root/models/"

# binfmt_misc lets children be started as well; F: the interpreter is opened now, outside the root.
if [ ! -e /proc/sys/fs/binfmt_misc/register ]; then mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; fi
if [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    echo ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" > /proc/sys/fs/binfmt_misc/register
fi

# What LLVM knows the CPU by.
for core in 0 1 2 3; do
    printf 'processor\t: %d\nFeatures\t: fp asimd evtstrm crc32 cpuid%s\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: %s\nCPU revision\t: 3\n\n' \
        "$core" "$more" "$part"
done > "$root/cpuinfo"

inside='
mount -t proc proc "$0/proc"
mount --bind "$0/cpuinfo" "$0/proc/cpuinfo"
mount --bind /dev "$0/dev"
exec chroot "$0" env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE -u NUMBA_CACHE_DIR HOME=/root \
    PYTHONPATH=/site:/repo OPENBLAS_NUM_THREADS=1 HUBD_TEST_MODEL="$(cd "$0" && ls -1 models/*.gguf | head -1 | sed s,^,/,)" \
    sh -c '\''cd /repo && exec python3 -m pytest -q -p no:cacheprovider "$@"'\'' sh "$@"
'
QEMU_CPU=$cpu exec unshare --mount sh -c "$inside" "$root" "$@"
