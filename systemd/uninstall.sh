#!/bin/sh
# Removes the service and the program. Asks nothing, and can be run again. The family's data stays
# in /var/lib/hubd unless --data is given.
set -eu

usage() {
    cat <<'END'
usage: systemd/uninstall.sh [--root DIR] [--data]

  --root DIR  uninstall from DIR instead of /
  --data      also remove documents, conversations, models, caches, configuration and secrets
END
}

root= data=keep
while [ $# -gt 0 ]; do
    case $1 in
    --root) root=${2:?--root needs a directory}; shift ;;
    --data) data=remove ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done

units="hubd.service hubd.socket hubd-backup.service hubd-backup.timer"

if [ -z "$root" ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "hubd is installed for the whole machine: run this as root." >&2
        exit 1
    fi
    for unit in $units; do
        systemctl disable --quiet --now "$unit" 2>/dev/null || true
    done
fi

for unit in $units; do
    rm -f "$root/etc/systemd/system/$unit"
done
if [ -L "$root/opt/hubd" ]; then rm "$root/opt/hubd"; else rm -rf "$root/opt/hubd"; fi
[ -n "$root" ] || systemctl daemon-reload

if [ "$data" = remove ]; then
    # With DynamicUser the data is under private/, and the plain names are links to it.
    for kind in lib cache; do
        rm -rf "$root/var/$kind/private/hubd" "$root/var/$kind/hubd"
    done
    rm -rf "$root/etc/hubd"
    echo "hubd and all of its data are removed."
else
    echo "hubd is removed. Its data stays in $root/var/lib/hubd, its configuration in $root/etc/hubd."
fi
