#!/usr/bin/env bash
# Installs what is missing, builds the release, and runs its tests. `./test.sh all` goes on with the sanitizers: addresses and
# undefined behaviour on the core and the kernels, threads on what starts some. Says what each step took.
set -euo pipefail
cd "$(dirname "$0")"
case "${1:-}" in
  "" | release) presets=(release) ;;
  all) presets=(release sanitize sanitize-thread) ;;
  *) echo "test.sh: the argument must be 'all' or nothing, not '$1'" >&2; exit 2 ;;
esac

times=()
step() {  # step NAME COMMAND...
  local name=$1 start=$SECONDS
  shift
  "$@"
  times+=("$(printf '%-28s %3d:%02d' "$name" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
}

step "packages" scripts/setup.sh
for preset in "${presets[@]}"; do
  step "$preset: build" scripts/build.sh "$preset"
  step "$preset: tests" ctest --preset "$preset" -j "$(nproc)"
done
printf '%s\n' "" "minutes:" "${times[@]}" "$(printf '%-28s %3d:%02d' all $((SECONDS / 60)) $((SECONDS % 60)))"
