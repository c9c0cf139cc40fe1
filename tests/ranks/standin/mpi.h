/* mpi.h: what runtime/net/mpi.c calls of MPI, for tests: mpi.c beside it carries messages between processes that MPI_Init_thread forks. */
#ifndef STANDIN_MPI_H
#define STANDIN_MPI_H

typedef struct standin_request *MPI_Request;
typedef int MPI_Datatype, MPI_Comm, MPI_Info, MPI_Errhandler; /* a datatype is its bytes */
typedef struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  int count; /* bytes */
} MPI_Status;

enum { MPI_SUCCESS, MPI_ERR_OTHER, MPI_ERR_TRUNCATE, MPI_ERR_IN_STATUS, MPI_ERR_PENDING, MPI_MAX_ERROR_STRING = 128 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_BYTE = 1, MPI_COMM_WORLD = 0, MPI_COMM_TYPE_SHARED = 0, MPI_INFO_NULL = 0, MPI_ERRORS_RETURN = 0 };
enum { MPI_INT = sizeof(int), MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -1 };
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_REQUEST_NULL ((MPI_Request)0)

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Error_string(int fault, char *text, int *length);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *other);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype *type);
int MPI_Type_commit(MPI_Datatype *type);
int MPI_Type_free(MPI_Datatype *type);
int MPI_Send_init(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Recv_init(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Startall(int count, MPI_Request *requests);
int MPI_Iallgatherv(const void *in_place, int none, MPI_Datatype type, void *all, const int *counts, const int *displacements, MPI_Datatype unit, MPI_Comm comm, MPI_Request *request);
int MPI_Isend(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Recv(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *is_there, MPI_Status *status);
int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int count, MPI_Datatype type, MPI_Comm comm);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);
int MPI_Test(MPI_Request *request, int *is_over, MPI_Status *status);
int MPI_Testall(int count, MPI_Request *requests, int *is_over, MPI_Status *statuses);
int MPI_Request_get_status(MPI_Request request, int *is_over, MPI_Status *status);
int MPI_Request_free(MPI_Request *request);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);

#endif
