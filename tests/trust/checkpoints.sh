#!/bin/bash
# checkpoints.sh BUILD [long]: checkpoints, weights and data whose bits flipped, whose counts are forged, whose numbers are not finite, whose
# data changed; the hand-made program and gnndata under the sanitizers. long: every bit. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
long=${2:-}
. "$here/../tap.sh"
toy=$build/watched/tests/toy gnndata=$build/watched/gnndata
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
cd "$work" || exit 99
cp -r "$here/../data/pyg/directed" data
check "a training with checkpoints" "$toy" @data -q --epochs 40 --out trained
newest=trained/checkpoint-r0-e000040.safetensors before=trained/checkpoint-r0-e000020.safetensors

goes_on_in_the_log() {
  "$toy" @data -q --epochs 2 --every 1 --log csv --out logged && "$toy" @data -q --epochs 3 --every 1 --log csv --out logged --resume &&
    [ "$(cut -d, -f1-2 logged/log.csv | tr '\n' ' ')" = "run,epoch 0,1 0,2 0,3 " ]
}
check "a training that goes on continues its table: one header" goes_on_in_the_log

put() { # FILE BYTE OCTAL-BYTES
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
flip() { # FILE BIT: bad.safetensors
  local value
  cp "$1" bad.safetensors
  value=$(od -An -tu1 -j $(($2 / 8)) -N 1 "$1")
  put bad.safetensors $(($2 / 8)) "\\$(printf %03o $((value ^ 1 << $2 % 8)))"
}
says() { # STATUS TEXT COMMAND...: ends so, with that text on stderr
  local wanted=$1 text=$2 status
  shift 2
  "$@" 2>said
  status=$?
  cat said
  [ $status -eq "$wanted" ] && { [ -z "$text" ] || grep -qF -- "$text" said; }
}

# ---- flipped bits ----

flipped() { # FILE STEP STATUS TEXT COMMAND...: every STEP-th bit, and those of the length
  local file=$1 step=$2 status=$3 text=$4 bits bit count=0 seen=0
  shift 4
  bits=$(($(stat -c %s "$file") * 8))
  [ -z "$long" ] || step=1
  for ((bit = 0; bit < bits; bit += bit < 64 ? 5 : step)); do
    flip "$file" $bit
    count=$((count + 1))
    if says "$status" "$text" "$@" >/dev/null; then seen=$((seen + 1)); else echo "bit $bit of $file:" && cat said; fi
  done
  echo "# $file: $seen of $count flipped bits refused" >&3
  [ $count -gt 50 ] && [ $seen -eq $count ]
}
exec 3>&1
check "flipped bits of a checkpoint are refused, exit 4" flipped $newest 131 4 "error[R0806]" "$toy" @data -q --epochs 41 --out other --resume=bad.safetensors
check "flipped bits of weights are refused, exit 4" flipped trained/best.safetensors 53 4 "error[R0806]" "$toy" @data eval -q --weights bad.safetensors
check "data as a container" "$gnndata" convert data data.safetensors
check "flipped bits of data are refused, exit 1" flipped data.safetensors 307 1 "bad.safetensors" "$gnndata" check bad.safetensors
check "nothing was trained from any of them" test ! -e other/last.safetensors

tensor_is_named() { # the last byte is of the last tensor
  flip $newest $(($(stat -c %s $newest) * 8 - 1))
  says 4 'tensor "best.lin.bias" does not match its checksum' "$toy" @data -q --resume=bad.safetensors --out other
}
check "a damaged tensor is named" tensor_is_named
header_is_named() {
  flip $newest 1000
  says 4 "header does not match its checksum" "$toy" @data -q --resume=bad.safetensors --out other
}
check "a damaged header is named" header_is_named
offers_the_one_before() {
  cp -r trained damaged && flip $newest 9000 && cp bad.safetensors damaged/${newest#*/} &&
    says 4 "help: the checkpoint before it is sound: --resume=damaged/${before#*/}" "$toy" @data -q --resume --out damaged &&
    says 0 "" "$toy" @data -q --epochs 40 --out damaged --resume=damaged/${before#*/} && cmp trained/last.safetensors damaged/last.safetensors
}
check "of a damaged newest checkpoint the one before is offered, and ends with the same bits" offers_the_one_before
both_damaged() {
  flip $newest 9000 && cp bad.safetensors damaged/${newest#*/} && cp bad.safetensors damaged/${before#*/}
  says 4 "error[R0806]" "$toy" @data -q --resume --out damaged && ! grep -q help: said
}
check "of two damaged ones none is offered" both_damaged

# ---- forged ones: the checksums are right ----

cat >forge.py <<'END'
import json, os, struct, sys, zlib
source, target, tensor, place, kind, value = sys.argv[1:]
raw = bytearray(open(source, "rb").read())
length = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + length])
value = int(value, 0) if kind == "q" else float(value)
begin, end = header[tensor]["data_offsets"]
struct.pack_into("<" + kind, raw, 8 + length + begin + int(place) * struct.calcsize(kind), value)
entries = sorted((e["data_offsets"], n) for n, e in header.items() if n != "__metadata__")
header["__metadata__"] = {k: v for k, v in header["__metadata__"].items() if not k.startswith("gnncc.crc32")}
sums = " ".join("%08x" % zlib.crc32(raw[8 + length + b:8 + length + e]) for (b, e), n in entries)
header["__metadata__"] = {"gnncc.crc32": "00000000", "gnncc.crc32.data": sums, **header["__metadata__"]}
if os.environ.get("FINGERPRINT"): header["__metadata__"]["gnncc.fingerprint"] = os.environ["FINGERPRINT"]
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-(8 + len(text)) % 64)
text = struct.pack("<Q", len(text)) + text
own = b"%08x" % zlib.crc32(text)
open(target, "wb").write(text.replace(b"00000000", own, 1) + raw[8 + length:])
END
forged() { # STATUS TEXT TENSOR PLACE KIND VALUE COMMAND...
  local status=$1 text=$2
  python3 forge.py $newest bad.safetensors "$3" "$4" "$5" "$6" || return 1
  shift 6
  says "$status" "$text" "$@"
}
resume="$toy @data -q --epochs 60 --out other --resume=bad.safetensors"
if command -v python3 >/dev/null; then
  another_program() { # made the one before
    cp -r trained mixed && flip $newest 9000 && cp bad.safetensors mixed/${newest#*/} &&
      FINGERPRINT=000000000000 python3 forge.py $before mixed/${before#*/} state.counts 1 q 20 &&
      says 4 "error[R0806]" "$toy" @data -q --resume --out mixed && ! grep -q help: said
  }
  check "of another program none is offered" another_program
  offered() { # yes|no TENSOR PLACE KIND VALUE OPTION...: of a damaged newest checkpoint and the one before with that number
    local is_offered=$1 tensor=$2 place=$3 kind=$4 value=$5
    shift 5
    rm -rf mixed && cp -r trained mixed && flip $newest 9000 && cp bad.safetensors mixed/${newest#*/} &&
      python3 forge.py $before mixed/${before#*/} "$tensor" "$place" "$kind" "$value" && says 4 "error[R0806]" "$toy" @data -q --resume --out mixed "$@" || return 1
    if [ "$is_offered" = no ]; then ! grep -q help: said; return; fi
    grep -q "the checkpoint before it is sound: --resume=mixed/${before#*/}" said && "$toy" @data -q --out mixed --resume=mixed/${before#*/} "$@"
  }
  check "a sound checkpoint is one that would be taken: as it was" offered yes state.counts 1 q 20
  check "  not with NaN in it" offered no lin.bias 2 f nan
  check "  but for --nan=continue" offered yes lin.bias 2 f nan --nan=continue
  check "  not of other data" offered no state.data 1 q 7
  check "  but for --data-changed=accept" offered yes state.data 1 q 7 --data-changed=accept
  check "  not with counts that cannot be" offered no state.counts 4 q -9
  check "  not of another seed" offered no state.counts 2 q 3 --seed 0
  goes_further_back() {
    rm -rf mixed && cp -r trained mixed && cp $before mixed/checkpoint-r0-e000010.safetensors && flip $newest 9000 && cp bad.safetensors mixed/${newest#*/} &&
      python3 forge.py $before mixed/${before#*/} lin.bias 2 f inf &&
      says 4 "help: the checkpoint before it is sound: --resume=mixed/checkpoint-r0-e000010.safetensors" "$toy" @data -q --resume --out mixed
  }
  check "  where the one before would not be, an earlier one" goes_further_back
  check "forging changes nothing by itself" forged 0 "" state.counts 1 q 40 $resume
  for counts in "0 -1" "0 1" "0 0x7fffffffffffffff" "1 -1" "1 0x7fffffffffffffff" "3 0x7fffffffffffffff" "3 -2" "4 0x7fffffffffffffff" \
    "5 -1" "5 1" "5 0x5555555555555555" "5 0x5555555555555556" "5 0x7fffffffffffffff" "5 0x2aaaaaaaaaaaaaab" "7 -1" "7 16" "7 0x7fffffffffffffff"; do
    check "count $counts is refused" forged 4 "error[R0806]" state.counts ${counts% *} q ${counts#* } $resume
  done
  check "a number of rows that is none" forged 4 "error[R0806]" state.numbers 4 d nan $resume
  check "a number of rows beyond all" forged 4 "error[R0806]" state.numbers 7 d 1e300 $resume
  check "NaN in a weight is refused by name, exit 5" forged 5 "error[R0808]: \"bad.safetensors\": 1 of the 3 numbers of lin.bias is not finite, the first of them at 2" \
    lin.bias 2 f nan $resume
  check "infinity in the optimiser's state, too" forged 5 "opt.adam.m.lin.bias is not finite" opt.adam.m.lin.bias 1 f inf $resume
  check "as weights, too" forged 5 "numbers of lin.weight" lin.weight 0 f inf "$toy" @data -q --out other --weights bad.safetensors
  check "--nan=continue takes them" forged 0 "" lin.bias 2 f nan $resume --nan=continue
  check "eval refuses them" forged 5 "numbers of lin.bias" lin.bias 2 f nan "$toy" @data eval --weights bad.safetensors
  check "eval with --nan=continue shows them" forged 0 "" lin.bias 2 f nan "$toy" @data eval --weights bad.safetensors --nan=continue
  check "predict refuses them" forged 5 "numbers of lin.bias" lin.bias 2 f nan "$toy" @data predict -o p.npy --weights bad.safetensors
  check "predict with --nan=continue writes them" forged 0 "" lin.bias 2 f nan "$toy" @data predict -o p.npy --weights bad.safetensors --nan=continue
  rm -f p.npy
  has_no_sign() { # VALUE: a NaN or its negative shows as nan
    rm -rf other && python3 forge.py $newest bad.safetensors lin.bias 0 f "$1" &&
      "$toy" @data --epochs 43 --every 1 --progress=lines --out other --weights bad.safetensors --log csv --log jsonl --nan=continue >shown &&
      "$toy" @data eval --weights bad.safetensors --nan=continue >>shown && "$toy" @data predict -o scores.csv --weights bad.safetensors --nan=continue &&
      cat other/log.csv other/log.jsonl other/run.json scores.csv >>shown || return 1
    ! grep -v '"command"' shown | grep -e -nan && grep -q ' nan$\|loss nan' shown && awk -F, 'NR > 1 && $3 != "nan" { exit 1 }' other/log.csv && grep -q ',nan' scores.csv && ! grep nan other/log.jsonl
  }
  check "NaN is shown without a sign" has_no_sign nan
  check "  whichever it has" has_no_sign -nan
  rm -rf other
  check "eval says that a loss is not finite, exit 5" forged 5 "error[R0803]: the loss of split " lin.weight 0 f 3e38 "$toy" @data eval --weights bad.safetensors
  check "predict says that scores are not finite, exit 5" forged 5 "error[R0803]: " lin.weight 0 f 3e38 "$toy" @data predict -o p.npy --weights bad.safetensors
  check "and writes nothing" test ! -e p.npy
else
  skip "forged checkpoints" "python3 is not installed; tests/runtime/test_instance.c forges, too"
fi

# ---- headers of other programs: no checksums, hostile sizes ----

container() { # FILE HEADER BYTES: a safetensors file with zeros as data
  local length=${#2} byte octal=
  for ((byte = 0; byte < 8; byte++)); do octal+="\\$(printf %03o $((length >> 8 * byte & 255)))"; done
  { printf "$octal" && printf %s "$2" && head -c "$3" /dev/zero; } >"$1"
}
empty='"dtype":"I64","shape":[0],"data_offsets":[0,0]'
wide() { # SHAPE TYPE TEXT: a field of edges of a graph that has none until loops are added
  container bad.safetensors "{\"__metadata__\":{\"gnncc.nodes\":\"4\"},\"edge.src\":{$empty},\"edge.dst\":{$empty},\"edge.w\":{\"dtype\":\"$2\",\"shape\":$1,\"data_offsets\":[0,0]}}" 0
  says 1 "$3" "$gnndata" convert bad.safetensors out.safetensors --self-loops=add --force
}
check "a width whose bytes overflow" wide "[0,4611686018427387904]" F32 "has a shape of more than 2^63 bytes"
check "a width of 2^60" wide "[0,1152921504606846976]" F16 "has a shape of more than 2^63 bytes"
check "a width of 2^33" wide "[0,8589934592]" F32 "w has 8589934592 columns"
claims() { # STATUS TEXT METADATA
  container bad.safetensors "{\"__metadata__\":{$3},\"edge.src\":{$empty},\"edge.dst\":{$empty},\"node.y\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}" 8
  says "$1" "$2" bash -c "ulimit -v 8000000 && exec '$build/gnndata' info bad.safetensors"
}
check "2^62 classes" claims 1 "y declares 4611686018427387904 classes" '"gnncc.classes.y":"4611686018427387904"'
check "thousands of millions of nodes beside one label" claims 1 "y has 1 rows, but there are 2,147,483,646 nodes" '"gnncc.nodes":"2147483646"'
unlabelled() { # STATUS TEXT METADATA
  container bad.safetensors "{\"__metadata__\":{$3},\"edge.src\":{$empty},\"edge.dst\":{$empty}}" 0
  says "$1" "$2" bash -c "ulimit -v 8000000 && exec '$build/gnndata' info bad.safetensors"
}
check "so many without the memory for them" unlabelled 3 "sorting its edges takes 32.0 GiB" '"gnncc.nodes":"2147483646"'
check "a number beyond 2^63" claims 1 "a whole number is needed" '"gnncc.nodes":"9223372036854775808"'

# ---- data that changed ----

changed() { # WHAT FILE BYTE OCTAL-BYTES
  local what=$1
  rm -rf edited accepted && cp -r data edited && cp -r trained accepted && put "edited/$2" "$3" "$4" && ! cmp -s "data/$2" "edited/$2" &&
    says 1 "error[R0807]: the data are not those that \"$newest\" was trained on; changed: $what" "$toy" @edited -q --epochs 60 --out other --resume=$newest &&
    grep -q -- "--data-changed=accept goes on" said &&
    "$toy" @edited --epochs 60 --out accepted --resume --data-changed=accept >printed && grep -q "changed: $what$" printed &&
    grep -q "\"data_changed\": \"$what\"" accepted/run.json
}
check "one feature changed" changed features x.npy 700 '\000\000\100\077'
check "one edge changed" changed edges edge_index.npy 808 '\021'
check "one label changed" changed labels y.npy 168 '\002'
check "one row of a split changed" changed splits test_mask.npy $((128 + $(tail -c +129 data/test_mask.npy | LC_ALL=C tr '\001' x | grep -abo x | head -1 | cut -d: -f1))) '\000'
stays_known() { # in the log, in the checkpoint, in run.json
  rm -rf edited accepted && cp -r data edited && cp -r trained accepted && put edited/x.npy 700 '\000\000\100\077' &&
    "$toy" @edited --epochs 50 --every 1 --out accepted --log csv --log jsonl --resume --data-changed=accept >printed && ! grep "went on" printed &&
    "$toy" @edited --epochs 60 --every 1 --out accepted --log csv --log jsonl --resume >printed &&
    grep -qx "this training went on once with data that had changed: features" printed && ! grep "the data are not those" printed &&
    grep -q '"data_changed": "features"' accepted/run.json && [ "$(grep -c '"data_changed":"features"}$' accepted/log.jsonl)" -eq 20 ] &&
    [ "$(wc -l <accepted/log.jsonl)" -eq 20 ] && ! grep -qv '^[^,]*\(,[^,]*\)\{10\}$' accepted/log.csv &&
    put edited/y.npy 168 '\002' && "$toy" @edited -q --epochs 70 --every 1 --out accepted --log jsonl --resume --data-changed=accept &&
    grep -q '"data_changed": "features, labels"' accepted/run.json && [ "$(grep -c '"data_changed":"features, labels"}$' accepted/log.jsonl)" -eq 10 ] &&
    "$toy" @edited -q --epochs 20 --out accepted --log jsonl && ! grep data_changed accepted/run.json accepted/log.jsonl
}
check "that training went on with data that had changed stays known" stays_known
in_another_form() {
  cp -r trained same && "$toy" @data -q --epochs 60 --out same --resume --data data.safetensors && cp -r trained whole &&
    "$toy" @data -q --epochs 60 --out whole --resume && cmp whole/last.safetensors same/last.safetensors && ! grep -q data_changed same/run.json
}
check "the same data in another form are the same" in_another_form
refuse 2 "--data-changed=what" "$toy" @data --data-changed=what
finish
