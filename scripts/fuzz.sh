#!/usr/bin/env bash
# Fuzzes the readers under the address and undefined-behaviour sanitizers: scripts/fuzz.sh SECONDS [TARGET...]
# (targets: automaton csv npy questions safetensors shard task tensor_index tokenizer trace; all by default, SECONDS each). New
# inputs go to build/fuzz/corpus; a finding stops the run and leaves its input in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(automaton csv npy questions safetensors shard task tensor_index tokenizer trace)
scripts/setup.sh --fuzz
scripts/build.sh fuzz "${targets[@]/#/fuzz_}"
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  echo "== $target, $seconds s"
  "build/fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=8192 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target-" "build/fuzz/corpus/$target" "fuzz/corpus/$target" > "build/fuzz/$target.log" 2>&1 \
    || { tail -n 40 "build/fuzz/$target.log" >&2; exit 1; }
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)|DONE' "build/fuzz/$target.log"
done
