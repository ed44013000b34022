#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests: the release build, then the core tests again under the address,
# undefined-behaviour and thread sanitizers. `./test.sh release` runs the first part only.
set -euo pipefail
cd "$(dirname "$0")"
scripts/setup.sh
scripts/build.sh release
ctest --preset release -j "$(nproc)"
[ "${1:-all}" = release ] && exit 0
for preset in sanitize sanitize-thread; do
  scripts/build.sh "$preset"
  ctest --preset "$preset" -j "$(nproc)"
done
