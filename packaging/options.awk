# options.awk: the options of --help, of gnncc, gnndata or a program that gnncc made, one a line: group, form, help, between tabs. The help of all of them is
# printed from the one table of their options, two blanks, the form, blanks, what it does.
BEGIN { group = "" }
/^[^ ].*[^:]$/ && !/^usage/ { group = $0 }
/^[^ ].*:$/ { group = substr($0, 1, length($0) - 1) }
/^  -/ {
  line = substr($0, 3)
  at = match(line, /  +[^ ]/)
  form = at ? substr(line, 1, at - 1) : line
  help = at ? substr(line, at) : ""
  if (!at && length(line) > width && substr(line, width, 1) == " ") { form = substr(line, 1, width - 1); help = substr(line, width) }
  sub(/^ +/, "", help); sub(/ +$/, "", form); sub(/ +$/, "", help)
  printf "%s\t%s\t%s\n", group, form, help
}
