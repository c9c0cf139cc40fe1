# gnncc. `make demo` builds and trains the first example, `make check` runs all tests; see README.md.

B := build
CC ?= cc
CFLAGS ?= -O2 -g
SANITIZE ?=
FLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra $(SANITIZE)
LINK_ZLIB := -l:libz.a

LANG := $(filter-out lang/arena.c,$(wildcard lang/*.c)) lang/arena.c
PLANNER := $(wildcard compiler/planner/*.c)
COMPILER := $(wildcard compiler/*.c)
RUNTIME := $(wildcard runtime/*.c)
RUNTIME_HEADERS := $(wildcard runtime/*.h)
KERNELS := $(wildcard kernels/cpu/*.h)
# What emitted sources include: the interface, the embedding layer and the kernels, in this order.
PUBLIC_HEADERS := runtime/gnnrt.h $(wildcard runtime/job.h) $(addprefix kernels/cpu/, \
  vector.h random.h math.h gemm.h spmm.h sparse.h reduce.h loss.h optimizer.h)
GNNDATA := $(wildcard runtime/tools/*.c)

GENERATED := $(B)/lang/parse.c $(B)/lang/scan.c
LANG_OBJECTS := $(LANG:%.c=$(B)/%.o) $(GENERATED:.c=.o)
GNNCC_OBJECTS := $(LANG_OBJECTS) $(COMPILER:%.c=$(B)/%.o) $(PLANNER:%.c=$(B)/%.o)
RUNTIME_OBJECTS := $(RUNTIME:%.c=$(B)/%.o)
SHARE := $(B)/share/gnnrt.h $(B)/share/gnnrt.c $(B)/share/libgnnrt.a $(B)/share/std $(B)/share/targets $(B)/share/examples

all: $(B)/gnncc $(B)/gnndata $(SHARE)

$(B)/gnncc: $(GNNCC_OBJECTS) $(B)/share/libgnnrt.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ -ljansson $(LINK_ZLIB) -lm -lpthread
$(B)/gnndata: $(GNNDATA:%.c=$(B)/%.o) $(B)/share/libgnnrt.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(LINK_ZLIB) -lm -lpthread

$(B)/lang/parse.c: lang/parse.y
	@mkdir -p $(@D)
	bison -Wall -Werror -o $@ --header=$(B)/lang/parse.h $<
$(B)/lang/scan.c: lang/scan.l $(B)/lang/parse.c
	@mkdir -p $(@D)
	flex -o $@ --header-file=$(B)/lang/scan.h $<
$(B)/lang/parse.o $(B)/lang/scan.o: $(B)/lang/%.o: $(B)/lang/%.c
	$(CC) $(CFLAGS) -std=c11 -D_GNU_SOURCE -w $(SANITIZE) -I. -Ilang -I$(B)/lang -MMD -c -o $@ $<

$(B)/%.o: %.c | $(GENERATED)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -fPIC -DGNN_ZLIB -DGNNCC_LINK_ZLIB='"$(LINK_ZLIB)"' -I. -Ilang -I$(B)/lang -MMD -c -o $@ $<

$(B)/share/libgnnrt.a: $(RUNTIME_OBJECTS)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^
$(B)/share/gnnrt.h: $(PUBLIC_HEADERS) $(KERNELS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	runtime/amalgamate.sh -- $(PUBLIC_HEADERS) > $@
$(B)/share/gnnrt.c: $(RUNTIME) $(RUNTIME_HEADERS) $(KERNELS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnnrt.c: the run-time library of gnncc programs in one file; written by gnncc. */'; echo '#define _GNU_SOURCE'; \
	  echo '#include "gnnrt.h"'; runtime/amalgamate.sh $(PUBLIC_HEADERS) -- $(RUNTIME); } > $@
$(B)/share/std $(B)/share/targets: $(B)/share/%: $(wildcard lang/std/*.gnn lang/targets/*.gnn)
	@mkdir -p $@ && cp lang/$*/*.gnn $@/ && touch $@
$(B)/share/examples: $(wildcard examples/*.gnn)
	@mkdir -p $@ && cp examples/*.gnn $@/ && touch $@

-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(B)/lang $(B)/compiler $(B)/runtime $(B)/share $(B)/gnncc $(B)/gnndata $(B)/check

.PHONY: all clean
.DELETE_ON_ERROR:
