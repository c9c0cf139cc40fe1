# gnncc. `make demo` builds and trains the first example, `make check` runs all tests; see README.md.

B := build
# One name for a folder here, however it was said: the files of dependencies have it.
override B := $(patsubst $(CURDIR)/%,%,$(B))
CC ?= cc
CFLAGS ?= -O3 -g
SANITIZE ?=
FLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror=implicit-function-declaration $(SANITIZE) -I.
# A switch over an enumeration names all of it: what a new operator, kernel, fate or tier has to say is said where it is asked.
$(B)/compiler/%.o: FLAGS += -Werror=switch-enum
$(B)/lang/%.o: FLAGS += -Werror=switch
LINK_ZLIB := -l:libz.a
LINK_JANSSON := $(if $(wildcard $(shell $(CC) -print-file-name=libjansson.a 2>/dev/null)),-l:libjansson.a,-ljansson)
# Folders of DGL (YAML), in gnncc and gnndata alone; without it they are refused.
LINK_YAML := $(if $(filter /%,$(shell $(CC) -print-file-name=libyaml.a 2>/dev/null)),-l:libyaml.a)
# io_uring for the SSD tier (needs liburing); no: pread and pwrite.
URING ?= yes
ifeq ($(URING),yes)
  FLAGS += -DGNN_URING
endif
# Libraries that become part of ours, so that programs need not name them.
BUNDLED := $(if $(filter yes,$(URING)),liburing.a)

# The rooms. A file that is not listed is not built.
LANG := $(addprefix lang/, arena.c ast.c ast_dump.c check.c check_block.c check_bounds.c check_call.c check_const.c check_data.c check_expr.c check_relations.c check_pairs.c \
  check_function.c check_reduce.c check_shape.c check_layer.c check_batch.c check_boundary.c check_doubts.c check_loss.c check_names.c check_optimizer.c check_plan.c check_target.c check_train.c check_type.c cut_wish.c data_paths.c diag.c diag_pages.c \
  diag_pages_machine.c diag_pages_syntax.c diag_pages_types.c diag_print.c expand.c format.c help.c known.c list.c measures.c name_table.c optimizers.c outline.c \
  rates.c shared.c source.c suggest.c syntax.c syntax_errors.c tokens.c tokens_dump.c typed.c typed_dump.c units.c vocabulary.c)
COMPILER := $(addprefix compiler/base/, allocated.c cache.c escape.c json_file.c outfile.c shown.c text_table.c time_unit.c workplace.c) \
  $(addprefix compiler/graph/, associate.c autodiff.c clip.c cut.c data.c factor.c graph.c hoist.c layer_cuts.c learned.c linear_rows.c locality.c lower.c nested_locality.c once_tables.c share.c reassociate.c recompute.c say.c simplify.c transpose.c verify_graph.c) \
  $(addprefix compiler/lowering/, choose_half.c choose_library.c cost.c describe_kernel.c exchange_cost.c fuse.c kernel_kinds.c known_processor.c measured.c places.c profile.c row_stride.c \
    slow.c stages.c trial.c tuning.c verify_kernels.c) \
  $(addprefix compiler/plan/, answer.c base_order.c caching.c choose_cut.c choose_exchanges.c decisions.c exchange_order.c halos.c layout.c part_costs.c parts_ahead.c pieces.c pins.c plan.c pose_problem.c process.c residents.c roles.c schedule.c slowing.c tiers.c verify_memory.c \
    verify_plan.c) \
  $(addprefix compiler/emit/, emit.c emit_api.c emit_arena.c emit_arguments.c emit_calls.c emit_description.c emit_domain.c emit_expr.c emit_folder.c emit_interface.c emit_lines.c emit_makefile.c emit_names.c emit_rows.c emit_step.c emit_taps.c cpu/emit_flat.c cpu/emit_kernel.c \
    cuda/emit_cuda.c cuda/emit_cuda_kernel.c cuda/emit_cuda_rows.c) \
  $(addprefix compiler/explain/, advice.c bound.c instead.c layers.c problem_report.c rank_times.c report.c report_json.c sweep.c sweep_program.c verdict.c) \
  $(addprefix compiler/explain/views/, annotate.c brackets.c compare.c document.c dot.c gantt.c gantt_svg.c listing.c memory_csv.c page.c svg.c sweep_views.c \
    trace.c turns.c views.c) \
  $(addprefix compiler/driver/, build.c c_compiler.c changes.c children.c cuda_compiler.c cut_forms.c dependencies.c driver.c exchanges.c format_command.c forms.c given_plan.c language_server.c native.c options.c problem_command.c single_file.c) \
  $(addprefix compiler/target/, calibrate.c measure_gpu.c measurement.c tune.c) \
  compiler/gnncc.c
# What compiler/base/allocation.c comes between.
MEMORY := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=fopen,--wrap=fdopen
PLANNER := $(addprefix compiler/planner/, addresses.c certificate.c coarse.c desk.c evaluate.c exact.c filling.c finished_plan.c geometry.c json_text.c judge.c judge_certificate.c judge_parts.c label_dp.c main.c memo.c multilevel.c pack.c plan_json.c \
    plan_report.c planner.c policies.c problem.c problem_json.c problem_write.c replay.c revolve.c search.c sequence.c session.c settle.c simplex.c skyline.c \
    simulate.c timeline.c timing.c windows.c wishes.c)
RUNTIME := $(addprefix runtime/base/, array.c file.c guard.c json.c made.c open.c partial.c processor.c room.c stream.c text.c zip.c) \
  $(addprefix runtime/core/, adjacency.c bad_value.c blocks.c boundary.c builds.c device.c device_cpu.c home.c instance.c lanes.c learning_rate.c option_bounds.c rank_columns.c ranks.c scores.c scratch.c spans.c team.c watch.c weights.c window.c) \
  $(addprefix runtime/data/, batches.c container.c contents.c dataset.c edge_list.c extent.c fill.c fill_halo.c fill_ranks.c pairs.c halo.c karate.c load.c npy.c npy_folder.c npy_types.c order.c order_file.c planetoid.c prepare.c \
    prepare_edges.c prepare_fields.c prepare_folds.c prepare_order.c prepare_relations.c prepare_rows.c prepare_splits.c safetensors.c subgraph.c synth.c synth_molecules.c tu.c) \
  $(addprefix runtime/data/, array_names.c columns.c csv.c dgl.c entries.c ids.c igb.c keyed.c metis_graph.c mtx.c names.c npz.c numbers.c ogb.c prepare_files.c source_text.c table.c) \
  $(addprefix runtime/job/, checkpoint.c epoch.c job.c metrics.c scored.c) \
  $(addprefix runtime/app/, announced.c cli_session.c commands.c console.c fold_runs.c gradcheck.c keep_order.c log_page.c logs.c predict.c program.c train.c)
# Programs for CUDA link this too. Without the toolkit it is not built, and gnncc says what is missing when it is asked for it.
CUDA := $(shell CUDA_HOME='$(CUDA_HOME)' CUDA_PATH='$(CUDA_PATH)' runtime/cuda/home.sh)
CUDA_INCLUDE := $(word 2,$(CUDA))
CUDA_RUNTIME := $(addprefix runtime/cuda/, cublaslt.c cusparse.c device_cuda.c device_host_net.c device_memory.c device_net.c error.c events.c find.c launch.c streams.c users.c work.c)
CUDA_HEADERS := $(addprefix $(CUDA_INCLUDE)/, cuda_runtime_api.h cublasLt.h cusparse.h)
NO_CUDA := $(filter-out $(wildcard $(CUDA_HEADERS)),$(CUDA_HEADERS))
LOG_PAGE := $(B)/runtime/app/log_page_html.c
GNNDATA := $(addprefix runtime/tools/, classic_orders.c convert.c gnndata.c graph_rows.c info.c ingest.c ingest_runs.c metis.c partition.c parts.c yaml_text.c)
RUNTIME_HEADERS := $(wildcard runtime/*.h runtime/*/*.h)
KERNELS := $(wildcard kernels/cpu/*.h)
# What emitted sources include: the interface, the embedding layer and the kernels, in this order.
INTERFACE_HEADERS := runtime/gnnrt.h runtime/job/job.h
PUBLIC_HEADERS := $(INTERFACE_HEADERS) $(addprefix kernels/cpu/, \
  vector.h random.h math.h gemm.h walk.h spmm.h sparse.h reduce.h loss.h optimizer.h)

# What emitted CUDA includes.
DEVICE_HEADERS := $(addprefix kernels/cuda/, view.h places.h device.cuh half.cuh math.cuh random.cuh reduce.cuh columns.cuh rows.cuh gemm.cuh loss.cuh optimizer.cuh)

GENERATED := $(B)/lang/parse.c $(B)/lang/scan.c
LANG_OBJECTS := $(LANG:%.c=$(B)/%.o) $(GENERATED:.c=.o)
PAGE := $(addprefix compiler/explain/views/, page.html page.css page.js pieces.js)
GNNCC_OBJECTS := $(LANG_OBJECTS) $(COMPILER:%.c=$(B)/%.o) $(B)/compiler/explain/views/page_assets.o $(PLANNER:%.c=$(B)/%.o)
RUNTIME_OBJECTS := $(RUNTIME:%.c=$(B)/%.o) $(LOG_PAGE:.c=.o)
# The planner without the compiler.
PLANNER_OBJECTS := $(PLANNER:%.c=$(B)/%.o) $(addprefix $(B)/, compiler/base/outfile.o compiler/base/shown.o compiler/base/time_unit.o lang/arena.o lang/source.o lang/vocabulary.o runtime/base/open.o runtime/base/partial.o runtime/base/text.o)
# The sources for CUDA are there without the toolkit, too: `gnncc -S` delivers them.
SHARE := $(addprefix $(B)/share/, gnndevice.cuh gnncuda.h gnncuda.c gnnmpi.c gnnnccl.c) $(B)/share/gnnrt.h $(B)/share/gnnrt.c $(B)/share/measure.c $(B)/share/libgnnrt.a $(B)/share/std $(B)/share/targets $(B)/share/examples

all: $(B)/gnncc $(B)/gnndata $(SHARE) $(if $(NO_CUDA),without_cuda,cuda)
ifeq ($(NO_CUDA),)
cuda: $(B)/share/libgnncuda.a $(B)/share/measure_cuda.c $(B)/share/measure_cuda.cu
else
cuda:
	@echo "make cuda: there is no $(firstword $(NO_CUDA)); install the CUDA toolkit, or name it: make cuda CUDA_HOME=DIRECTORY" >&2; false
endif
without_cuda:
	@echo "without programs for GPUs: there is no $(firstword $(NO_CUDA)) (CUDA_HOME)"

$(B)/gnncc: $(GNNCC_OBJECTS) $(B)/compiler/base/allocation.o $(B)/runtime/tools/yaml_text.o $(B)/share/libgnnrt.a
	$(CC) $(CFLAGS) $(SANITIZE) $(MEMORY) -o $@ $^ $(LINK_JANSSON) $(LINK_YAML) $(LINK_ZLIB) -lm -lpthread
$(B)/gnndata: $(GNNDATA:%.c=$(B)/%.o) $(B)/share/libgnnrt.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(LINK_YAML) $(LINK_ZLIB) -lm -lpthread -ldl

$(B)/lang/parse.c: lang/parse.y
	@mkdir -p $(@D)
	bison -Wall -Werror -o $@ --header=$(B)/lang/parse.h $<
$(B)/lang/scan.c: lang/scan.l $(B)/lang/parse.c
	@mkdir -p $(@D)
	flex -o $@ --header-file=$(B)/lang/scan.h $<
$(B)/lang/parse.o $(B)/lang/scan.o: $(B)/lang/%.o: $(B)/lang/%.c
	$(CC) $(CFLAGS) -std=c11 -D_GNU_SOURCE -w $(SANITIZE) -I. -Ilang -I$(B)/lang -MMD -MP -c -o $@ $<

$(B)/runtime/tools/yaml_text.o: FLAGS += $(if $(LINK_YAML),-DGNN_YAML)
$(B)/%.o: %.c | $(GENERATED)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -fPIC -DGNNCC_LINK_ZLIB='"$(LINK_ZLIB)"' -Ilang -I$(B)/lang -MMD -MP -c -o $@ $<

# Of --version -v: nothing where this is no repository.
$(B)/compiler/driver/commit.h: always
	@mkdir -p $(@D)
	@commit=; if [ "$$(git rev-parse --show-prefix 2>&1)" = '' ]; then commit=$$(git rev-parse --short=12 HEAD 2>/dev/null); fi; \
	  text="#define GNNCC_COMMIT \"$$commit\""; [ "$$(cat $@ 2>/dev/null)" = "$$text" ] || echo "$$text" >$@
$(B)/compiler/driver/options.o: FLAGS += -I$(B)/compiler/driver
$(B)/compiler/driver/options.o: $(B)/compiler/driver/commit.h

# The page's parts as C strings page_html, page_css, page_js and pieces_js.
$(B)/compiler/explain/views/page_assets.c: $(PAGE)
	@mkdir -p $(@D)
	for part in $(PAGE); do name=$$(basename $$part | tr . _); echo "extern const char $$name[]; const char $$name[] ="; \
	  sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/  "&\\n"/' $$part; echo '  "";'; done > $@
$(B)/compiler/explain/views/page_assets.o: $(B)/compiler/explain/views/page_assets.c
	$(CC) $(CFLAGS) $(FLAGS) -Wno-overlength-strings -c -o $@ $<

# The page of `--log html`, a string a line.
$(LOG_PAGE): runtime/app/log_page.html
	@mkdir -p $(@D)
	{ echo 'extern const char *const gnn_log_page_html[];'; echo 'const char *const gnn_log_page_html[] = {'; \
	  sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/  "&\\n",/' $<; echo '  0};'; } > $@
$(LOG_PAGE:.c=.o): $(LOG_PAGE)
	$(CC) $(CFLAGS) $(FLAGS) -fPIC -c -o $@ $<

$(B)/runtime/cuda/%.o: runtime/cuda/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -fPIC -Iruntime -isystem $(CUDA_INCLUDE) -MMD -MP -c -o $@ $<
$(B)/share/libgnncuda.a: $(CUDA_RUNTIME:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(B)/share/libgnnrt.a: $(RUNTIME_OBJECTS)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^
	{ echo 'open $@'; for library in $(BUNDLED); do echo "addlib $$($(CC) -print-file-name=$$library)"; done; printf 'save\nend\n'; } | ar -M
$(B)/share/gnnrt.h: $(PUBLIC_HEADERS) $(KERNELS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnnrt.h: the interface and the kernels of gnncc programs in one file; generated by gnncc. */'; \
	  runtime/amalgamate.sh -- $(INTERFACE_HEADERS); \
	  printf '\n%s\n' '/* A source that defines this calls no kernel, and is compiled in a fraction of the time. */' '#ifndef GNN_NO_KERNELS'; \
	  runtime/amalgamate.sh $(INTERFACE_HEADERS) -- $(PUBLIC_HEADERS); echo '#endif'; } > $@
$(B)/share/gnnrt.c: $(RUNTIME) $(LOG_PAGE) $(RUNTIME_HEADERS) $(KERNELS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnnrt.c: the run-time library of gnncc programs in one file; generated by gnncc. */'; echo '#define _GNU_SOURCE'; \
	  echo '#include "gnnrt.h"'; runtime/amalgamate.sh $(PUBLIC_HEADERS) -- $(RUNTIME) $(LOG_PAGE); } > $@
$(B)/share/gnnmpi.c: runtime/net/mpi.c $(wildcard runtime/net/*.h) $(RUNTIME_HEADERS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnnmpi.c: what programs of ranks have of MPI, in one file; generated by gnncc. */'; echo '#define _GNU_SOURCE'; echo '#define GNN_NO_KERNELS'; echo '#include "gnnrt.h"'; \
	  runtime/amalgamate.sh $(PUBLIC_HEADERS) -- $<; } > $@
$(B)/share/gnnnccl.c: runtime/net/nccl.c runtime/cuda/device_net.h runtime/cuda/gnncuda.h kernels/cuda/places.h $(RUNTIME_HEADERS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnnnccl.c: what programs of ranks on GPUs have of NCCL, in one file; generated by gnncc. */'; echo '#define _GNU_SOURCE'; echo '#define GNN_NO_KERNELS'; echo '#include "gnncuda.h"'; \
	  runtime/amalgamate.sh $(PUBLIC_HEADERS) runtime/cuda/gnncuda.h -- $<; } > $@
$(B)/share/gnndevice.cuh: $(DEVICE_HEADERS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnndevice.cuh: the CUDA kernels of gnncc programs in one file; generated by gnncc. */'; \
	  runtime/amalgamate.sh -- $(DEVICE_HEADERS); } > $@
$(B)/share/gnncuda.h: runtime/cuda/gnncuda.h kernels/cuda/places.h runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnncuda.h: what programs for CUDA take from the run-time library; generated by gnncc. */'; echo '#include "gnnrt.h"'; \
	  runtime/amalgamate.sh $(PUBLIC_HEADERS) -- $<; } > $@
$(B)/share/gnncuda.c: $(CUDA_RUNTIME) $(wildcard runtime/cuda/*.h) kernels/cuda/algorithm.h kernels/cuda/module.h kernels/cuda/places.h kernels/cuda/view.h $(RUNTIME_HEADERS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '/* gnncuda.c: the run-time library of gnncc programs for CUDA in one file; generated by gnncc. */'; echo '#define _GNU_SOURCE'; \
	  echo '#include "gnncuda.h"'; runtime/amalgamate.sh $(PUBLIC_HEADERS) runtime/cuda/gnncuda.h -- $(CUDA_RUNTIME); } > $@
$(B)/share/measure_cuda.c: kernels/cuda/measure_cuda.c kernels/cuda/measure_cuda.h kernels/cuda/algorithm.h kernels/cuda/module.h kernels/cuda/places.h kernels/cuda/view.h kernels/rate_lines.h runtime/amalgamate.sh
	@mkdir -p $(@D)
	runtime/amalgamate.sh -- $< > $@
$(B)/share/measure_cuda.cu: kernels/cuda/measure_cuda.cu kernels/cuda/measure_cuda.h $(DEVICE_HEADERS) runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '#include "gnndevice.cuh"'; runtime/amalgamate.sh $(DEVICE_HEADERS) -- $<; } > $@
$(B)/share/measure.c: kernels/cpu/measure.c kernels/rate_lines.h runtime/core/scratch.h runtime/core/spans.h runtime/base/text.h runtime/amalgamate.sh
	@mkdir -p $(@D)
	{ echo '#define _GNU_SOURCE'; echo '#include "gnnrt.h"'; runtime/amalgamate.sh runtime/gnnrt.h -- $<; } > $@
$(B)/share/std $(B)/share/targets: $(B)/share/%: $(wildcard lang/std/*.gnn lang/targets/*.gnn)
	@rm -rf $@ && mkdir -p $@ && cp lang/$*/*.gnn $@/ && touch $@
$(B)/share/examples: $(wildcard examples/*.gnn examples/*.safetensors)
	@mkdir -p $@ && cp examples/*.gnn examples/*.safetensors $@/ && touch $@

# ---- tests: programs that print TAP; tests/suites.sh says which suites there are ----

T := $(B)/tests
KERNEL_FLAGS := -I. -std=gnu11 -fno-math-errno -ffp-contract=off -fno-trapping-math -Wall -Wextra $(SANITIZE)
KERNEL_TESTS := $(foreach t,$(notdir $(basename $(wildcard tests/kernels/*.c))),$(foreach v,native avx2 sse2 double,$(T)/kernels/$(t)_$(v)))
RUNTIME_TESTS := $(patsubst tests/runtime/%.c,$(T)/runtime/%,$(wildcard tests/runtime/test_*.c))
PLANNER_TESTS := $(patsubst tests/planner/%.c,$(T)/planner/%,$(wildcard tests/planner/test_*.c))
PLANNER_TEST_PARTS := $(patsubst tests/planner/%.c,$(T)/objects/planner/%.o,$(filter-out tests/planner/test_% %_main.c,$(wildcard tests/planner/*.c)))
PASS_TESTS := $(patsubst tests/passes/%.c,$(T)/passes/%,$(wildcard tests/passes/test_*.c))

# One variant as users compile it; the others are half the time of all tests' compilation, and `make check-long` has them so, too.
KERNEL_LEVEL ?= -O1
$(T)/kernels/%_native: MARCH := -O3 -march=native
$(T)/kernels/%_avx2: MARCH := $(KERNEL_LEVEL) -march=x86-64-v3 -DGNN_IMMINTRIN # what older compilers take
$(T)/kernels/%_sse2: MARCH := $(KERNEL_LEVEL) -march=x86-64
$(T)/kernels/%_double: MARCH := $(KERNEL_LEVEL) -march=native -DGNN_DOUBLE
define KERNEL_RULE
$(T)/kernels/%_$(1): tests/kernels/%.c runtime/core/team.c $$(KERNELS) $(wildcard tests/kernels/*.h)
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) $$(MARCH) -o $$@ $$< runtime/core/team.c -lm -lpthread
endef
$(foreach v,native avx2 sse2 double,$(eval $(call KERNEL_RULE,$(v))))

$(T)/runtime/%: tests/runtime/%.c tests/runtime/tap.h tests/runtime/arrays.h $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $< $(B)/share/libgnnrt.a $(LINK_ZLIB) -lm -lpthread
$(T)/runtime/test_memory: tests/runtime/memory/test_memory.c tests/runtime/tap.h $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -o $@ $< $(B)/share/libgnnrt.a $(LINK_ZLIB) -lm -lpthread
$(T)/toy: $(filter-out tests/runtime/test_%,$(wildcard tests/runtime/*.c)) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LINK_ZLIB) -lm -lpthread
$(T)/langtest: tests/lang/langtest.c $(LANG_OBJECTS) $(B)/runtime/base/open.o $(B)/runtime/base/text.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -Ilang -o $@ $^ -lm
$(T)/objects/planner/%.o: tests/planner/%.c $(wildcard tests/planner/*.h compiler/planner/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -Itests/planner -c -o $@ $<
$(T)/planner/%: $(T)/objects/planner/%.o $(PLANNER_TEST_PARTS) $(PLANNER_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(LINK_JANSSON) -lm
$(T)/passes/%: tests/passes/%.c tests/passes/made.h tests/passes/memory_model.h tests/passes/model.h $(filter-out %/gnncc.o,$(GNNCC_OBJECTS)) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $(filter-out %.h,$^) $(LINK_JANSSON) $(LINK_ZLIB) -lm -lpthread
$(B)/planner_bench: tests/bench/planner_bench.c $(PLANNER_TEST_PARTS) $(filter-out %/planner/main.o,$(PLANNER_OBJECTS))
	$(CC) $(CFLAGS) $(FLAGS) -Itests/planner -o $@ $^ $(LINK_JANSSON) -lm
$(T)/make_problem: tests/views/make_problem.c $(T)/objects/planner/generate.o $(PLANNER_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -Itests/planner -o $@ $^ $(LINK_JANSSON) -lm
$(T)/generate_program: tests/programs/generate.c $(T)/objects/planner/generate.o $(PLANNER_OBJECTS) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LINK_JANSSON) $(LINK_ZLIB) -lm -lpthread
$(T)/check_report: tests/views/check_report.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $< $(LINK_JANSSON) -lm
$(T)/reference: $(wildcard tests/reference/*.c)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -o $@ $^ -lm

$(T)/compare_layers: tests/layers/compare.c $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LINK_ZLIB) -lm -lpthread

# Targets of fuzzing, one a reader (tests/fuzz): with a driver of our own, or, where FUZZ_MAIN is empty and the objects are instrumented, libFuzzer's.
FUZZ_MAIN := tests/fuzz/driver.c
FUZZ_LINK :=
FUZZ_TARGETS := $(filter-out driver files sums,$(notdir $(basename $(wildcard tests/fuzz/*.c))))
$(T)/fuzz/language $(T)/fuzz/target: FUZZ_OBJECTS = $(LANG_OBJECTS)
$(T)/fuzz/problem: FUZZ_OBJECTS = $(filter-out %/planner/main.o,$(PLANNER_OBJECTS))
$(T)/fuzz/report: FUZZ_OBJECTS = $(filter-out %/gnncc.o,$(GNNCC_OBJECTS))
$(T)/fuzz/checkpoint: FUZZ_OBJECTS = tests/runtime/toy.c
$(T)/fuzz/%: tests/fuzz/%.c tests/fuzz/files.c tests/fuzz/sums.c tests/fuzz/driver.c tests/fuzz/fuzz.h $(filter-out %/gnncc.o,$(GNNCC_OBJECTS)) $(B)/share/libgnnrt.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -Ilang $(FUZZ_LINK) -o $@ $< tests/fuzz/files.c tests/fuzz/sums.c $(FUZZ_MAIN) $(FUZZ_OBJECTS) $(B)/share/libgnnrt.a $(LINK_JANSSON) $(LINK_ZLIB) -lm -lpthread

$(T)/faults.so: tests/faults/faults.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(FLAGS) -shared -fPIC -o $@ $<

WATCHED := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# CUDA device code as host code (tests/cuda/emulate.h), under the sanitizers; optimised it would take the compiler four times as long.
EMULATION := -std=c++17 -O0 -march=native -g -Wall -Wextra -Wno-clobbered -Wno-unused-function -Wno-unknown-pragmas -ffp-contract=off $(WATCHED)
$(T)/cuda/cpu_random.o: tests/cuda/cpu_random.c $(KERNELS)
	@mkdir -p $(@D)
	$(CC) -I. -std=gnu11 -O2 -c -o $@ $<
$(T)/cuda/emulator: tests/cuda/emulator.cc tests/cuda/emulate.h
	@mkdir -p $(@D)
	$(CXX) $(EMULATION) -o $@ $<
$(T)/cuda/device: tests/cuda/device.cc tests/cuda/emulate.h tests/kernels/optimisers.h $(B)/share/gnndevice.cuh $(T)/cuda/cpu_random.o
	@mkdir -p $(@D)
	$(CXX) $(EMULATION) -I$(B)/share -o $@ $< $(T)/cuda/cpu_random.o

TEST_PROGRAMS := $(T)/cuda/emulator $(T)/cuda/device $(KERNEL_TESTS) $(T)/runtime/test_tiers $(PLANNER_TESTS) $(PASS_TESTS) $(T)/langtest $(T)/faults.so $(T)/check_report $(T)/make_problem $(T)/generate_program $(T)/reference $(T)/compare_layers

tests: all $(TEST_PROGRAMS)
kernel_tests: $(KERNEL_TESTS)
# The compiler, the tools and the runtime once more, under the address, leak and undefined-behaviour sanitizers; what works with
# several threads once more under that of threads.
watched:
	$(MAKE) B=$(B)/watched CFLAGS="-O1 -g1" SANITIZE="$(WATCHED)" all $(patsubst $(T)/%,$(B)/watched/tests/%,$(RUNTIME_TESTS) $(PLANNER_TESTS) $(PASS_TESTS) $(T)/runtime/test_memory $(T)/toy $(T)/langtest $(FUZZ_TARGETS:%=$(T)/fuzz/%))
	$(MAKE) B=$(B)/threads CFLAGS="-O1 -g1" SANITIZE="-fsanitize=thread" $(B)/threads/tests/runtime/test_tiers

# All processors, unless -j says otherwise.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc))
check:
	tests/deps.sh check
	$(MAKE) $(JOBS) tests watched
	tests/run.sh $(B)
# What takes too long for `make check`: the large matrices of faults, random programs, every model on the stand-in for a GPU.
check-long:
	tests/deps.sh check
	$(MAKE) $(JOBS) tests watched
	tests/run.sh $(B) long
# Published accuracies, trained: writes docs/accuracy.md. DATA holds the data sets, ROWS names some rows of tests/accuracy/rows; hours for all of them.
DATA ?= ../shared/data
accuracy: all
	tests/accuracy/run.sh $(B) $(DATA) $(ROWS)
# Mistakes made one by one in a copy, which tests have to notice; some minutes.
check-mutations: all
	tests/mutations/run.sh $(B)
# The share of lines that suites run, in a build of its own in which whatever is run is counted, programs of the tests too.
COVERAGE_SUITES ?= lang passes planner runtime end_to_end emitted views tutorial cuda_runtime trust
coverage:
	@mkdir -p $(B)/coverage && find $(B)/coverage -name '*.gcda' -delete && ln -sfn . $(B)/coverage/watched && ln -sfn . $(B)/coverage/threads
	$(MAKE) $(JOBS) B=$(B)/coverage CFLAGS="-O1 -g --coverage" BUNDLED="$(BUNDLED) libgcov.a" tests $(patsubst $(T)/%,$(B)/coverage/tests/%,$(RUNTIME_TESTS) $(T)/runtime/test_memory $(T)/toy)
	find $(B)/coverage/tests -name "*.gcno" -delete # suites run whatever is called test_*
	tests/run.sh $(B)/coverage $(COVERAGE_SUITES) || echo "make coverage: not every test passed; what follows is of what ran"
	tests/coverage.sh $(B)/coverage
demo: deps
	$(MAKE) $(JOBS) all
	tests/demo.sh $(B)
deps:
	tests/deps.sh

# On a machine with a GPU: docs/gpu_hour.md. Where gnncc cannot be built it can be carried: `make gpu-kit` elsewhere, and BUILD/{gnncc,gnndata,share}.
check-gpu bench-gpu:
	tests/gpu/$(@:-gpu=).sh $(B) $(if $(SLICE),--slice $(SLICE)) $(if $(RESUME),--resume)
gpu-kit: all cuda
	cp "$$($(CC) -print-file-name=libz.a)" $(B)/share/
	tests/gpu/stamp.sh > $(B)/share/gpu-kit

# Programs beside the frameworks, in turn, into docs/performance.md; hours. Options (--help) in BENCH, "--layers 2,3 --widths 16,128,256" for the longer list.
bench: all
	tests/bench/peers.sh $(B) --write docs/performance.md $(BENCH)

# The tables of docs/planner.md and its plot; some minutes.
bench-planner: $(B)/planner_bench
	for table in small large size budgets "plot docs/planner-time.svg"; do $(B)/planner_bench $$table || exit; done

# Hours of what `make check` does for seconds: every reader under the sanitizers for FUZZ_SECONDS, by libFuzzer where clang has it; damaged
# programs and damaged planning problems; random programs.
FUZZ_SECONDS ?= 3600
FUZZ_ROUNDS ?= 200000
FUZZ_PROGRAMS ?= 5000
fuzzers:
	$(MAKE) B=$(B)/fuzzers CC=clang CFLAGS="-O1 -g" SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" FUZZ_MAIN= FUZZ_LINK=-fsanitize=fuzzer \
	  $(FUZZ_TARGETS:%=$(B)/fuzzers/tests/fuzz/%)
fuzz: tests watched
	tests/fuzz/long.sh $(B) $(FUZZ_SECONDS)
	FUZZ_TIMEOUT=36000 FUZZ_COUNT=$(FUZZ_ROUNDS) tests/lang/run.sh $(B)/watched/tests/langtest | tail -3
	$(B)/watched/tests/planner/test_planner_input $(FUZZ_ROUNDS) | tail -3
	tests/trust/programs.sh $(B) 1001 $$((1000 + $(FUZZ_PROGRAMS)))

# ---- installing: GNU's folders; DESTDIR stands before all of them ----

# What is made of what the programs say of themselves: man pages, completion, syntax files (packaging/).
U := $(B)/unix
$(U)/made: $(B)/gnncc $(B)/gnndata $(SHARE) $(wildcard packaging/*) docs/language.md docs/tutorial.md lang/scan.l
	rm -rf $(U) && mkdir -p $(U)
	CFLAGS=-O0 GNNCC_FLAGS= $(B)/gnncc -q examples/gcn_karate.gnn -o $(U)/program
	packaging/man.sh $(B) $(U) $(U)/program
	packaging/completions.sh $(B) $(U) $(U)/program
	packaging/syntax.sh $(B) $(U)
	touch $@

prefix ?= /usr/local
PREFIX ?= $(prefix)
exec_prefix ?= $(PREFIX)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(PREFIX)/include
datarootdir ?= $(PREFIX)/share
datadir ?= $(datarootdir)
mandir ?= $(datarootdir)/man
docdir ?= $(datarootdir)/doc/gnncc
bashdir ?= $(datarootdir)/bash-completion/completions
zshdir ?= $(datarootdir)/zsh/site-functions
fishdir ?= $(datarootdir)/fish/vendor_completions.d
vimdir ?= $(datarootdir)/vim/vimfiles
lispdir ?= $(datarootdir)/emacs/site-lisp
katedir ?= $(datarootdir)/org.kde.syntax-highlighting/syntax
gtkdir ?= $(datarootdir)/gtksourceview-4/language-specs
VERSION := $(shell sed -n 's/.*GNNCC_VERSION "\(.*\)"/\1/p' compiler/version.h)
# gnncc looks for ../share/gnncc from where it is: that is $(datadir)/gnncc, however the folders are called.
FILL = sed -e 's|@prefix@|$(PREFIX)|; s|@libdir@|$(libdir)|; s|@includedir@|$(includedir)|; s|@version@|$(VERSION)|; s|@up@|'"$$(realpath -m --relative-to=$(libdir)/cmake/Gnncc $(PREFIX))"'|; s|@bin@|'"$$(realpath -m --relative-to=$(PREFIX) $(bindir))"'|; s|@lib@|'"$$(realpath -m --relative-to=$(PREFIX) $(libdir))"'|; s|@include@|'"$$(realpath -m --relative-to=$(PREFIX) $(includedir))"'|'
IN = $(DESTDIR)$(1)
INSTALLED = $(bindir)/gnncc $(bindir)/gnndata $(libdir)/libgnnrt.a $(libdir)/libgnncuda.a $(libdir)/pkgconfig/gnnrt.pc $(libdir)/cmake/Gnncc $(includedir)/gnncc $(datadir)/gnncc $(docdir) \
  $(mandir)/man1/gnncc.1 $(mandir)/man1/gnndata.1 $(mandir)/man1/gnncc-program.1 $(mandir)/man5/gnn.5 $(mandir)/man7/gnncc-tutorial.7 $(bashdir)/gnncc $(bashdir)/gnndata \
  $(zshdir)/_gnncc $(zshdir)/_gnndata $(fishdir)/gnncc.fish $(fishdir)/gnndata.fish $(vimdir)/syntax/gnn.vim $(vimdir)/ftdetect/gnn.vim $(vimdir)/compiler/gnncc.vim $(lispdir)/gnn-mode.el \
  $(katedir)/gnn.xml $(gtkdir)/gnn.lang
install: all $(U)/made
	install -d $(foreach d,$(bindir) $(libdir)/pkgconfig $(libdir)/cmake/Gnncc $(includedir)/gnncc $(datadir)/gnncc/std $(datadir)/gnncc/targets $(datadir)/gnncc/examples $(datadir)/gnncc/textmate $(docdir)/pictures \
	  $(mandir)/man1 $(mandir)/man5 $(mandir)/man7 $(bashdir) $(zshdir) $(fishdir) $(vimdir)/syntax $(vimdir)/ftdetect $(vimdir)/compiler $(lispdir) $(katedir) $(gtkdir),$(call IN,$(d)))
	install $(B)/gnncc $(B)/gnndata $(call IN,$(bindir))
	install -m 644 $(B)/share/libgnnrt.a $(wildcard $(B)/share/libgnncuda.a) $(call IN,$(libdir))
	install -m 644 $(B)/share/gnnrt.h $(call IN,$(includedir))/gnncc
	install -m 644 $(B)/share/gnnrt.c $(B)/share/measure.c $(B)/share/gnndevice.cuh $(B)/share/gnncuda.h $(B)/share/gnncuda.c $(B)/share/gnnmpi.c $(B)/share/gnnnccl.c $(wildcard $(B)/share/measure_cuda.*) $(call IN,$(datadir))/gnncc
	cd $(call IN,$(datadir))/gnncc && ln -sf "$$(realpath -m --relative-to=$(datadir)/gnncc $(includedir)/gnncc/gnnrt.h)" gnnrt.h && \
	  for library in libgnnrt.a $(notdir $(wildcard $(B)/share/libgnncuda.a)); do ln -sf "$$(realpath -m --relative-to=$(datadir)/gnncc $(libdir))/$$library" $$library; done
	install -m 644 share/to_gnncc.py share/to_gnncc_sets.py $(call IN,$(datadir))/gnncc
	install -m 644 lang/std/*.gnn $(call IN,$(datadir))/gnncc/std
	install -m 644 lang/targets/*.gnn $(call IN,$(datadir))/gnncc/targets
	install -m 644 examples/*.gnn examples/*.safetensors $(call IN,$(datadir))/gnncc/examples
	install -m 644 $(U)/gnn.tmLanguage.json $(call IN,$(datadir))/gnncc/textmate
	examples=$$(realpath -m --relative-to=$(docdir) $(datadir)/gnncc/examples); for page in README.md docs/*.md; do \
	  sed "s|](docs/|](|g; s|](\.\./README|](README|g; s|](\.\./examples/|]($$examples/|g" $$page >$(call IN,$(docdir))/$$(basename $$page) || exit; done
	install -m 644 docs/*.svg $(call IN,$(docdir))
	install -m 644 docs/pictures/* $(call IN,$(docdir))/pictures
	$(FILL) packaging/gnnrt.pc.in > $(call IN,$(libdir))/pkgconfig/gnnrt.pc
	for file in GnnccConfig GnnccConfigVersion; do $(FILL) packaging/$$file.cmake.in > $(call IN,$(libdir))/cmake/Gnncc/$$file.cmake || exit; done
	install -m 644 $(U)/gnncc.1 $(U)/gnndata.1 $(U)/gnncc-program.1 $(call IN,$(mandir))/man1
	install -m 644 $(U)/gnn.5 $(call IN,$(mandir))/man5
	install -m 644 $(U)/gnncc-tutorial.7 $(call IN,$(mandir))/man7
	install -m 644 $(U)/gnncc.bash $(call IN,$(bashdir))/gnncc
	install -m 644 $(U)/gnndata.bash $(call IN,$(bashdir))/gnndata
	install -m 644 $(U)/_gnncc $(U)/_gnndata $(call IN,$(zshdir))
	install -m 644 $(U)/gnncc.fish $(U)/gnndata.fish $(call IN,$(fishdir))
	install -m 644 $(U)/vim/syntax/gnn.vim $(call IN,$(vimdir))/syntax
	install -m 644 $(U)/vim/ftdetect/gnn.vim $(call IN,$(vimdir))/ftdetect
	install -m 644 $(U)/vim/compiler/gnncc.vim $(call IN,$(vimdir))/compiler
	install -m 644 $(U)/gnn-mode.el $(call IN,$(lispdir))
	install -m 644 $(U)/gnn.xml $(call IN,$(katedir))
	install -m 644 $(U)/gnn.lang $(call IN,$(gtkdir))
	@echo "try: gnncc --example"
# Files go, and of folders those that are gnncc's own.
uninstall:
	rm -rf $(foreach f,$(INSTALLED),$(call IN,$(f)))

-include $(GNNCC_OBJECTS:.o=.d) $(RUNTIME_OBJECTS:.o=.d) $(CUDA_RUNTIME:%.c=$(B)/%.d) $(GNNDATA:%.c=$(B)/%.d)

clean:
	rm -rf $(B)/lang $(B)/compiler $(B)/runtime $(B)/share $(B)/unix $(B)/tests $(B)/watched $(B)/fuzzers $(B)/threads $(B)/optimised $(B)/coverage $(B)/check $(B)/gnncc $(B)/gnndata $(B)/planner_bench

.PHONY: always fuzzers all cuda without_cuda tests kernel_tests watched check check-long check-mutations accuracy coverage check-gpu bench bench-gpu bench-planner gpu-kit demo deps fuzz install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY: $(PLANNER_TEST_PARTS) $(PLANNER_TESTS:$(T)/%=$(T)/objects/%.o)
