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
$(B)/share/examples: $(wildcard examples/*.gnn examples/*.safetensors)
	@mkdir -p $@ && cp examples/*.gnn examples/*.safetensors $@/ && touch $@

# ---- tests: programs that print TAP; tests/suites.sh says which suites there are ----

T := $(B)/tests
KERNEL_FLAGS := -std=gnu11 -O3 -fno-math-errno -ffp-contract=fast -Wall -Wextra $(SANITIZE)
KERNEL_TESTS := $(foreach t,$(notdir $(basename $(wildcard tests/kernels/*.c))),$(foreach v,native avx2 sse2 double,$(T)/kernels/$(t)_$(v)))
RUNTIME_TESTS := $(patsubst tests/runtime/%.c,$(T)/runtime/%,$(wildcard tests/runtime/test_*.c))
PLANNER_TESTS := $(patsubst tests/planner/%.c,$(T)/planner/%,$(wildcard tests/planner/test_*.c))
PASS_TESTS := $(patsubst tests/passes/%.c,$(T)/passes/%,$(wildcard tests/passes/test_*.c))

$(T)/kernels/%_native: MARCH := -march=native
$(T)/kernels/%_avx2: MARCH := -march=x86-64-v3
$(T)/kernels/%_sse2: MARCH := -march=x86-64
$(T)/kernels/%_double: MARCH := -march=native -DGNN_DOUBLE
define KERNEL_RULE
$(T)/kernels/%_$(1): tests/kernels/%.c runtime/team.c $$(KERNELS) tests/kernels/tap.h
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) $$(MARCH) -o $$@ $$< runtime/team.c -lm -lpthread
endef
$(foreach v,native avx2 sse2 double,$(eval $(call KERNEL_RULE,$(v))))

$(T)/runtime/%: tests/runtime/%.c tests/runtime/tap.h $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -DGNN_ZLIB -o $@ $< $(B)/share/libgnnrt.a $(LINK_ZLIB) -lm -lpthread
$(T)/toy: $(filter-out tests/runtime/test_%,$(wildcard tests/runtime/*.c)) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LINK_ZLIB) -lm -lpthread
$(T)/langtest: tests/lang/langtest.c $(LANG_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -I. -Ilang -o $@ $^ -lm
$(T)/planner/%: tests/planner/%.c $(filter-out $(wildcard tests/planner/test_*.c tests/planner/*_main.c),$(wildcard tests/planner/*.c)) $(filter-out %/main.o,$(PLANNER:%.c=$(B)/%.o)) $(B)/lang/arena.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -I. -Itests/planner -o $@ $^ -ljansson -lm
$(T)/passes/%: tests/passes/%.c $(filter-out %/gnncc.o,$(GNNCC_OBJECTS)) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -I. -o $@ $^ -ljansson $(LINK_ZLIB) -lm -lpthread
$(T)/reference: $(wildcard tests/reference/*.c)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -o $@ $^ -lm

TEST_PROGRAMS := $(KERNEL_TESTS) $(RUNTIME_TESTS) $(PLANNER_TESTS) $(PASS_TESTS) $(T)/toy $(T)/langtest $(T)/reference
WATCHED := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

tests: all $(TEST_PROGRAMS)
# The compiler, the tools and the runtime once more, under the address, leak and undefined-behaviour sanitizers.
watched:
	$(MAKE) B=$(B)/watched CFLAGS="-O1 -g" SANITIZE="$(WATCHED)" all $(patsubst $(T)/%,$(B)/watched/tests/%,$(RUNTIME_TESTS) $(PLANNER_TESTS) $(PASS_TESTS) $(T)/langtest)

check: deps
	$(MAKE) tests watched
	tests/run.sh $(B)
demo: deps
	$(MAKE) all
	tests/demo.sh $(B)
deps:
	tests/deps.sh

-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(B)/lang $(B)/compiler $(B)/runtime $(B)/share $(B)/tests $(B)/watched $(B)/check $(B)/gnncc $(B)/gnndata

.PHONY: all tests watched check demo deps clean
.DELETE_ON_ERROR:
