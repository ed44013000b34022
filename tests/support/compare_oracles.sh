#!/usr/bin/env bash
# The belief oracles against each other, on random cases: recursion and paths exactly, GHMM, pomegranate and WebPPL's
# recorded answers to 1e-12. Usage: compare_oracles.sh BELIEFS_GHMM [SEED] [COUNT]
set -euo pipefail
ghmm=$(realpath "$1") seed=${2:-1} count=${3:-200}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$here"/beliefs_random.py --seed "$seed" --count "$count" --states 4 --steps 5 --exact > small.jsonl
"$here"/beliefs_fractions.py --exact < small.jsonl > recursion.jsonl
"$here"/beliefs_fractions.py --exact --paths < small.jsonl > paths.jsonl
cmp recursion.jsonl paths.jsonl

"$here"/beliefs_random.py --seed "$seed" --count "$count" > cases.jsonl
"$here"/beliefs_fractions.py < cases.jsonl > reference.jsonl
"$ghmm" < cases.jsonl > ghmm.jsonl 2> ghmm.log || { tail -n 5 ghmm.log >&2; exit 1; }
"$here"/beliefs_compare.py reference.jsonl ghmm.jsonl
"$here"/beliefs_pomegranate.py < cases.jsonl > pomegranate.jsonl
"$here"/beliefs_compare.py reference.jsonl pomegranate.jsonl

"$here"/beliefs_fractions.py < "$here"/../data/beliefs-webppl.jsonl > reference.jsonl
"$here"/beliefs_compare.py reference.jsonl "$here"/../data/beliefs-webppl.jsonl
