/* diag_pages: finding the page of a diagnostic. */
#include <string.h>
#include <strings.h>

#include "diag_internal.h"

bool diags_page(int index, DiagPage *page) {
  typedef const DiagPage *Chapter(int *count);
  static Chapter *const chapters[] = {diags_pages_syntax, diags_pages_types, diags_pages_machine};
  for (size_t i = 0; i < sizeof chapters / sizeof *chapters && index >= 0; i++) {
    int count;
    const DiagPage *pages = chapters[i](&count);
    if (index < count) {
      *page = pages[index];
      return true;
    }
    index -= count;
  }
  return false;
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
    if (strcasecmp(page.code, code) != 0) continue;
    fprintf(out, "%s: %s\n\n%s\n", page.code, page.title, page.text);
    if (page.wrong) fprintf(out, "\nWrong:\n\n%s", page.wrong);
    if (page.right) fprintf(out, "\nRight:\n\n%s", page.right);
    if (page.why_none) fprintf(out, "\nThere is no program that shows it: %s\n", page.why_none);
    return true;
  }
  return false;
}
