/* shared: what is found in share_dir: the standard layers and the targets. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "syntax.h"

static int compare_names(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void syntax_each_shared(Arena *arena, const LangOptions *options, const char *folder, SyntaxVisit *visit, void *user) {
  if (!options->share_dir) return;
  DIR *directory = opendir(arena_printf(arena, "%s/%s", options->share_dir, folder));
  if (!directory) return;
  int count = 0;
  const char **names = NULL;
  for (struct dirent *entry; (entry = readdir(directory));) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".gnn") == 0)
      ARENA_PUSH(arena, names, count, arena_printf(arena, "%s/%s", folder, entry->d_name));
  }
  closedir(directory);
  if (count) qsort(names, (size_t)count, sizeof *names, compare_names);
  for (int i = 0; i < count; i++) visit(arena, options, names[i], user);
}

const char *lang_target_name(Arena *arena, const char *name) {
  static const struct { const char *former, *now; } renamed[] = {{"rtx4060m", "rtx4060_laptop"}};
  static const char prefix[] = "standard_"; /* of sizes of Azure */
  char *plain = arena_strdup(arena, name);
  for (char *c = plain; *c; c++) *c = *c == '-' || *c == '.' ? '_' : (char)tolower((unsigned char)*c);
  if (strncmp(plain, prefix, strlen(prefix)) == 0) plain += strlen(prefix);
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    if (strcmp(plain, renamed[i].former) == 0) return renamed[i].now;
  return plain;
}

void syntax_offer_path(Arena *arena, const LangOptions *options, const char *path, void *suggest) {
  (void)arena;
  (void)options;
  suggest_offer(suggest, path);
}
