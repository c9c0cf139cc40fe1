# markdown.awk: a page of docs/ as the body of a man page: headings, paragraphs, lists, tables, code.
function inline(text,    out, part, n, i) {
  gsub(/!\[[^]]*\]\([^)]*\)/, "", text)
  while (match(text, /\[[^]]*\]\([^)]*\)/)) { # of links the text
    part = substr(text, RSTART + 1, RLENGTH - 1)
    sub(/\].*$/, "", part)
    text = substr(text, 1, RSTART - 1) part substr(text, RSTART + RLENGTH)
  }
  gsub(/\\\|/, "|", text)
  n = split(text, pieces, "`")
  out = ""
  for (i = 1; i <= n; i++) {
    part = roff(pieces[i])
    if (i % 2 == 0) out = out "\\fB" part "\\fR"
    else {
      gsub(/\*\*/, "", part)
      out = out part
    }
  }
  return out
}
function text_line(text) {
  text = inline(text)
  print text ~ /^[.']/ ? "\\&" text : text
}
/^```/ { is_code = !is_code; print is_code ? ".PP\n.in +4n\n.EX" : ".EE\n.in"; next }
is_code { line = roff($0); print line ~ /^\./ ? "\\&" line : line; next }
/^    [^ ]/ && !is_item { if (!is_indented) print ".PP\n.in +4n\n.EX"; is_indented = 1; line = roff(substr($0, 5)); print line; next }
is_indented { print ".EE\n.in"; is_indented = 0 }
/^# / { next }
/^## / { is_item = 0; printf ".SH %s\n", inline(toupper(substr($0, 4))); next }
/^###+ / { is_item = 0; sub(/^#+ /, ""); printf ".SS %s\n", inline($0); next }
/^\|[ -]*-[-| :]*\|$/ { next }
/^\|/ {
  is_item = 0
  line = $0
  gsub(/\\\|/, "\001", line)
  n = split(line, cells, "|")
  for (i = 2; i < n; i++) { gsub(/\001/, "\\|", cells[i]); gsub(/^ +| +$/, "", cells[i]) }
  printf ".TP\n%s\n", inline(cells[2])
  rest = ""
  for (i = 3; i < n; i++) if (cells[i] != "") rest = rest (rest == "" ? "" : "; ") cells[i]
  text_line(rest == "" ? "\\&" : rest)
  next
}
/^\* / { is_item = 1; print ".IP \\(bu 2"; text_line(substr($0, 3)); next }
/^[0-9]+\. / { is_item = 1; print ".IP " $1 " 4"; sub(/^[0-9]+\. /, ""); text_line($0); next }
/^$/ { if (!is_item) print ".PP"; is_blank = 1; next }
{ if (is_item && $0 ~ /^[^ ]/ && is_blank) { is_item = 0; print ".PP" } is_blank = 0; sub(/^ +/, ""); text_line($0) }
END { if (is_indented) print ".EE\n.in" }
