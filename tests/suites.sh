# suites.sh: which suites there are and how each is run; sourced by run.sh. $build is the build directory.

# The longest first, so that no processor is left alone with one at the end.
suites="cuda_around plans cuda end_to_end limited trust passes emitted views tutorial planner_watched planner cuda_runtime batches layers ranks unix runtime calibrate order lang_watched links relations processors ingest fuzz sources messages training lang kernels reference dependencies"

# What takes longer than `make check` may: `make check-long`. All of it has a smaller form above, for each target.
# cuda_all: the models of the suite cuda and six more, residual connections and every road, on the stand-in (half an hour of compiling);
#   programs that are cut with features on the host alone, sparse features on the device or on the host, halos with codes there or in bf16, all data on the SSD beside a host, gradients clipped by norm (cuda_around: with more away);
#   programs of which layers are cut otherwise than others, and learned values on the host (cuda_around: of which all are cut alike, on the SSD by a ring); of every program that is cut whether its memory is as planned (cuda_around: half of them);
#   the narrow indices of every model in bf16 (cuda_around: of those whose steps the suite cuda runs);
#   every model by nvcc and NVRTC and for three architectures (cuda: models that have every kernel between them, mostly for one);
#   the emulation of every model optimised, for the warnings that only then come (cuda: of one, the others under the sanitizers as it is);
#   the least memory of models in bf16, and of all by recomputation (cuda: sage4's, wide's); every variant of kernels, and padded rows by libraries
#   and in tf32 (cuda_around: the second and last variant, bf16); nvcc as users call it (cuda: with little optimised), NVRTC of a second model and for bf16;
#   models whose kernels are much like those of others under the sanitizers (cuda: with the same comparison, without them).
# end_to_end_all: every varied model by the C compiler's -O3 (end_to_end: three; of the others -O0, which is a third of the time); a plan of real data with a tenth of their memory.
# emitted_all: the sources of SAGE and GraphConv, too, under each compiler and sanitizer, clang at -O3, and twice the names (emitted: GCN, GIN, a name of each kind).
# plans_all: every model without results in the places of operands (plans: four), and on each road (plans: sage4; the others on one or two); values on edges and what is learned in bf16, and both
#   models with re-runs and a host there (plans: one each; whole values, rows and halos, sparse features, what is computed once); the cut that is chosen where parts just fit, and
#   where nothing does with data on the device (plans: where parts fit with room to spare; that data leave the device by themselves, and that a budget near the least works); plans of more effort; more programs of parts with the least that there is for them (plans: one or two of each cut, the others
#   with up to a third more); advice where the search for the least takes long.
# plans_all, too: that a hundredth less than the smallest device that a refusal names is too little (plans: that what is named works); that the least of programs whose pieces are edges is less than 0.7 of what whole values need (plans: of nodes, and of sparse features).
# occupancy: the registers of every kernel of the examples for two architectures, against docs/kernels.md (cuda: it compiles).
# cuda_sweep: every example, and GCN, SAGE and GIN of two to eight layers under four budgets on the stand-in, in seven orders of streams; programs
#   without each wait of the rings to the SSD (cuda_around has three layers of GIN and two orders, and the waits of slots that are used again).
# planner_all: the planner's tests in full size, also under the sanitizers, and all random changes of plans (planner has a quarter, planner_watched a tenth, and no chain of 300 with more effort,
#   passes a third of the changes, and a seventh of them and a third of the waits under the sanitizers).
# trust_long: 1,000 random programs (trust has twelve), the ways of NaN in programs of a user's optimisation (-O1), every bit of a checkpoint (one in a hundred), up to 150 moments of each fault (a few).
# kernels_all: the tests of kernels for each instruction set and in double at -O3 (kernels: for this machine's; the others at -O1).
# processors_all: by CMake; for ARM under QEMU SVE of known lengths, libraries and sources, and the tests of the kernels (processors: a program with NEON and SVE).
# ranks_long: 16 ranks under SMPI; two hundred orders of messages (ranks: five), and each exchange left out (ranks: one in two or three); every standard layer in all its forms, and three data sets of the user's (GNN_DATA), on the stand-in for MPI; kill -9 at twenty moments (ranks: three).
# limited_all: ten kills of a program with a tenth of the memory, and five of each other one (limited: six, and three).
# toolkits: headers of older CUDA toolkits, which have to be fetched.
long_suites="cuda_all end_to_end_all emitted_all plans_all occupancy cuda_sweep planner_all trust_long kernels_all processors_all ranks_long toolkits limited_all"

. tests/each.sh

suite_lang() { tests/lang/run.sh "$build/tests/langtest"; }
suite_lang_watched() { tests/lang/run.sh "$build/watched/tests/langtest"; }
suite_fuzz() { tests/fuzz/run.sh "$build/watched/tests/fuzz" "${FUZZ_EACH:-2}"; }
suite_unix() {
  local status=0
  tests/unix/options.sh "$build" || status=1
  tests/unix/install.sh "$build" || status=1
  if command -v python3 >/dev/null; then python3 -B tests/unix/lsp.py "$build/gnncc" "$build/gnndata" || status=1; fi
  return $status
}
suite_messages() { tests/messages/run.sh "$build"; }
suite_passes() { # a third of the random changes, and a seventh under the sanitizers, with a third of the waits; memory that is freed is kept for the next of thousands of plans
  local status=0
  MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000 GNNCC_TEST_SCALE=33 each "$build"/tests/passes/test_* || status=1
  GNNCC_TEST_SCALE=14 each "$build"/watched/tests/passes/test_* || status=1
  return $status
}
suite_kernels() { each "$build"/tests/kernels/*; }
suite_kernels_all() { make -s B="$build/optimised" KERNEL_LEVEL=-O3 kernel_tests && each "$build"/optimised/tests/kernels/*; }
suite_processors() { tests/processors/run.sh "$build"; }
suite_processors_all() { tests/processors/run.sh "$build" long; }
suite_runtime() { tests/runtime/check.sh "$build"; }
suite_cuda_runtime() { tests/cuda/runtime.sh "$build"; }
suite_reference() { tests/reference/check.sh "$build/tests/reference"; }
suite_planner() {
  local status=0
  GNNCC_TEST_SCALE=25 each "$build"/tests/planner/test_* || status=1
  tests/planner/citations.sh || status=1
  return $status
}
suite_planner_watched() { GNNCC_TEST_SCALE=10 each "$build"/watched/tests/planner/test_*; }
suite_planner_all() { each "$build"/tests/planner/test_* "$build"/tests/passes/test_verifiers "$build"/watched/tests/planner/test_* "$build"/watched/tests/passes/test_verifiers; }
suite_calibrate() { tests/calibrate/run.sh "$build"; }
suite_views() { tests/views/run.sh "$build"; }
suite_end_to_end() { tests/end_to_end/run.sh "$build"; }
suite_end_to_end_all() { END_TO_END_ALL=1 tests/end_to_end/run.sh "$build"; }
suite_layers() { tests/layers/run.sh "$build"; }
suite_plans() { tests/end_to_end/plans.sh "$build"; }
suite_training() { tests/training/run.sh "$build"; }
suite_batches() { tests/batches/run.sh "$build"; }
suite_limited() { tests/limited/run.sh "$build"; }
suite_limited_all() { KILLS=10 tests/limited/run.sh "$build"; }
suite_relations() { tests/relations/run.sh "$build"; }
suite_ranks() {
  local status=0
  tests/ranks/run.sh "$build" || status=1
  tests/ranks/standin.sh "$build" || status=1
  return $status
}
suite_ranks_long() {
  local status=0
  tests/ranks/standin.sh "$build" long || status=1
  tests/ranks/long.sh "$build" || status=1
  RANKS_KILLS=20 tests/ranks/run.sh "$build" || status=1
  return $status
}
suite_links() { tests/links/run.sh "$build"; }
suite_plans_all() { PLANS_ALL=1 tests/end_to_end/plans.sh "$build"; }
suite_sources() { tests/sources/run.sh "$build"; }
suite_ingest() {
  local status=0
  tests/ingest/run.sh "$build" || status=1
  tests/ingest/beyond.sh "$build" || status=1
  return $status
}
suite_order() {
  local status=0
  tests/order/run.sh "$build" || status=1
  tests/order/disk.sh "$build" || status=1
  return $status
}
suite_emitted() { tests/emitted/run.sh "$build"; }
suite_emitted_all() { EMITTED_ALL=1 tests/emitted/run.sh "$build"; }
suite_cuda() { tests/cuda/run.sh "$build"; }
suite_cuda_all() {
  local status=0
  CUDA_ALL=1 tests/cuda/run.sh "$build" || status=1
  CUDA_ALL=1 tests/cuda/padded.sh "$build" || status=1
  CUDA_ALL=1 tests/cuda/cuts.sh "$build" || status=1
  CUDA_ALL=1 tests/cuda/tune.sh "$build" || status=1
  CUDA_ALL=1 tests/cuda/indices.sh "$build" || status=1
  return $status
}
suite_cuda_around() {
  local status=0
  tests/cuda/indices.sh "$build" || status=1
  SEEDS="0 3" tests/cuda/sweep.sh "$build" GIN3 || status=1
  RINGS=again tests/cuda/rings.sh "$build" || status=1
  tests/cuda/tune.sh "$build" || status=1
  tests/cuda/padded.sh "$build" || status=1
  tests/cuda/cuts.sh "$build" || status=1
  tests/cuda/home.sh "$build" || status=1
  tests/cuda/ranks.sh "$build" || status=1
  tests/gpu/run.sh "$build" || status=1
  return $status
}
suite_occupancy() { tests/cuda/occupancy.sh "$build"; }
suite_trust() { tests/trust/run.sh "$build"; }
suite_trust_long() { tests/trust/run.sh "$build" long; }
suite_cuda_sweep() {
  local status=0
  tests/cuda/sweep.sh "$build" || status=1
  tests/cuda/rings.sh "$build" GCN8 GIN8 || status=1
  return $status
}
suite_toolkits() { tests/cuda/toolkits.sh "$build"; }
suite_dependencies() { tests/dependencies.sh "$build"; }
suite_tutorial() {
  local status=0
  tests/tutorial/run.sh "$build" || status=1
  tests/tutorial/figures.sh || status=1
  "${TO_GNNCC_PYTHON:-python3}" -B tests/tutorial/gallery_pyg.py "$build" || status=1
  "${TO_GNNCC_PYTHON:-python3}" -B tests/tutorial/coming_pyg.py "$build" || status=1
  return $status
}
