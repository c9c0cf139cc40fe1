/* A stack of one kind of graph layer with relu between, as PyTorch Geometric defines the layer, in dense algebra.
 *
 *   gcn        H = P X W' + b             P = D^-1/2 (A + I) D^-1/2, D the in-degrees of A + I
 *   sage       H = P X L' + b + X R'      P = A with rows divided by the in-degree; a row of zeros stays zero
 *   sage_max   H = M L' + b + X R'        M[i] the largest X[j] of the edges from j to i, number by number, 0 without one;
 *                                         edges that tie share the gradient evenly
 *   graphconv  H = P X L' + b + X R'      P = A
 *   gin        H = relu(S V' + c) W' + b  S = (1 + eps) X + P X, P = A
 *
 * A[i][j] counts the edges from j to i; a weight matrix is [out, in] and W' is its transpose. */
#ifndef REFERENCE_MODEL_H
#define REFERENCE_MODEL_H
#include "arrays.h"
#include <stdbool.h>

enum { MAX_LAYERS = 8, MAX_SLOTS = 5 };

typedef enum { KIND_GCN, KIND_SAGE, KIND_SAGE_MAX, KIND_GRAPHCONV, KIND_GIN, KIND_COUNT } Kind;

/* Where a parameter stands in the formulas above; two of them per layer at most, so four and eps. */
typedef enum { SLOT_W, SLOT_B, SLOT_V, SLOT_C, SLOT_EPS } Slot;

typedef struct {
    bool used, trained;
    Tensor value, grad;
    Tensor m, v; /* the optimiser's moments */
} Param;

typedef struct {
    Param params[MAX_SLOTS];
    size_t in, out;
    Tensor gathered; /* what the first matrix is applied to: X itself, P X or S */
    Tensor hidden;   /* gin: after its inner relu */
    Tensor output;   /* H, after the relu unless the layer is the last */
} Layer;

typedef struct {
    Kind kind;
    size_t n, layer_count;
    Layer layers[MAX_LAYERS];
    Tensor propagation; /* P, n x n */
} Model;

Kind kind_named(const char *name);

/* Edges are [2, E], row 0 the sources. */
Tensor propagation_matrix(Kind, const Tensor *edges, size_t n);

/* first: the name of the first layer, "conv1"; its number counts up from there. Both take P over. */
Model model_from_weights(Kind, Tensor propagation, size_t in, const char *path, const char *first, bool train_eps);
Model model_random(Kind, Tensor propagation, size_t in, size_t hidden, size_t out, size_t layer_count, unsigned seed,
                   const char *first, bool train_eps);
void model_write(const Model *, const char *path);
void model_free(Model *);

const Tensor *model_forward(Model *, const Tensor *x);                        /* the logits, owned by the model */
void model_backward(Model *, const Tensor *x, const Tensor *logits_gradient); /* after forward; fills every grad */

/* Mean softmax cross entropy over the rows with mask != 0; gradient may be NULL. */
double cross_entropy(const Tensor *logits, const Tensor *y, const Tensor *mask, Tensor *gradient);

#endif
