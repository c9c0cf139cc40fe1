/* zip.h: members of a zip file, stored or deflated, also of more than 4 GiB (PKWARE's APPNOTE 6.3). */
#ifndef GNN_ZIP_H
#define GNN_ZIP_H

#include "file.h"

typedef struct gnn_zip_member {
  const char *name;
  int64_t header, packed, size; /* where its local header is; bytes as it lies, and unpacked */
  uint32_t crc;
  int method;                   /* 0: stored, 8: deflated */
} gnn_zip_member;

typedef struct gnn_zip {
  gnn_file file;
  int count;
  gnn_zip_member *members;
  char *names;
} gnn_zip;

/* Refuses what is cut short, encrypted or spread over several files. */
gnn_status gnn_zip_open(const char *path, gnn_zip *zip, gnn_error *error);
/* The bytes of a member, checked against its CRC-32. What is stored is pointed to where it lies, and *unpacked is zeroed; what is deflated is
 * there (made.h). */
gnn_status gnn_zip_read(const gnn_zip *zip, const gnn_zip_member *member, const unsigned char **data, size_t *size, gnn_file *unpacked, gnn_error *error);
void gnn_zip_close(gnn_zip *zip); /* zeroed or closed is fine */

#endif
