# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Debian 12 and 13 as debootstrap leaves them, from the component main alone, without updates:
#
#   bare.sh quickstart RESULTS BUILD SUITE   deploy/quickstart, from `git archive HEAD` and with an empty environment, has to come to its picture
#   bare.sh all RESULTS BUILD SUITE CHOSEN   then the tests run there as well, and from Debian 13, which has Open MPI 5, a pod joins a set of this machine
#
# CHOSEN is the file of tests/lib/launch.py that says which functions of the system tests run: of the others none does.
# SUITE is bookworm or trixie; BUILD is a build folder of this machine, for the checksum and the set. Leaves results in the folder RESULTS, as Meson's logs
# have them. All that happens in a root happens in a mount and a process namespace: with the first process of a namespace its mounts and its other
# processes go.
# Sourced by the shells in the namespaces.
# shellcheck disable=SC2154 # root comes from setup.sh

bare_folder=  # of the root; removed at the end
bare_pid=     # what runs in the namespaces

# --- in a namespace ---

# Makes the folder $1 a mount of its own, as namespaces inside the root need it, with the devices and set-uid programs that temporary folders may forbid.
bare_claim() {
  mount --bind "$1" "$1"
  mount -o remount,bind,dev,exec,suid "$1"
}

# Makes the root $1 of the suite $2 from the mirror $3, with the further packages $4: debootstrap's smallest, with the files that any installation has.
bare_make() {
  local folder=$1 suite=$2 mirror=$3 packages=$4
  debootstrap --variant=minbase ${packages:+--include="$packages"} "$suite" "$folder" "$mirror"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" >"$folder/etc/hosts"
  [ -z "${http_proxy:-}" ] || printf 'Acquire::http::Proxy "%s";\n' "$http_proxy" >"$folder/etc/apt/apt.conf.d/90proxy"
}

bare_mount() {
  local folder
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  for folder in dev/shm tmp run; do mount -t tmpfs tmpfs "$1/$folder"; done # what a killed run leaves there goes, too
}

# Runs a command in the root $1, as root or as the user "visitor", with an environment that holds no more than it must. The root becomes that of a
# mount namespace: under chroot alone the kernel does not tell which program a process of a further namespace runs, as the tests with several nodes ask.
bare_run() {
  local folder=$1 user=$2 home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  shift 2
  [ "$user" = root ] || home=/home/$user path=/usr/local/bin:/usr/bin:/bin
  # shellcheck disable=SC2016 # for the shell in the namespace
  unshare --mount bash -c 'cd "$0" && pivot_root . mnt && cd / && umount -l /mnt && exec chroot "--userspec=$1" / env -i "HOME=$2" "PATH=$3" "${@:4}"' \
    "$folder" "$user" "$home" "$path" "$@"
}

bare_user() {
  if [ "$1" = bookworm ]; then printf visitor; else printf root; fi
}

bare_home() {
  if [ "$1" = bookworm ]; then printf /home/visitor; else printf /root; fi
}

# Makes the root of suite $2 in the folder $1 from the mirror $3 and runs quickstart there: in Debian 13 as root, in Debian 12 as a user who has sudo.
bare_quickstart() {
  local suite=$2 mirror=$3 folder=$1/$2 user home packages=()
  case $mirror in https:*) packages+=(ca-certificates) ;; esac
  user=$(bare_user "$suite") home=$(bare_home "$suite")
  [ "$user" = root ] || packages+=(sudo)
  mkdir "$folder"
  bare_claim "$folder"
  bare_make "$folder" "$suite" "$mirror" "$(IFS=,; printf '%s' "${packages[*]}")"
  bare_mount "$folder"
  if [ "$user" != root ]; then
    chroot "$folder" useradd --create-home --shell /bin/bash "$user"
    printf '%s ALL=(ALL) NOPASSWD: ALL\n' "$user" >"$folder/etc/sudoers.d/$user"
  fi
  mkdir "$folder$home/hdss"
  tar -xf "$1/hdss.tar" -C "$folder$home/hdss" --no-same-owner
  chroot "$folder" chown -R "$user:" "$home/hdss"
  # shellcheck disable=SC2016 # for the shell in the root
  bare_run "$folder" "$user" bash -c 'cd && exec hdss/deploy/quickstart'
  if [ "$(head -c 8 "$folder$home/mandelbrot.png" | od -An -tx1 | tr -d ' \n')" != 89504e470d0a1a0a ]; then
    printf 'mandelbrot.png is no PNG\n'
    return 1
  fi
}

# Runs the tests in the root of suite $2 in the folder $1, in the build folder that quickstart has left: as root, as some need namespaces. All but the system
# tests, and of these those that the file $3 names.
bare_tests() {
  local folder=$1/$2 chosen=$3 checkout names
  checkout=$(bare_home "$2")/hdss
  bare_claim "$folder"
  bare_mount "$folder"
  # With iproute2 the machine pretends to be several nodes.
  bare_run "$folder" root env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install iproute2 >/dev/null
  # shellcheck disable=SC2016 # for the shell in the root
  bare_run "$folder" root bash -c 'cd "$0" && meson configure build -Dtests=true && ninja -C build' "$checkout"
  cp "$chosen" "$folder/tmp/chosen.json"
  mapfile -t names < <(python3 -c 'import json, sys
with open(sys.argv[1]) as chosen, open(sys.argv[2]) as tests:
    only = json.load(chosen)["only"]
    print(*{test["name"] for test in json.load(tests) if {"unit", "cluster", "seeds"} & set(test["suite"]) or test["name"] in only}, sep="\n")' \
    "$chosen" "$folder$checkout/build/meson-info/intro-tests.json")
  bare_run "$folder" root env HDSS_TEST_CHOSEN=/tmp/chosen.json HDSS_TEST_TIMEOUT=360 meson test -C "$checkout/build" --no-rebuild --logbase testlog-bare \
    --timeout-multiplier 3 --num-processes 4 "${names[@]}" || true
  [ -s "$folder$checkout/build/meson-logs/testlog-bare.json" ]
}

# Joins the set in the folder $2, which the root of Debian 13 has at the same place, with two workers and over TCP alone.
bare_join() {
  local folder=$1/trixie share=$2
  bare_claim "$folder"
  bare_mount "$folder"
  mkdir -p "$folder$share"
  mount --bind "$share" "$folder$share"
  # shellcheck disable=SC2016 # for the shell in the root
  bare_run "$folder" root bash -c 'grep -v "^address /\|^sum " "$0/set/pods" | /root/hdss/build/deploy/hdss join --carrier mpi --workers 2 -' "$share"
}

# --- on this machine ---

# Starts function $1 with the arguments that follow in namespaces. In a process group of its own, for which Ctrl-C is not ignored.
bare_start() {
  set -m
  # shellcheck disable=SC2016 # for the shell in the namespaces
  unshare --mount --pid --fork --kill-child bash -c 'set -euo pipefail; . "$1"; "${@:2}"' bare "$root/deploy/lib/bare.sh" "$@" </dev/null &
  bare_pid=$!
  set +m
}

# Waits for what runs in the namespaces. Returns its exit status.
bare_wait() {
  local status=0
  wait "$bare_pid" || status=$?
  bare_pid=
  return "$status"
}

# Ends what runs in the namespaces, and waits until it is gone: then nothing is mounted any more.
bare_end_processes() {
  local child
  [ -n "$bare_pid" ] || return 0
  read -r child _ 2>/dev/null <"/proc/$bare_pid/task/$bare_pid/children" || child= # the first process in the namespaces
  kill -KILL "${child:-$bare_pid}" 2>/dev/null || true
  wait "$bare_pid" 2>/dev/null || true
}

bare_end() {
  bare_end_processes
  [ -z "$bare_folder" ] || rm -rf --one-file-system "$bare_folder"
}

# Prints the mirror of Debian that apt takes its packages from, whichever way its sources are written. Apt tells of sources that it has lists of.
bare_mirror() {
  local mirror
  # shellcheck disable=SC2016 # apt's own variables
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" && $3 !~ /[-\/]/ { print $4; exit }')
  case $mirror in mirror+file:*) mirror=$(awk '/^https?:/ { print $1; exit }' "${mirror#mirror+file:}") ;; esac # a list of them
  case $mirror in http:* | https:*) printf '%s\n' "${mirror%/}" ;; *) return 1 ;; esac
}

# Why no root can be made on this machine: nothing where one can.
bare_obstacle() {
  if [ "$(id -u)" -ne 0 ]; then
    printf 'it takes root\n'
  elif ! command -v debootstrap >/dev/null; then
    printf 'there is no debootstrap\n'
  elif ! git -C "$root" rev-parse --quiet --verify HEAD >/dev/null 2>&1; then
    printf 'the sources are no checkout of git\n'
  elif [ "$(df --output=avail --block-size=M "$bare_folder" | tr -dc '0-9\n' | tail -n 1)" -lt 4000 ]; then
    printf 'it takes 4 GB in %s, or in the folder that TMPDIR names\n' "${bare_folder%/*}"
  elif ! unshare --mount --pid --fork mount -t proc proc "$bare_folder" 2>/dev/null; then
    printf 'namespaces are refused here\n'
  elif ! bare_mirror >/dev/null && ! { apt-get update && bare_mirror; } >/dev/null 2>&1; then
    printf 'apt has no source of Debian\n'
  fi
}

# Prints why no root of the suite $1 from the mirror $2 can be made: nothing where one can. Leaves what it has of the mirror in the folder.
bare_absent() {
  /usr/lib/apt/apt-helper download-file "$2/dists/$1/InRelease" "$bare_folder/$1.release" >/dev/null 2>&1 ||
    printf '%s has no %s, or cannot be reached\n' "$2" "$1"
}

# Appends the result of the test $2 to Meson's log $1: $3, as Meson says it, with the text of the file $4.
bare_record() {
  python3 -c 'import json, sys
with open(sys.argv[4], encoding="utf-8", errors="replace") as file:
    record = {"name": sys.argv[2], "result": sys.argv[3], "stdout": file.read()}
with open(sys.argv[1], "a", encoding="utf-8") as log:
    log.write(json.dumps(record) + "\n")' "$@"
}

# Runs quickstart in a root of the suite $1 from the mirror $2, and compares the checksum of its picture with that of this machine's hdss, $3. What is
# wrong is the last line of SUITE.log.
bare_picture() {
  local suite=$1 mirror=$2 hdss=$3 checksum expected
  local text=$bare_folder/$suite.log
  git -C "$root" archive --output "$bare_folder/hdss.tar" HEAD
  bare_start bare_quickstart "$bare_folder" "$suite" "$mirror" >"$text" 2>&1
  bare_wait || return 1
  until [ -x "$hdss" ] || ! kill -0 "$PPID"; do sleep 1; done # it may still be built
  expected=$("$hdss" run --workers 1 mandelbrot width=2048 height=2048 2>/dev/null </dev/null | awk '$1 == "checksum" { print $2 }') || true
  checksum=$(awk '$1 == "checksum" { print $2 }' "$text")
  if [ -z "$checksum" ] || [ "$checksum" != "$expected" ]; then
    printf 'the checksum is %s, and %s on this machine itself\n' "${checksum:-missing}" "${expected:-missing}" >>"$text"
    return 1
  fi
}

# One job in a set of this machine, whose hdss is $1, with two workers here and two in a pod from Debian 13, which has another MPI library; the output is
# that of a run without it. In the folder $2, which is there.
bare_together() {
  local hdss=$1 share=$2 look
  local loop=(synthetic iterations=2000 mean=1000 distribution=exponential mode=sleep)
  export HDSS_CONTROL_DIR=$share
  cd "$share"
  "$hdss" run --workers 2 --output alone.npy "${loop[@]}"
  "$hdss" up --carrier mpi --name together --state "$share/set" --listen 127.0.0.1:0 --idle-timeout 10m --workers 2
  bare_start bare_join "$bare_folder" "$share"
  for ((look = 0; look < 600; look++)); do
    ! "$hdss" pods together | grep -q ' up ' || break
    sleep 0.1
  done
  "$hdss" submit --set together --wait --output together.npy --report report.json "${loop[@]}" || true
  "$hdss" down together
  bare_wait
  cmp alone.npy together.npy
  python3 -c 'import json
with open("report.json") as file:
    report = json.load(file)
assert report["pods"] == {"joined": 1, "left": 0, "lost": 0}, report["pods"]
shares = [worker["iterations"] for worker in report["worker_stats"]]
assert len(shares) == 4 and min(shares) > 0, shares'
}

# Runs that with the hdss $2, and records how it went in the folder $1.
bare_test_together() {
  local text=$bare_folder/together.log result=OK
  mkdir "$bare_folder/share"
  # in a shell of its own, which an error ends, with all that it has started
  (set -e && trap bare_end_processes EXIT && bare_together "$2" "$bare_folder/share") >"$text" 2>&1 & # not in a condition, where no error ends it
  wait $! || result=ERROR
  bare_record "$1/quickstart.json" "a set with a pod from a bare trixie" "$result" "$text"
}

# Runs the tests in the root of the suite $2, of the system tests what the file $3 names; their log becomes tests.json in the folder $1.
bare_test() {
  bare_start bare_tests "$bare_folder" "$2" "$3"
  bare_wait
  cp "$bare_folder/$2$(bare_home "$2")/hdss/build/meson-logs/testlog-bare.json" "$1/tests.json"
}

bare_main() {
  local what=$1 results=$2 build=$3 suite=$4 chosen=${5:-} text obstacle mirror='' http_proxy=${http_proxy:-}
  local hdss=$build/deploy/hdss
  trap bare_end EXIT
  trap 'exit 143' TERM
  bare_folder=$(mktemp -d "${TMPDIR:-/var/tmp}/hdss-bare.XXXXXX")
  text=$bare_folder/$suite.log
  obstacle=$(bare_obstacle)
  if [ -z "$obstacle" ]; then
    mirror=$(bare_mirror)
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ -z "$http_proxy" ] || export http_proxy
    obstacle=$(bare_absent "$suite" "$mirror")
  fi
  if [ -n "$obstacle" ]; then
    printf '%s\n' "$obstacle" >"$text"
    bare_record "$results/quickstart.json" "quickstart on a bare $suite" SKIP "$text"
    return
  fi
  if bare_picture "$suite" "$mirror" "$hdss"; then
    bare_record "$results/quickstart.json" "quickstart on a bare $suite" OK "$text"
  else
    bare_record "$results/quickstart.json" "quickstart on a bare $suite" ERROR "$text"
    return 1
  fi
  [ "$what" = all ] || return 0
  [ "$suite" != trixie ] || bare_test_together "$results" "$hdss"
  bare_test "$results" "$suite" "$chosen"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
  bare_main "$@"
fi
