#!/bin/bash
# deps.sh [check]: is everything there to build gnncc; with "check", to run all its tests?
#
# Silent and 0 where nothing is missing. Otherwise, where it may (root, and apt-get exists), it prints the apt-get line
# and runs it; where it may not, it says exactly what to install and ends with 1. What only some tests want (clang, python3) is
# named, never demanded. Every answer comes from using the thing: a header that is there but does not compile is missing.
set -u
purpose=${1:-build}
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiles() { # PROGRAM LINKER_OPTION...: the C compiler accepts and links it
  local program=$1
  shift
  printf '%s\n' "$program" >"$work/try.c"
  $cc -o "$work/try" "$work/try.c" "$@" >/dev/null 2>&1
}
has() { command -v "$1" >/dev/null 2>&1; }
at_least() { # WANTED VERSION
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]
}

# Names of Debian packages in `packages`, what each is for in `reasons`.
packages=() reasons=() optional=()
need() {
  packages+=("$1")
  reasons+=("$2")
}
find_missing() {
  packages=() reasons=() optional=()
  has make || need make "make"
  if ! compiles 'int main(void) { return 0; }'; then
    need gcc "a C compiler called $cc (or name one: CC=...)"
    need libc6-dev "the headers of the C library"
    need libjansson-dev "jansson.h and libjansson (JSON of plans)"
    need zlib1g-dev "zlib.h and libz.a (gzipped data)"
    need libyaml-dev "yaml.h and libyaml.a (folders of DGL)"
    need liburing-dev "liburing.h and liburing.a (the SSD tier)"
  else
    compiles '#include <jansson.h>
int main(void) { json_decref(json_object()); return 0; }' -ljansson || need libjansson-dev "jansson.h and libjansson (JSON of plans)"
    compiles '#include <zlib.h>
int main(void) { return zlibVersion() == 0; }' -l:libz.a || need zlib1g-dev "zlib.h and libz.a (gzipped data)"
    compiles '#include <yaml.h>
int main(void) { yaml_parser_t parser; return !yaml_parser_initialize(&parser); }' -l:libyaml.a || need libyaml-dev "yaml.h and libyaml.a (folders of DGL)"
    compiles '#include <liburing.h>
int main(void) { struct io_uring ring; return io_uring_queue_init(1, &ring, 0) > 0; }' -l:liburing.a || need liburing-dev "liburing.h and liburing.a (the SSD tier)"
  fi
  has ar || need binutils "ar"
  has flex || need flex "flex (the scanner)"
  { has bison && at_least 3.8 "$(bison --version | sed -n '1s/.* //p')"; } || need bison "bison, version 3.8 or later (the grammar)"
  [ "$purpose" = check ] || return
  [ "${cc##*/}" = gcc ] || has gcc || need gcc "gcc (tests of the emitted C)"
  has g++ || need g++ "g++ (a C++ host of the embedding API)"
  printf 'int main(void) { return 0; }\n' >"$work/try.c"
  if has gcc && ! gcc -fsanitize=address,undefined -o "$work/try" "$work/try.c" >/dev/null 2>&1; then
    need "libgcc-$(gcc -dumpversion)-dev" "the sanitizers of gcc"
  fi
  has clang || optional+=(clang)
  has python3 || optional+=(python3)
  ldconfig -p 2>/dev/null | grep -q 'libmetis\.so\.5' || optional+=(libmetis5)
  { has aarch64-linux-gnu-gcc && [ -f "$(aarch64-linux-gnu-gcc -print-file-name=libz.a)" ]; } || optional+=(gcc-aarch64-linux-gnu zlib1g-dev:arm64)
  has qemu-aarch64 || has qemu-aarch64-static || optional+=(qemu-user)
  has chromium || has chromium-browser || has google-chrome || optional+=(chromium)
}

find_missing
if [ ${#packages[@]} -eq 0 ]; then
  [ ${#optional[@]} -eq 0 ] || echo "optional, its tests are skipped: ${optional[*]}"
  exit 0
fi
say_what_is_missing() {
  echo "missing:"
  printf '  %s\n' "${reasons[@]}"
}
line="apt-get install -y --no-install-recommends ${packages[*]}"
if ! has apt-get; then
  say_what_is_missing
  echo "install these with your system's package manager (on Debian and Ubuntu the packages are: ${packages[*]}), then run the same command again"
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  say_what_is_missing
  echo "install them, then run the same command again:"
  echo "  sudo $line"
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# A fresh system knows no packages until it has updated.
apt-cache show "${packages[0]}" >/dev/null 2>&1 || line="apt-get update && $line"
echo "$line"
if ! (eval "$line") >"$work/log" 2>&1; then
  tail -5 "$work/log"
  say_what_is_missing
  echo "apt-get could not install them; install: ${packages[*]}"
  exit 1
fi
find_missing
[ ${#packages[@]} -eq 0 ] && exit 0
echo "still missing after the installation:"
printf '  %s\n' "${reasons[@]}"
exit 1
