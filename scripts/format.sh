#!/usr/bin/env bash
# Puts all our sources into form. With --check: changes nothing, and fails if something would change.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(find shellgame tests fuzz examples -name '*.h' -o -name '*.cpp' | sort)
if [ "${1:-}" = --check ]; then
  clang-format --dry-run --Werror "${files[@]}"
else
  clang-format -i "${files[@]}"
fi
