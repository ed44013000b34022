#!/usr/bin/env bash
# Installs a build (build/release by default) into a temporary prefix, and there builds and runs what a user would:
# examples/new-mixer by find_package(shellgame), and the installed tool with its models: scripts/test-install.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quiet() { "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

quiet cmake --install "$build" --prefix "$work/prefix"
# The flags of our own build, warnings as errors among them, are not for users.
if grep -rnE -e '-W(error|all|extra)|shellgame_flags' "$work/prefix/lib/cmake/shellgame" >&2; then exit 1; fi
# The example moves out of the tree, so that only what was installed can be found. It wants the LibTorch of the build.
cp -r examples/new-mixer "$work/example"
torch=$(sed -n 's/^Torch_DIR:PATH=//p' "$build/CMakeCache.txt")
quiet cmake -G Ninja -S "$work/example" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DTorch_DIR="$torch"
quiet cmake --build "$work/build"
"$work/build/new_mixer"

# The tool loads the library of models from ../lib/shellgame.
"$work/prefix/bin/shellgame" model describe tests/data/models/delta_net > "$work/log"
head -n 3 "$work/log"
