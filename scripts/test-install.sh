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
# The examples move out of the tree, so that only what was installed can be found. They want the LibTorch of the build.
torch=$(sed -n 's/^Torch_DIR:PATH=//p' "$build/CMakeCache.txt")
cp -r examples "$work/examples"
for example in new-mixer new-task train-and-probe; do
  quiet cmake -G Ninja -S "$work/examples/$example" -B "$work/$example" -DCMAKE_PREFIX_PATH="$work/prefix" -DTorch_DIR="$torch"
  quiet cmake --build "$work/$example"
done
"$work/train-and-probe/train_and_probe" "$work/library-run"

# The tool loads the library of models from ../lib/shellgame, and plug-ins from where they are: a run knows its own.
tool="$work/prefix/bin/shellgame"
"$tool" model describe tests/data/models/delta_net > "$work/log"
head -n 3 "$work/log"
plugin="$work/new-mixer/new_mixer.so"
quiet "$tool" train "$work/examples/new-mixer/experiment.toml" --plugin "$plugin" --run "$work/run" --threads 2
quiet "$tool" train --run "$work/run" --resume
"$tool" evaluate --run "$work/run" --count 4
"$tool" probe custom leaks --run "$work/run" --count 2
"$tool" probe state --run "$work/run" --count 8 --commands 8 > "$work/log"
quiet "$tool" sweep "$work/examples/new-mixer/experiment.toml" --plugin "$plugin" --set stages.0.steps=2 --run "$work/sweep"
task="$work/new-task/new_task.so"
quiet "$tool" train "$work/examples/new-task/experiment.toml" --plugin "$task" --run "$work/echo" --threads 2
"$tool" evaluate --run "$work/echo" --lengths 16,64 --count 16
quiet "$tool" evaluate --model "$work/echo/model" --plugin "$task" --kind echo --set delay=3 --count 4
refused() {  # what must stand in the sentence, then the command
  local part=$1
  shift
  if "$@" > "$work/log" 2>&1 || ! grep -qF "$part" "$work/log" || [ "$(wc -l < "$work/log")" -ne 1 ]; then
    cat "$work/log" >&2
    echo "test-install: not refused by a sentence with '$part': $*" >&2
    exit 1
  fi
}
# Without its plug-in there is no such model; what is no plug-in, or is one of another version, is refused before it runs.
refused shellgame_leaky_average "$tool" model describe "$work/run/model"
refused "not 'echo'" "$tool" evaluate --model "$work/echo/model" --kind echo
refused 'is none' "$tool" train --plugin "$work/prefix/lib/libshellgame_core.so" "$work/examples/new-mixer/experiment.toml" --run "$work/none"
refused 'is none' "$tool" model describe "$work/run/model" --plugin "$work/run/experiment.toml"
sed 's/plug-in: shellgame 0/plug-in: shellgame 9/' "$plugin" > "$work/other.so"
refused "was built for 'shellgame 9" "$tool" model describe "$work/run/model" --plugin "$work/other.so"
