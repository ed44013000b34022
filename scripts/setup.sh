#!/usr/bin/env bash
# Installs what is missing to build, test and run shellgame on Debian 12: the one list of packages. Needs root or sudo,
# and only if something is missing: scripts/setup.sh [--fuzz] [PACKAGE...]
set -euo pipefail

packages=(
  # to build
  g++ cmake ninja-build pkg-config git ca-certificates
  libcli11-dev          # command line
  libfmt-dev            # formatting
  libtomlplusplus-dev   # task files
  nlohmann-json3-dev    # JSON
  libhwy-dev            # SIMD with dispatch at run time
  libpcre2-dev          # patterns of tokenizer.json
  libicu-dev            # Unicode normalisation
  libgmp-dev            # exact rational numbers
  libtorch-dev          # tensors and gradients for the learning part
  libopenblas0-pthread  # its matrix products
  librsvg2-dev          # figures: PDF and PNG from SVG (with cairo)
  # to run
  python3               # replays traces
  fonts-liberation      # the letters of figures; as wide as Arial and Helvetica
  # to test
  libgtest-dev libgmock-dev librapidcheck-dev
  python3-sympy         # oracle for groups
  libghmm-dev           # oracles for beliefs: GHMM (C)
  python3-pomegranate   # and pomegranate 0.14
  xz-utils              # test data
  clang-format          # the form of our sources
)
fuzz_packages=(clang libclang-rt-14-dev)  # libFuzzer, and the sanitizers that it needs
for name in "$@"; do
  if [ "$name" = --fuzz ]; then packages+=("${fuzz_packages[@]}"); else packages+=("$name"); fi
done

missing=()
for package in "${packages[@]}"; do
  # "install ok installed" is the only state that counts; a removed package may still be known.
  [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

run=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || { echo "setup: root or sudo is needed to install: ${missing[*]}" >&2; exit 1; }
  run=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
install() { ${run[@]+"${run[@]}"} apt-get install -y -q --no-install-recommends "${missing[@]}" > "$log" 2>&1; }
# The lists may be missing (a new image) or old: bring them up to date when the first try fails.
if ! install; then
  ${run[@]+"${run[@]}"} apt-get update -q > "$log" 2>&1 && install || { tail -n 20 "$log" >&2; exit 1; }
fi
rm -f "$log"
