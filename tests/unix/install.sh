#!/bin/bash
# install.sh BUILD: make install, uninstall, DESTDIR; what lies beside the programs: man pages, completion, pkg-config, CMake, syntax files; the Debian
# packages. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/../tap.sh"
workplace
unset GNNCC_FLAGS GNNCC_PATH GNNCC_TARGET
export CFLAGS=-O0
make_in() { make -s -C "$source" B="$build" CFLAGS="-O3 -g" "$@"; } # nothing is built anew
root=$work/root

# ---- install ----
check "make install into DESTDIR" make_in install DESTDIR="$root" PREFIX=/usr
check "  and again over it" make_in install DESTDIR="$root" PREFIX=/usr
mv "$root" "$work/elsewhere" && root=$work/elsewhere # what is installed finds its own wherever it lies
export PATH=$root/usr/bin:$PATH
runs() { [ "$(gnncc -dumpversion)" = "$("$build/gnncc" -dumpversion)" ] && gnncc --example gcn >gcn.gnn && gnncc -q gcn.gnn && ./gcn --progress none --epochs 3 -q && gnndata check karate; }
check "the programs work where they are put" runs
flags() {
  gnncc -q -c -o gcn.o gcn.gnn && printf '#include "gcn.h"\nint main(void) { gcn *g = 0; gcn_options o; gcn_options_init(&o); int s = gcn_create(&o, &g); gcn_destroy(g); return s; }\n' >host.c || return 1
  gnncc --cflags | grep -q "^-I$root/usr/include/gnncc$" && gnncc --libs | grep -q "^-L$root/usr/lib " && cc -I. $(gnncc --cflags) -o host host.c gcn.o $(gnncc --libs) && ./host
}
check "--cflags and --libs name the installed folders" flags
no_paths() { ! grep -rlF -e "$work" -e "$source" "$root/usr/lib/pkgconfig" "$root/usr/lib/cmake" "$root/usr/share/man" "$root/usr/share/bash-completion" "$root/usr/share/zsh" "$root/usr/share/fish" "$root/usr/share/vim"; }
check "no path of the build is in what is installed" no_paths

linked() { # whatever a page of the documentation links to lies beside it
  local page link count=0
  for page in "$root"/usr/share/doc/gnncc/*.md; do
    for link in $(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '^https*:' | sort -u); do
      count=$((count + 1))
      [ -e "$root/usr/share/doc/gnncc/$link" ] || { echo "$(basename "$page"): $link"; return 1; }
    done
  done
  [ $count -ge 50 ]
}
check "links in what is installed lead somewhere" linked

# ---- man pages ----
pages="man1/gnncc.1 man1/gnndata.1 man1/gnncc-program.1 man5/gnn.5 man7/gnncc-tutorial.7"
all_pages() { for page in $pages; do [ -s "$root/usr/share/man/$page" ] || { echo "no $page"; return 1; }; done; }
check "man pages are installed" all_pages
if command -v groff >/dev/null; then
  sound() { for page in $pages; do groff -k -man -ww -Tutf8 -z "$root/usr/share/man/$page" 2>&1; done >said; cat said; [ ! -s said ]; }
  check "  without a warning of groff" sound
else
  skip "  without a warning of groff" "no groff"
fi
options_of() { "$@" --help | grep -oE '^  --?[A-Za-z#][-A-Za-z0-9#]*' | tr -d ' ' | sort -u; }
documented() { # PAGE COMMAND...: every option of --help has its paragraph
  local page=$1 option
  shift
  for option in $(options_of "$@"); do grep -qE "^\.B ${option//-/\\\\-}([ =[]|\\\\|$)" "$root/usr/share/man/$page" || { echo "no $option in $page"; return 1; }; done
  [ "$(options_of "$@" | wc -l)" -ge 15 ]
}
check "  every option of gnncc is in its page" documented man1/gnncc.1 gnncc
check "  every option of gnndata" documented man1/gnndata.1 gnndata
program_documented() { sed '/^option/d; s/drop)/0.5)/; s/lr = lr/lr = 0.01/' gcn.gnn >plain.gnn && gnncc -q plain.gnn && documented man1/gnncc-program.1 ./plain; }
check "  every option of a program" program_documented

# ---- completion ----
bash_completion="$root/usr/share/bash-completion/completions"
complete_with() { # FUNCTION WORDS...: what bash offers for the last word
  bash -c '. "$1/gnncc"; . "$1/gnndata"; f=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "$f" "$1" "${!#}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$bash_completion" "$@" 2>said.err
  [ ! -s said.err ] || cat said.err
}
offers() { # EXPECTED FUNCTION WORDS...
  local expected=$1
  shift
  local got
  got=$(complete_with "$@" | tr '\n' ' ')
  [ "$got" = "$expected " ] || { echo "$*: $got"; return 1; }
}
check "bash: an option" offers --target _gnncc gnncc --targ
check "  its values" offers "a10 a100_40 a100 a100x4" _gnncc gnncc --target = a1
check "  kinds of --emit" offers "plan" _gnncc gnncc --emit = pl
check "  warnings" offers -Wone-way-edges _gnncc gnncc -Wone
check "  layers" offers "GAT GATv2" _gnncc gnncc --print-std GA
check "  policies of ranks" offers dedup _gnncc gnncc --policy = de
check "  policies" offers "hongtu halo halo-recompute halo-host" _gnncc gnncc --policy = h
check "  examples" offers "sage_deep sage_products" _gnncc gnncc --example s
check "  constants of the model" offers "hidden=" _gnncc gnncc gcn.gnn -D h
check "  models" offers "gcn.gnn" _gnncc gnncc gcn.g
check "  commands of gnndata" offers "info" _gnndata gnndata inf
check "  and their options" offers "add remove keep" _gnndata gnndata convert a --self-loops =
check "  options of a program, its own too" offers "--log --layer --lr" _gnncc_program ./gcn --l
all_options() { # the words of --help, no more and no less
  diff <(options_of gnncc | grep -v -e '^-[fOW]' -e '^-###$') <(complete_with _gnncc gnncc - | grep -v -e '^-[fOW]' -e '^-###$' | sort -u) && diff <(options_of gnndata) <(complete_with _gnndata gnndata -- | sort -u)
}
check "  all options of --help" all_options
other_shells() { # whatever shell, the same options
  local option
  for option in $(options_of gnncc | grep -v '^-[fOW]'); do
    grep -qE "'\*?$option[-+=[]" "$root/usr/share/zsh/site-functions/_gnncc" || { echo "zsh: no $option"; return 1; }
    grep -qE "^complete -c gnncc (-l ${option#--}|-[so] '${option#-}') " "$root/usr/share/fish/vendor_completions.d/gnncc.fish" || { echo "fish: no $option"; return 1; }
  done
}
check "zsh and fish: all options of --help" other_shells
for shell in zsh fish; do
  if command -v $shell >/dev/null; then check "$shell reads its completion" $shell -n "$(find "$root" -name "$([ $shell = zsh ] && echo _gnncc || echo gnncc.fish)")"; else skip "$shell reads its completion" "no $shell"; fi
done

fish_offers() { # EXPECTED LINE
  local got
  got=$(HOME=$work fish -c 'set -p fish_complete_path $argv[1]; complete -C $argv[2] | string replace -r "\t.*" ""' "$root/usr/share/fish/vendor_completions.d" "$2" 2>&1 | tr '\n' ' ')
  [ "$got" = "$1 " ] || { echo "$2: $got"; return 1; }
}
by_fish() {
  fish_offers --target 'gnncc --targ' && fish_offers '--target=rtx4090' 'gnncc --target=rtx409' && fish_offers '--emit=plan' 'gnncc --emit=pl' && fish_offers '--cut=rows(' 'gnncc --cut=ro' && fish_offers '-Wone-way-edges' 'gnncc -Wone' &&
    fish_offers GCNII 'gnncc --print-std GCNI' && fish_offers 'hidden=' 'gnncc gcn.gnn -D hi' && fish_offers info 'gnndata inf' && fish_offers '--self-loops=keep' 'gnndata convert a --self-loops=ke'
}
if command -v fish >/dev/null; then check "fish: options, values, constants, commands" by_fish; else skip "fish: options, values, constants, commands" "no fish"; fi
cat >ask.zsh <<'ZSH' # FOLDER LINE: what becomes of the line by tab
zmodload zsh/zpty
zpty -b z zsh -f -i
until_said() { local all= out i; for ((i = 0; i < 600; i++)) { while zpty -r -t z out; do all+=$out; done; [[ $all == ${~1} ]] && break; sleep 0.05 }; REPLY=$all }
zpty -w z "TERM=dumb; stty -echo; PS1=; unsetopt zle_bracketed_paste; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; show() { print -r -- \"<<\$BUFFER>>\" }; zle -N show; bindkey '^Xp' show; print -r rea''dy"
until_said '*ready*'
zpty -w -n z "$2"$'\t\x18p'
until_said '*<<*>>*'
[[ $REPLY =~ '<<(.*)>>' ]] && print -r -- $match[1]
zpty -d z
ZSH
zsh_makes() { # LINE OF: of its beginning
  local got
  got=$(timeout 60 zsh -f ask.zsh "$root/usr/share/zsh/site-functions" "$2")
  [ "${got% }" = "$1" ] || { echo "$2: $got"; return 1; }
}
by_zsh() {
  zsh_makes 'gnncc --target=' 'gnncc --targ' && zsh_makes 'gnncc --target=rtx4090' 'gnncc --target=rtx409' && zsh_makes 'gnncc --emit=plan' 'gnncc --emit=pla' && zsh_makes 'gnncc --print-std GCNII' 'gnncc --print-std GCNI' &&
    zsh_makes 'gnncc -Wone-way-edges' 'gnncc -Wone' && zsh_makes 'gnncc gcn.gnn -D hidden=' 'gnncc gcn.gnn -D hi' && zsh_makes 'gnndata convert a --self-loops=keep' 'gnndata convert a --self-loops=ke'
}
if command -v zsh >/dev/null; then check "zsh: options, values, constants, commands" by_zsh; else skip "zsh: options, values, constants, commands" "no zsh"; fi

# ---- pkg-config and CMake ----
if command -v pkg-config >/dev/null; then
  by_pkg_config() {
    export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
    [ "$(pkg-config --modversion gnnrt)" = "$(gnncc -dumpversion)" ] && cc -I. $(pkg-config --cflags gnnrt) -o host_pkg host.c gcn.o $(pkg-config --libs gnnrt) && ./host_pkg
  }
  check "pkg-config" by_pkg_config
  moved() { PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --define-prefix --cflags --libs gnnrt | grep -F -e "-I$root/usr/include/gnncc -L$root/usr/lib -lgnnrt"; }
  check "  of a folder that was moved" moved
else
  skip "pkg-config" "no pkg-config"
fi
if command -v cmake >/dev/null; then
  mkdir cmake && cp gcn.gnn host.c cmake/ && cat >cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(host C)
find_package(Gnncc 0.1 REQUIRED)
gnncc_add_model(gcn gcn.gnn LIBRARY OPTIONS -Xcc -O0)
gnncc_add_model(train gcn.gnn OPTIONS -Xcc -O0)
gnncc_add_model(alone gcn.gnn SHARED PREFIX alone OPTIONS -Xcc -O0) # nothing is linked with it
gnncc_add_model(shared_gcn gcn.gnn SHARED PREFIX other BUDGET device=1MiB OPTIONS -Xcc -O0)
add_executable(host host.c)
target_link_libraries(host gcn)
add_executable(version version.c)
target_link_libraries(version Gnncc::gnnrt)
add_executable(shared shared.c)
target_link_libraries(shared shared_gcn)
CMAKE
  printf '#define GNN_NO_KERNELS\n#include <gnnrt.h>\nint main(void) { return GNN_ABI == 0; }\n' >cmake/version.c
  printf '#include "other.h"\nint main(void) { return other_abi() == 0; }\n' >cmake/shared.c
  by_cmake() { cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$root/usr" && cmake --build cmake/build >built 2>&1 && cat built && ! grep -i circular built && cmake/build/host && cmake/build/version && cmake/build/shared && test -e cmake/build/libalone.so && cmake/build/train --epochs 2 -q --progress none; }
  check "CMake: find_package, gnncc_add_model, Gnncc::gnnrt" by_cmake
  by_ninja() {
    cmake -G Ninja -S cmake -B cmake/ninja -DCMAKE_PREFIX_PATH="$root/usr" && cmake --build cmake/ninja --target train && cmake/ninja/train --epochs 2 -q --progress none
  }
  if command -v ninja >/dev/null; then check "  by Ninja, too" by_ninja; else skip "  by Ninja, too" "no ninja"; fi
  again() { # only when the model is newer
    stat -c %Y.%y cmake/build/libgcn.a >before && cmake --build cmake/build >/dev/null && stat -c %Y.%y cmake/build/libgcn.a | cmp - before || return 1
    touch -d '+1 hour' cmake/gcn.gnn && cmake --build cmake/build >/dev/null && ! stat -c %Y.%y cmake/build/libgcn.a | cmp -s - before
  }
  check "  made again when the model is newer, and only then" again
else
  skip "CMake" "no cmake"
fi

# ---- syntax files ----
keywords=$(sed -n 's/^"\([a-z]*\)" *{ return TOK_.*/\1/p' "$source/lang/scan.l")
has_words() { # every word of the scanner, every layer and function, in each of them
  local file word
  [ "$(echo "$keywords" | wc -l)" -ge 20 ] || return 1
  for file in vim/vimfiles/syntax/gnn.vim emacs/site-lisp/gnn-mode.el org.kde.syntax-highlighting/syntax/gnn.xml gtksourceview-4/language-specs/gnn.lang gnncc/textmate/gnn.tmLanguage.json; do
    for word in $keywords $(for kind in layers functions losses; do gnncc --list $kind | grep -oE '^[A-Za-z_0-9]+'; done); do grep -qw -- "$word" "$root/usr/share/$file" || { echo "$file: no $word"; return 1; }; done
  done
}
check "syntax files have the words of the scanner, layers and functions" has_words
well_formed() {
  python3 - "$root/usr/share" <<'PYTHON'
import json, re, sys, xml.dom.minidom
share = sys.argv[1]
for name in "org.kde.syntax-highlighting/syntax/gnn.xml", "gtksourceview-4/language-specs/gnn.lang":
    xml.dom.minidom.parse(f"{share}/{name}")
grammar = json.load(open(f"{share}/gnncc/textmate/gnn.tmLanguage.json"))
def name_at(text, at):
    for pattern in grammar["patterns"]:
        for found in re.finditer(pattern.get("match", pattern.get("begin")), text):
            if found.start() == at:
                return pattern["name"]
line = 'model m on d { h = x |> GCN(16) as conv1 }  # "no" string'
wanted = {"model": "storage.type", "on": "keyword.control", "GCN": "entity.name.function", "16": "constant.numeric", "|>": "keyword.operator", "#": "comment"}
for word, kind in wanted.items():
    assert name_at(line, line.index(word)).startswith(kind), word
depth = 0
for c in re.sub(r';.*|"(\\.|[^"\\])*"|\?\\?.', "", open(f"{share}/emacs/site-lisp/gnn-mode.el").read()):
    depth += (c == "(") - (c == ")")
    assert depth >= 0
assert depth == 0
PYTHON
}
check "  and are well formed" well_formed
if command -v vim >/dev/null; then
  vim_groups() {
    cat >script.vim <<VIM
set runtimepath^=$root/usr/share/vim/vimfiles
filetype on
syntax on
edit gcn.gnn
call writefile([&filetype] + map(['^model', 'dropout(', '0\.01', '^#', 'GCN('], 'synIDattr(synID(search(v:val, "w"), col("."), 1), "name")'), 'groups')
compiler gnncc
let &makeprg = "sh -c 'cat said.short'"
make
call writefile(map(getqflist(), 'bufname(v:val.bufnr) . ":" . v:val.lnum . ":" . v:val.col . ":" . v:val.type'), 'errors')
qall!
VIM
    sed 's/relu/relus/' gcn.gnn >wrong.gnn
    gnncc --check --diagnostics=short wrong.gnn 2>said.short
    timeout 60 vim -es -u NONE -N -S script.vim >vim.out 2>&1
    cat groups errors
    [ "$(tr '\n' ' ' <groups)" = "gnn gnnItem gnnFunction gnnNumber gnnComment gnnLayer " ] && grep -qE '^wrong.gnn:[0-9]+:[0-9]+:[eE]$' errors
  }
  check "Vim: the type of the file, its colours, errors of gnncc" vim_groups
else
  skip "Vim" "no vim"
fi

if command -v emacs >/dev/null; then
  emacs_faces() { # and it is compiled without a warning
    cp "$root/usr/share/emacs/site-lisp/gnn-mode.el" . && cat >script.el <<'EMACS' && emacs -Q --batch -l script.el >emacs.out 2>&1
(setq byte-compile-error-on-warn t)
(unless (byte-compile-file "gnn-mode.el") (kill-emacs 1))
(load (expand-file-name "gnn-mode.elc"))
(find-file "gcn.gnn")
(font-lock-ensure)
(dolist (word '("^model" "dropout(" "GCN(" "class" "^# " "cross_entropy"))
  (goto-char (point-min))
  (re-search-forward word)
  (message "%s %s" major-mode (get-text-property (match-beginning 0) 'face)))
EMACS
    cat emacs.out
    [ "$(grep '^gnn-mode' emacs.out | cut -d' ' -f2 | tr '\n' ' ')" = "font-lock-keyword-face font-lock-function-name-face font-lock-function-name-face font-lock-type-face font-lock-comment-delimiter-face font-lock-builtin-face " ]
  }
  check "Emacs: the type of the file, its colours" emacs_faces
else
  skip "Emacs" "no emacs"
fi

# ---- uninstall ----
gone() { make_in uninstall DESTDIR="$root" PREFIX=/usr && [ -z "$(find "$root" ! -type d)" ]; }
mkdir -p "$root/usr/share/man/man1" "$work/others" && echo other >"$root/usr/share/man/man1/other.1"
left() { make_in uninstall DESTDIR="$root" PREFIX=/usr && [ "$(find "$root" ! -type d)" = "$root/usr/share/man/man1/other.1" ]; }
check "make uninstall takes all it brought, and nothing else" left
elsewhere() { # folders of one's own
  local at=$work/own
  make_in install PREFIX="$at" libdir="$at/lib64" mandir="$at/man" bashdir="$at/completions" && "$at/bin/gnncc" -q -o own_gcn gcn.gnn && [ -s "$at/man/man1/gnncc.1" ] && [ -s "$at/lib64/libgnnrt.a" ] && [ -s "$at/completions/gnncc" ] &&
    make_in uninstall PREFIX="$at" libdir="$at/lib64" mandir="$at/man" bashdir="$at/completions" && [ -z "$(find "$at" ! -type d)" ]
}
check "PREFIX, libdir and others" elsewhere

# ---- Debian ----
if command -v dpkg-buildpackage >/dev/null && command -v fakeroot >/dev/null; then
  packages() { # of a copy with what is built already
    mkdir -p deb/gnncc && (cd "$source" && git ls-files -co --exclude-standard 2>/dev/null | tar -cf - -T -) | tar -xf - -C deb/gnncc &&
      mkdir -p deb/gnncc/build && cp -a "$build"/{gnncc,gnndata,share,lang,compiler,runtime} deb/gnncc/build/ && (cd deb/gnncc && unset CFLAGS && dpkg-buildpackage -us -uc -b -nc -d) && ls deb/*.deb
  }
  if (cd "$source" && git rev-parse --git-dir >/dev/null 2>&1); then
    check "dpkg-buildpackage" packages
    installs() { # into a root that has nothing but what the programs are linked with
      fresh=$work/fresh
      mkdir -p "$fresh"/{var/lib/dpkg/info,var/lib/dpkg/updates,tmp,etc,proc} && touch "$fresh/var/lib/dpkg/status" "$fresh/var/lib/dpkg/available"
      fakeroot dpkg --root="$fresh" --force-depends --force-not-root --log=/dev/null -i deb/gnncc_*.deb deb/gnncc-dev_*.deb deb/gnncc-doc_*.deb &&
        dpkg --root="$fresh" -l gnncc gnncc-dev gnncc-doc | grep -c '^ii' | grep -qx 3 && [ -s "$fresh/usr/share/man/man1/gnncc.1.gz" ] && [ -s "$fresh/usr/share/doc/gnncc-doc/language.md" ] && ls "$fresh"/usr/lib/*/pkgconfig/gnnrt.pc
    }
    check "  its packages install into a fresh root" installs
    if [ "$(id -u)" -eq 0 ]; then
      works() {
        for library in $(ldd "$fresh/usr/bin/gnncc" "$fresh/usr/bin/gnndata" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u); do mkdir -p "$fresh$(dirname "$library")" && cp -L "$library" "$fresh$library"; done
        chroot "$fresh" /usr/bin/gnncc --example gcn >"$fresh/tmp/gcn.gnn" && chroot "$fresh" /usr/bin/gnncc --plan /tmp/gcn.gnn | grep -q '^plan for gcn on karate' &&
          chroot "$fresh" /usr/bin/gnncc -S -o /tmp/gen /tmp/gcn.gnn && cc -O0 -march=native -o fresh_gcn "$fresh"/tmp/gen/{gcn,gnnrt,main}.c -lz -lm -lpthread && ./fresh_gcn --epochs 2 -q --progress none && chroot "$fresh" /usr/bin/gnndata check karate
      }
      check "  and work there" works
    else
      skip "  and work there" "chroot needs root"
    fi
    removes() { fakeroot dpkg --root="$fresh" --force-depends --force-not-root --log=/dev/null --purge gnncc-doc gnncc-dev gnncc && [ -z "$(find "$fresh/usr" ! -type d ! -path '*/*.so*')" ]; }
    check "  and are removed without a trace" removes
    described() { for deb in deb/*.deb; do dpkg-deb -I "$deb" | grep -q '^ Version: 0.1.0-1$' && dpkg-deb -c "$deb" | grep -v -e ' root/root ' && return 1; done; dpkg-deb -f deb/gnncc_*.deb Depends | grep -q 'libc6'; }
    check "  with versions, dependencies, and files of root" described
    if command -v lintian >/dev/null; then check "  lintian finds nothing" lintian --fail-on error,warning deb/*.deb; else skip "  lintian finds nothing" "no lintian"; fi
  else
    skip "dpkg-buildpackage" "no git tree"
  fi
else
  skip "dpkg-buildpackage" "no dpkg-dev or no fakeroot"
fi
finish
