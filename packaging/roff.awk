# roff.awk: what man pages are made of. Put before another program: -f roff.awk -f OTHER.awk.
function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  gsub(/\^/, "\\(ha", text)
  gsub(/~/, "\\(ti", text)
  if (text ~ /^\./) text = "\\&" text
  return text
}
