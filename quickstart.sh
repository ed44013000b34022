#!/usr/bin/env bash
# From a bare Debian 12 to the first result: installs what is missing, builds, and runs the main job.
set -euo pipefail
cd "$(dirname "$0")"
scripts/setup.sh
scripts/build.sh release shellgame
build/release/shellgame quickstart
