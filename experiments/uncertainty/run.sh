#!/usr/bin/env bash
# Trains one regime of docs/uncertainty.md and asks every run the questions of the experiment:
#   experiments/uncertainty/run.sh u|k SEEDS DIR [ARM...]        u-cycle.json and u-uniform.json (k-...) appear in DIR
#   experiments/uncertainty/run.sh k 0,1 runs/small DN1 LSTM1    the smallest decisive cell: four runs
# The same command goes on where it was interrupted; more seeds keep the runs that are there.
set -euo pipefail
regime=${1:?u or k} seeds=${2:?seeds, such as 0..9} out=${3:?a directory for runs and results}
shift 3
here=$(cd "$(dirname "$0")" && pwd)
tool=${SHELLGAME:-$here/../../build/release/shellgame}
[ $# -gt 0 ] || set -- DN2 DN1 LSTM1 LSTM2 GRU1
arms=()
for arm in "$@"; do arms+=(--arms "$arm"); done
case $regime in
  u) changes=() ;;
  k) changes=(--set task.sticky-share=0.5) ;;
  *) echo "run.sh: the regime must be u or k, not '$regime'" >&2; exit 2 ;;
esac
mkdir -p "$out"
"$tool" sweep "$here/experiment.toml" --tuned "$here/tune.json" --seeds "$seeds" --run "$out/$regime" "${arms[@]}" ${changes[@]+"${changes[@]}"}
cells=()
for cell in Z D M5 M1 R MR; do cells+=(--schedule "$here/schedules/$cell.toml"); done
"$tool" evaluate --sweep "$out/$regime" "${cells[@]}" --measures miss --name cycle --output "$out/$regime-cycle.json"
"$tool" evaluate --sweep "$out/$regime" --commands 32,128,512,2048 --spacing 1,2 --count 256 --measures regret,accuracy --name uniform --output "$out/$regime-uniform.json"
