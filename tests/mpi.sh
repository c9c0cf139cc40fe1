# mpi.sh: MPI for programs of more ranks than processors; sourced. Open MPI's, or MPICC=mpicc.mpich MPIRUN=mpirun.mpich: by MPICH.
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
mpirun=$(command -v "${MPICC:-mpicc}" >/dev/null && command -v "${MPIRUN:-mpirun}") # empty: there is none
oversubscribe=$([ -z "$mpirun" ] || ! "$mpirun" --version | grep -q "Open MPI" || echo --oversubscribe)
