# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The common part of deploy/quickstart and deploy/selftest: to install what is missing and to build.
# Sourced after `set -euo pipefail`. Sets root, build and name; prints one short line per step.
# shellcheck disable=SC2034 # some of the names are for those who source it

name=$(basename "$0")
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
build=$(realpath -m "${HDSS_BUILD:-$root/build}")
log=$(mktemp "${TMPDIR:-/tmp}/hdss-$name.XXXXXX")
trap 'rm -f "$log"' EXIT

# Needs of the build: how to see that it is there, and its packages for apt, dnf and spack.
needs=(
  "compiler cc             gcc,libc6-dev   gcc                 gcc"
  "command  meson          meson           meson               meson"
  "command  ninja          ninja-build     ninja-build         ninja"
  "command  pkg-config     pkg-config      pkgconf-pkg-config  pkgconf"
  "library  libevent_core  libevent-dev    libevent-devel      libevent"
  "library  jansson        libjansson-dev  jansson-devel       jansson"
  "library  libxxhash      libxxhash-dev   xxhash-devel        xxhash"
  "library  libpng         libpng-dev      libpng-devel        libpng"
  "library  check          check           check-devel         check"
)

# Needs of ranks over MPI, which one machine does without.
mpi_needs=(
  "command  mpicc          libopenmpi-dev  openmpi-devel       openmpi"
  "command  mpirun         openmpi-bin     openmpi             openmpi"
)

# What the build does without: for pods that join over TCP, also without the key of the set, and for the Python package and kernels in Python.
wants=(
  "library  openssl        libssl-dev      openssl-devel       openssl"
  "library  munge          libmunge-dev    munge-devel         munge"
  "library  python3-embed  libpython3-dev       python3-devel        python"
  "module   cloudpickle    python3-cloudpickle  python3-cloudpickle  py-cloudpickle"
)

step() {
  printf '%s: %s\n' "$name" "$*"
}

# Ends with one line, and with the status $2 (1).
fail() {
  printf '%s: %s\n' "$name" "$1" >&2
  exit "${2:-1}"
}

# A compiler without the C library's headers is none. CC may have several words, as in "ccache gcc".
have_compiler() {
  local -a compiler
  read -r -a compiler <<<"${CC:-cc}"
  printf '#include <stdio.h>\n' | "${compiler[@]}" -E - >/dev/null 2>&1
}

# True where all programs of a Slurm of one's own are there.
have_slurm() {
  local program PATH=$PATH:/usr/sbin:/sbin
  for program in munged slurmctld slurmd sbatch srun; do
    command -v "$program" >/dev/null || return 1
  done
}

# True where the Python of the PATH has the module, or that of the system, for which packages are: tests take the one that serves.
have_module() {
  python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null
}

have() {
  case $1 in
    compiler) have_compiler ;;
    command) command -v "$2" >/dev/null ;;
    slurm) have_slurm ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
    module) have_module "$2" ;;
  esac
}

# Prints the lines of those needs that are not met.
missing() {
  local need
  for need in "$@"; do
    # shellcheck disable=SC2086 # a need is four words
    have $need || printf '%s\n' "$need"
  done
}

# Prints column $1 (3 apt, 4 dnf, 5 spack) of the needs on standard input, each package once.
packages() {
  awk -v column="$1" '{ n = split($column, names, ","); for (i = 1; i <= n; i++) if (!seen[names[i]]++) print names[i] }' |
    tr '\n' ' ' | sed 's/ $//'
}

# Runs a command as root; fails where that needs a password and nobody is there to type it.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    return 1
  elif sudo -n true 2>/dev/null; then
    sudo -n "$@"
  elif [ -t 0 ] && [ -t 2 ] && [ "${CI:-}" != true ]; then
    sudo "$@"
  else
    return 1
  fi
}

tell_packages() {
  {
    printf '%s: these are missing and could not be installed from here:\n' "$name"
    printf '  Debian, Ubuntu:  apt-get install %s\n' "$(packages 3 <<<"$1")"
    printf '  Fedora, RHEL:    dnf install %s\n' "$(packages 4 <<<"$1")"
    printf '  Spack:           spack install %s\n' "$(packages 5 <<<"$1")"
    printf '%s: install them, then run it again (mpicc, mpirun and pkg-config must find them)\n' "$name"
  } >&2
}

# Installs the packages of the needs given in $1, one per line, by apt; the output goes to the log.
apt_install() {
  local -a names
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
  command -v apt-get >/dev/null || return 1
  read -r -a names <<<"$(packages 3 <<<"$1")"
  as_root true || return 1
  step "installing ${names[*]}"
  as_root "${apt[@]}" update >"$log" 2>&1 </dev/null || true
  as_root "${apt[@]}" --no-install-recommends install "${names[@]}" >>"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    return 1
  }
  hash -r
}

# Makes sure that the needs given as arguments are met; touches neither apt nor the network where they are.
install_needs() {
  local lacking
  lacking=$(missing "$@")
  [ -n "$lacking" ] || return 0
  if ! apt_install "$lacking"; then
    tell_packages "$lacking"
    exit 1
  fi
  lacking=$(missing "$@")
  if [ -n "$lacking" ]; then
    tell_packages "$lacking"
    exit 1
  fi
}

# The same for what is good to have: a failure is not one.
install_extras() {
  local lacking
  lacking=$(missing "$@")
  [ -z "$lacking" ] || apt_install "$lacking" || step "going on without $(packages 3 <<<"$lacking")"
}

# Refuses a build folder that cannot be used, before anything is installed or built.
check_folder() {
  if [ -e "$1" ] && [ -n "$(ls -A "$1")" ] && [ ! -d "$1/meson-private" ]; then
    fail "$1 is not a build folder; set HDSS_BUILD to another one"
  fi
  mkdir -p "$1" 2>/dev/null || true
  [ -w "$1" ] || fail "cannot write $1; set HDSS_BUILD to another build folder"
}

check_meson() {
  local version
  version=$(meson --version)
  if [ "$(printf '1.0.0\n%s\n' "$version" | sort -V | head -n 1)" != 1.0.0 ]; then
    fail "meson $version is too old, 1.0.0 or newer is needed (python3 -m pip install --user meson)"
  fi
}

# Shows the log from its first error on, or its end.
show_log() {
  local line
  line=$(grep -n -m 1 -E '^FAILED:|ERROR:|error:' "$log" | cut -d: -f1) || true
  if [ -n "$line" ]; then
    tail -n "+$line" "$log" | grep -v '^INFO:' | head -n 10 >&2
  else
    tail -n 10 "$log" >&2
  fi
}

# Prints the checkout that the build folder $1 was made for.
source_of() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directories"]["source"])' \
    "$1/meson-info/meson-info.json" 2>/dev/null || true
}

# Configures the build folder $1 with the Meson options that follow; one that is there is used again.
configure() {
  local folder=$1
  shift
  local -a how=()
  if [ -f "$folder/meson-private/coredata.dat" ]; then
    how=(--reconfigure)
    [ "$(source_of "$folder")" = "$root" ] || how=(--wipe) # of another checkout, or cut off in the middle
  fi
  meson setup "${how[@]}" "$folder" "$root" "$@" >"$log" 2>&1 </dev/null
}

# Copies what Ninja prints to the log, and says how far it is: on a terminal in one line that is rewritten, else every 20 seconds.
follow_ninja() {
  local line shown=$SECONDS every=20 end='\n'
  [ ! -t 1 ] || every=1 end='\033[K\r'
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] && ((SECONDS - shown >= every)); then
      # shellcheck disable=SC2059 # its end is one of two
      printf "%s: built %s of %s$end" "$name" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      shown=$SECONDS
    fi
  done
}

# Compiles all of the build folder $1.
compile() {
  : >"$log"
  NINJA_STATUS='[%f/%t] ' ninja -C "$1" 2>&1 </dev/null | follow_ninja
}

# Both, with a clear end where one of them fails: the build folder $1 with the Meson options that follow.
build_all() {
  local folder=$1
  shift
  step "building in $folder"
  if ! configure "$folder" "$@"; then
    show_log
    fail "the build in $folder could not be configured (above: what Meson says)"
  fi
  if ! compile "$folder"; then
    show_log
    fail "the build in $folder failed (above: the first error)"
  fi
}
