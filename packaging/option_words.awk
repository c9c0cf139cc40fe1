# option_words.awk: lines of options.awk as one line a word that may be typed: word, what follows (none, joined, after), of what kind, help, between tabs.
# Kinds: none, file, folder, word:a|b|c, command:WHAT, free.
BEGIN { FS = "\t" }
function kind_of(word, value,    plain) {
  if (word == "--target") return "command:targets"
  if (word == "--print-target") return "command:targets"
  if (word == "--print-std") return "command:layers"
  if (word == "--example") return "command:examples"
  if (word == "--explain") return "command:codes"
  if (word == "--help" && value == "TOPIC") return "command:topics"
  if (word == "--plan") return "word:json"
  if (word == "--emit") return "command:emit"
  if (word == "--dump" || word == "--stop-after") return "command:passes"
  if (word == "-W") return "command:warnings"
  if (word == "-D") return "command:constants"
  if (word == "--list") return "word:layers|losses|metrics|optimizers|schedules|sources|targets|policies|functions"
  if (word == "--policy") return "command:policies"
  if (word == "--plan-effort") return "word:fast|normal|best"
  if (word == "--diagnostics") return "word:text|short|json|sarif"
  if (word == "--cut") return "word:auto|whole|rows(|halos(|slices("
  if (word == "--budget" || word == "--sweep") return "word:device=|host=|ssd="
  if (word == "-f") return "word:fuse|no-fuse|hoist|no-hoist|places|no-places|reassociate|no-reassociate|stages|no-stages|feature-split|no-feature-split|gradcheck"
  if (value ~ /^[a-z0-9]+(\|[a-z0-9]+)+$/) return "word:" value
  if (value ~ /^(FILE|PATH|RUN|A\.json|\[NAME=\]PATH)/ || value ~ /FILE/) return word == "-I" ? "folder" : "file"
  if (value ~ /DIR/) return "folder"
  if (value ~ /^DATA/) return "file"
  return value == "" ? "none" : "free"
}
function put(word, how, value) { printf "%s\t%s\t%s\t%s\n", word, how, kind_of(word, value), $3 }
{
  form = $2
  if (form ~ /^-O0/) { n = split(form, all, " "); for (i = 1; i <= n; i++) put(all[i], "none", ""); next }
  if (form ~ /^-[Wf]\[no-\]/) { put(substr(form, 1, 2), "joined", "NAME"); next }
  if (match(form, /^--?[A-Za-z#-]+\[=/)) { put(substr(form, 1, RLENGTH - 2), "optional", substr(form, RLENGTH + 1, length(form) - RLENGTH - 1)); next }
  if (match(form, /^--?[A-Za-z-]+=/)) { put(substr(form, 1, RLENGTH - 1), "equals", substr(form, RLENGTH + 1)); next }
  if (match(form, /^--?[A-Za-z#-]+ /)) { put(substr(form, 1, RLENGTH - 1), "after", substr(form, RLENGTH + 1)); next }
  put(form, "none", "")
}
