#!/usr/bin/env bash
# Gets Bun, installs packages, compiles dist/satchel and runs every test. The last line is `N passed, N failed`.
# With --check, format, lint, types and tidy come first, and each of them that fails counts as a failed test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/ensure-bun.sh
source scripts/ensure-bun.sh
# shellcheck source=scripts/ensure-test-parts.sh
source scripts/ensure-test-parts.sh

with_check=no
case "${1:-}" in
  '') ;;
  --check) with_check=yes ;;
  *)
    echo "usage: scripts/test.sh [--check]" >&2
    exit 2
    ;;
esac

# Tests write less than 1 GB at a time; eight times that leaves whatever else the machine does enough.
MEMORY_ROOM_KB=8388608

# Whether what tests write can be kept in memory: they wait a good part of their time for a disk, and none is about one.
has_room_in_memory() {
  local options room_kb available_kb
  [[ -w /dev/shm && -r /proc/mounts && -r /proc/meminfo ]] || return 1
  options=$(awk '$2 == "/dev/shm" { found = $4 } END { print found }' /proc/mounts)
  [[ -n $options && $options != *noexec* ]] || return 1
  room_kb=$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')
  available_kb=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  ((room_kb >= MEMORY_ROOM_KB && available_kb >= MEMORY_ROOM_KB))
}

# Whatever ends the script early, the last line still says how it went, or that it was stopped.
passed=0
failed=0
stopped=
log=$(mktemp)
folder=
finish() {
  local status=$?
  rm -f "$log"
  if [[ -n $folder ]]; then rm -rf "$folder" || true; fi
  if [[ -n $stopped ]]; then
    echo "Stopped by $stopped before the tests had ended: this says nothing of them."
    exit "$status"
  fi
  if ((status != 0 && failed == 0)); then failed=1; fi
  tell_missing_parts
  echo "$passed passed, $failed failed"
  if ((failed > 0)); then exit 1; fi
}
trap finish EXIT
# A signal alone would end the script with the status of the last command, which may well be 0.
trap 'stopped=SIGINT; exit 130' INT
trap 'stopped=SIGTERM; exit 143' TERM

# The number before the word $1 in the summary that ends Bun's output: ` 12 pass`.
count_of() {
  tail -n 15 "$log" | sed -n "s/^ *\([0-9][0-9]*\) $1\$/\1/p" | tail -n 1
}

ensure_bun
install_packages
ensure_test_parts
if [[ $with_check == yes ]]; then
  "$BUN" scripts/check.ts --quick </dev/null || failed=$?
fi
build_satchel

# Removed at the end, with what browsers leave there. Others may pass through it, as the IMAP server that tests drive gives root
# no mail.
if [[ -z ${TMPDIR:-} ]]; then
  if has_room_in_memory; then folder=$(mktemp -d /dev/shm/satchel-XXXXXX); else folder=$(mktemp -d); fi
  chmod 711 "$folder"
fi
status=0
# One process more than there are cores: each waits a good part of its time, for disks and for the relays and timers that tests
# are about. It keeps the modules from file to file, as loading the app again is most of what a small file takes. The files
# that timings.json names begin first, so that none of them is left alone at the end (`--update-timings` writes it anew).
# A minute for each test instead of 5 s, as none is about a busy machine. The last stage of compiling (FTL) is left out: hardly any
# code of a test runs for long enough to give back what that takes, a tenth of all.
processes=$(($(getconf _NPROCESSORS_ONLN) + 1))
NO_COLOR=1 BUN_JSC_useFTLJIT=0 TMPDIR=${folder:-${TMPDIR:-}} "$BUN" test "--parallel=$processes" --no-isolate --timings=test/timings.json --timeout 60000 2>&1 </dev/null | tee "$log" || status=$?
pass=$(count_of pass)
fail=$(count_of fail)
passed=${pass:-0}
failed=$((failed + ${fail:-0}))
if ((status != 0 && failed == 0)); then
  echo "The test run ended with status $status outside of any test; see above." >&2
  failed=1
fi
if ((passed == 0 && failed == 0)); then
  echo "No test ran." >&2
  failed=1
fi
