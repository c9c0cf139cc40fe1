# option_items.awk: lines of options.awk as paragraphs of a man page.
BEGIN { FS = "\t" }
$1 != group { group = $1; printf ".SS %s\n", roff(group) }
{ printf ".TP\n.B %s\n%s\n", roff($2), $3 == "" ? "." : roff($3) }
