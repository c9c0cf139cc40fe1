/* text_table: lines and tables of text. */
#include "text_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/text.h"

enum { USUAL = 80, NARROWEST = 20, GAP = 2 };

Screen screen_of(FILE *out, bool has_color) {
  Screen screen = {out, 0, has_color};
  const char *text = getenv("COLUMNS");
  struct winsize size = {0};
  int64_t columns;
  if (!isatty(fileno(out))) return screen;
  if (!text || !gnn_parse_integer(text, &columns) || columns < 1) columns = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL;
  screen.columns = columns < NARROWEST ? NARROWEST : columns > 10000 ? 10000 : (int)columns;
  return screen;
}

/* Bytes of the sequence that begins here ("\033[1m"); 0: there is none. */
static size_t sequence(const char *text) {
  if (text[0] != '\033' || text[1] != '[') return 0;
  return 2 + strcspn(text + 2, "m") + (text[2 + strcspn(text + 2, "m")] == 'm');
}

static int width_of(const char *text, size_t length) {
  int width = 0;
  for (size_t i = 0; i < length;) {
    const size_t unseen = sequence(text + i);
    if (!unseen) width += ((unsigned char)text[i] & 0xc0) != 0x80;
    i += unseen ? unseen : 1;
  }
  return width;
}

const char *screen_strong(const Screen *screen, Arena *arena, const char *text) { return screen->has_color ? arena_printf(arena, "\033[1m%s\033[0m", text) : text; }

void screen_line(const Screen *screen, int indent, const char *line) {
  int at = 0, begun = 0; /* columns that are used; of them the indent */
  if (2 * indent > screen->columns) indent = screen->columns / 8;
  while (*line) {
    const size_t blanks = strspn(line, " "), word = strcspn(line + blanks, " ");
    const int wide = width_of(line + blanks, word);
    if (screen->columns && at > begun && at + (int)blanks + wide > screen->columns) {
      fprintf(screen->out, "\n%*s", indent, "");
      at = begun = indent;
    } else {
      fprintf(screen->out, "%.*s", (int)blanks, line);
      if (at == begun) begun += (int)blanks;
      at += (int)blanks;
    }
    fprintf(screen->out, "%.*s", (int)word, line + blanks);
    at += wide;
    line += blanks + word;
  }
  fputc('\n', screen->out);
}

void table_add(Table *table, const char *const *cells) {
  const char **row = arena_alloc(table->arena, (size_t)table->column_count * sizeof *row);
  memcpy(row, cells, (size_t)table->column_count * sizeof *row);
  ARENA_PUSH(table->arena, table->rows, table->row_count, row);
}

/* ---- how wide the columns are ---- */

typedef struct Widths {
  int *of; /* per column; -1: it is not shown */
} Widths;

static int total(const Table *table, const Widths *w) {
  int sum = 0;
  for (int c = 0; c < table->column_count; c++) sum += w->of[c] >= 0 ? w->of[c] + GAP : 0;
  return sum;
}

/* Those that may go are cut first, and the others last. */
static void cut_down(const Table *table, const Widths *w, int columns) {
  int most = 0;
  for (int c = 0; c < table->column_count; c++) most = table->columns[c].goes > most ? table->columns[c].goes : most;
  for (int goes = most; goes >= 0; goes--)
    for (int c = 0; c < table->column_count; c++) {
      const int over = total(table, w) - columns, least = table->columns[c].least;
      if (over <= 0 || table->columns[c].goes != goes || least == 0 || w->of[c] <= least) continue;
      w->of[c] = w->of[c] - over > least ? w->of[c] - over : least;
    }
}

static Widths widths_of(const Table *table, int rows, int columns) {
  Widths natural = {arena_alloc(table->arena, (size_t)table->column_count * sizeof(int))};
  for (int c = 0; c < table->column_count; c++) {
    natural.of[c] = width_of(table->columns[c].head, strlen(table->columns[c].head));
    for (int r = 0; r < rows; r++) {
      const int wide = width_of(table->rows[r][c], strlen(table->rows[r][c]));
      if (wide > natural.of[c]) natural.of[c] = wide;
    }
  }
  for (;;) {
    Widths w = {arena_alloc(table->arena, (size_t)table->column_count * sizeof(int))};
    memcpy(w.of, natural.of, (size_t)table->column_count * sizeof(int));
    if (columns) cut_down(table, &w, columns);
    int goes = -1;
    for (int c = 0; c < table->column_count; c++)
      if (natural.of[c] >= 0 && table->columns[c].goes > (goes < 0 ? 0 : table->columns[goes].goes)) goes = c;
    if (!columns || total(table, &w) <= columns || goes < 0) return w;
    natural.of[goes] = -1;
  }
}

/* ---- printing ---- */

static void put_cell(const Screen *screen, const TableColumn *column, const char *cell, int width, const char *paint, bool is_last) {
  const size_t length = strlen(cell);
  const char *more = gnn_is_utf8() ? "\342\200\246" : "..";
  const int wide = width_of(cell, length), room = width - width_of(more, strlen(more));
  size_t shown = length;
  if (wide > width)
    for (int at = 0; shown > 0 && (at = width_of(cell, shown)) > (room > 0 ? room : 0); shown--) {}
  while (shown < length && shown > 0 && ((unsigned char)cell[shown] & 0xc0) == 0x80) shown--;
  const int pad = width - (wide > width ? width_of(cell, shown) + width_of(more, strlen(more)) : wide);
  fprintf(screen->out, "%*s", column->is_right && pad > 0 ? pad : 0, "");
  if (paint && screen->has_color) fprintf(screen->out, "\033[%sm", paint);
  fprintf(screen->out, "%.*s%s", (int)shown, cell, shown < length ? more : "");
  if (paint && screen->has_color) fputs("\033[0m", screen->out);
  if (!column->is_right && !is_last && pad > 0) fprintf(screen->out, "%*s", pad, "");
}

static void put_row(const Table *table, const char *const *cells, const Widths *w, const Screen *screen, bool is_head) {
  int last = 0;
  for (int c = 0; c < table->column_count; c++)
    if (w->of[c] >= 0 && *cells[c]) last = c;
  for (int c = 0; c <= last; c++) {
    const TableColumn *column = &table->columns[c];
    if (w->of[c] < 0) continue;
    fprintf(screen->out, "%*s", GAP, "");
    put_cell(screen, column, cells[c], w->of[c], is_head ? "1" : column->paint ? column->paint(cells[c]) : NULL, c == last);
  }
  fputc('\n', screen->out);
}

void table_print(const Table *table, int most, const Screen *screen) {
  const int rows = most < table->row_count ? most : table->row_count;
  const Widths w = widths_of(table, rows, screen->columns);
  const char **heads = arena_alloc(table->arena, (size_t)table->column_count * sizeof *heads);
  for (int c = 0; c < table->column_count; c++) heads[c] = table->columns[c].head;
  put_row(table, heads, &w, screen, true);
  for (int r = 0; r < rows; r++) put_row(table, table->rows[r], &w, screen, false);
}
