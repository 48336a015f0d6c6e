#!/bin/sh
# Installs hubd as a systemd service, from the source tree that this script lies in.
# Asks nothing, and can be run again: the program and the units are brought up to date, the data
# and the configuration stay as they are.
set -eu

usage() {
    cat <<'END'
usage: systemd/install.sh [--root DIR] [--environment DIR] [--no-start]

  --root DIR         install under DIR instead of /, and start nothing
  --environment DIR  a Python environment that has hubd already; without it one is made in /opt/hubd
  --no-start         do not enable or start the service
END
}

root= environment= start=yes
while [ $# -gt 0 ]; do
    case $1 in
    --root) root=${2:?--root needs a directory}; start=no; shift ;;
    --environment) environment=$(cd "${2:?--environment needs a directory}" && pwd); shift ;;
    --no-start) start=no ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done

source=$(cd "$(dirname "$0")/.." && pwd)
units="hubd.service hubd.socket hubd-backup.service hubd-backup.timer"

if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
    echo "hubd is installed for the whole machine: run this as root (sudo systemd/install.sh)." >&2
    exit 1
fi

mkdir -p "$root/opt" "$root/etc/systemd/system" "$root/etc/hubd"
if [ -n "$environment" ]; then
    if [ ! -x "$environment/bin/hubd" ]; then
        echo "there is no hubd in $environment: it has no bin/hubd" >&2
        exit 1
    fi
    [ -L "$root/opt/hubd" ] || rmdir "$root/opt/hubd" 2>/dev/null || true
    ln -sfn "$environment" "$root/opt/hubd"
else
    [ -x "$root/opt/hubd/bin/python" ] || python3 -m venv "$root/opt/hubd"
    "$root/opt/hubd/bin/pip" install --quiet --upgrade --constraint "$source/constraints.txt" "$source"
fi

install -d -m 0700 "$root/etc/hubd/credentials"
for unit in $units; do
    install -m 0644 "$source/systemd/$unit" "$root/etc/systemd/system/$unit"
done

if [ "$start" = yes ]; then
    systemctl daemon-reload
    systemctl enable --quiet hubd.socket hubd.service hubd-backup.timer
    systemctl restart hubd.socket hubd.service
    systemctl start hubd-backup.timer
    echo "hubd runs: http://127.0.0.1:8400 (journalctl -u hubd shows its log)"
else
    echo "hubd is installed, and not started."
fi
