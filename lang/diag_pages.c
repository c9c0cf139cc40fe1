/* diag_pages: the page of every diagnostic. */
#include <string.h>

#include "diag_internal.h"

static const DiagPage pages[] = {
    {"E0001", "a file cannot be read", "", NULL, NULL, 4},
};

bool diags_page(int index, DiagPage *page) {
  if (index < 0 || index >= (int)(sizeof pages / sizeof *pages)) return false;
  *page = pages[index];
  return true;
}

int diags_page_exit_code(const char *code) {
  DiagPage page;
  for (int i = 0; diags_page(i, &page); i++)
    if (strcmp(page.code, code) == 0) return page.exit_code;
  return 1;
}

bool diags_explain(const char *code, FILE *out) {
  DiagPage page;
  for (int i = 0; diags_page(i, &page); i++) {
    if (strcmp(page.code, code) != 0) continue;
    fprintf(out, "%s: %s\n\n%s\n", page.code, page.title, page.text);
    if (page.wrong) fprintf(out, "\nWrong:\n\n%s", page.wrong);
    if (page.right) fprintf(out, "\nRight:\n\n%s", page.right);
    return true;
  }
  return false;
}
