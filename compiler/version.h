/* version.h: of gnncc. */
#ifndef GNNCC_VERSION_H
#define GNNCC_VERSION_H

#define GNNCC_VERSION "0.1.0"

#endif
