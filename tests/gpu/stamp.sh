#!/bin/sh
# stamp.sh: of which sources gnncc and what it links programs with are made: a number that is another where they are others.
cd "$(dirname "$0")/../.." && find Makefile compiler kernels lang runtime -type f | LC_ALL=C sort | xargs cat | cksum
