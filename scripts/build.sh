#!/usr/bin/env bash
# Builds one preset (release by default): scripts/build.sh [PRESET] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
log=build/$preset-configure.log
mkdir -p build
cmake --preset "$preset" > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build "build/$preset" -j "$(nproc)" ${1:+--target "$@"}
