#include "model.h"

#include "dense.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { SHAPE_NONE, SHAPE_OUT_IN, SHAPE_OUT_OUT, SHAPE_OUT, SHAPE_ONE } Shape;

typedef struct {
    const char *name;
    struct {
        const char *key;
        Shape shape;
    } slots[MAX_SLOTS];
} KindFacts;

static const KindFacts kinds[KIND_COUNT] = {
    [KIND_GCN] = {"gcn", {[SLOT_W] = {"lin.weight", SHAPE_OUT_IN}, [SLOT_B] = {"bias", SHAPE_OUT}}},
    [KIND_SAGE] = {"sage",
                   {[SLOT_W] = {"lin_l.weight", SHAPE_OUT_IN},
                    [SLOT_B] = {"lin_l.bias", SHAPE_OUT},
                    [SLOT_V] = {"lin_r.weight", SHAPE_OUT_IN}}},
    [KIND_SAGE_MAX] = {"sage_max",
                       {[SLOT_W] = {"lin_l.weight", SHAPE_OUT_IN},
                        [SLOT_B] = {"lin_l.bias", SHAPE_OUT},
                        [SLOT_V] = {"lin_r.weight", SHAPE_OUT_IN}}},
    [KIND_GRAPHCONV] = {"graphconv",
                        {[SLOT_W] = {"lin_rel.weight", SHAPE_OUT_IN},
                         [SLOT_B] = {"lin_rel.bias", SHAPE_OUT},
                         [SLOT_V] = {"lin_root.weight", SHAPE_OUT_IN}}},
    [KIND_GIN] = {"gin",
                  {[SLOT_W] = {"nn.lins.1.weight", SHAPE_OUT_OUT},
                   [SLOT_B] = {"nn.lins.1.bias", SHAPE_OUT},
                   [SLOT_V] = {"nn.lins.0.weight", SHAPE_OUT_IN},
                   [SLOT_C] = {"nn.lins.0.bias", SHAPE_OUT},
                   [SLOT_EPS] = {"eps", SHAPE_ONE}}},
};

Kind kind_named(const char *name)
{
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return (Kind)kind;
    fail(name, "no such model; known: gcn sage sage_max graphconv gin");
}

Tensor propagation_matrix(Kind kind, const Tensor *edges, size_t n)
{
    Tensor p = tensor_new(2, n, n);
    double *degree = calloc(n + 1, sizeof *degree);
    if (!degree)
        fail("memory", "no room for %zu degrees", n);
    for (size_t e = 0; e < edges->cols; e++) {
        double from = edges->v[e], to = edges->v[edges->cols + e];
        if (from < 0 || to < 0 || from >= (double)n || to >= (double)n)
            fail("edge_index.npy", "edge %zu is %g -> %g, but nodes run 0 to %zu", e, from, to, n - 1);
        p.v[(size_t)to * n + (size_t)from] += 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (kind == KIND_GCN)
            p.v[i * n + i] = 1; /* PyG adds only the loops that are missing, so never two */
        for (size_t j = 0; j < n; j++)
            degree[i] += p.v[i * n + j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *a = &p.v[i * n + j];
            if (*a != 0 && kind == KIND_GCN)
                *a /= sqrt(degree[i] * degree[j]);
            else if (*a != 0 && kind == KIND_SAGE)
                *a /= degree[i];
        }
    free(degree);
    return p;
}

/* ---- parameters ---- */

static Tensor shaped(Shape shape, size_t in, size_t out)
{
    switch (shape) {
    case SHAPE_OUT_IN:
        return tensor_new(2, out, in);
    case SHAPE_OUT_OUT:
        return tensor_new(2, out, out);
    case SHAPE_OUT:
        return tensor_new(1, out, 1);
    default:
        return tensor_new(1, 1, 1);
    }
}

/* "conv1" and 2 give "conv3.": the number at the end of `first` counts the layers. */
static void parameter_name(char name[NAME_SIZE], const char *first, size_t layer, const char *key)
{
    size_t stem = strlen(first);
    while (stem > 0 && first[stem - 1] >= '0' && first[stem - 1] <= '9')
        stem--;
    unsigned long number = strtoul(first + stem, NULL, 10) + layer;
    int used = snprintf(name, NAME_SIZE, "%.*s%lu.%s", (int)stem, first, number, key);
    if (used < 0 || used >= NAME_SIZE)
        fail(first, "too long for the name of a layer");
}

static void layer_init(Model *model, size_t index, size_t in, size_t out, const char *first, bool train_eps)
{
    Layer *layer = &model->layers[index];
    layer->in = in;
    layer->out = out;
    layer->gathered = tensor_new(2, model->n, model->kind == KIND_GCN ? out : in);
    layer->hidden = tensor_new(2, model->kind == KIND_GIN ? model->n : 0, out);
    layer->output = tensor_new(2, model->n, out);
    for (int slot = 0; slot < MAX_SLOTS; slot++) {
        Shape shape = kinds[model->kind].slots[slot].shape;
        Param *p = &layer->params[slot];
        if (shape == SHAPE_NONE)
            continue;
        p->used = true;
        p->trained = slot != SLOT_EPS || train_eps;
        p->value = shaped(shape, in, out);
        p->grad = shaped(shape, in, out);
        p->m = shaped(shape, in, out);
        p->v = shaped(shape, in, out);
        parameter_name(p->value.name, first, index, kinds[model->kind].slots[slot].key);
    }
}

static const Tensor *find(const Tensor *tensors, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    return NULL;
}

/* Fills the layer from the file and returns how many tensors it took. */
static size_t layer_load(Layer *layer, const Tensor *tensors, size_t count, const char *path)
{
    size_t taken = 0;
    for (int slot = 0; slot < MAX_SLOTS; slot++) {
        Tensor *want = &layer->params[slot].value;
        if (!layer->params[slot].used)
            continue;
        const Tensor *have = find(tensors, count, want->name);
        if (!have && slot == SLOT_EPS && !layer->params[slot].trained)
            continue; /* a constant 0 need not be in the file */
        if (!have)
            fail(path, "has no %s", want->name);
        if (have->rows != want->rows || have->cols != want->cols)
            fail(path, "%s is [%zu, %zu], expected [%zu, %zu]", want->name, have->rows, have->cols, want->rows,
                 want->cols);
        memcpy(want->v, have->v, want->rows * want->cols * sizeof *want->v);
        taken++;
    }
    return taken;
}

Model model_from_weights(Kind kind, Tensor propagation, size_t in, const char *path, const char *first, bool train_eps)
{
    Model model = {.kind = kind, .n = propagation.rows, .propagation = propagation};
    Tensor *tensors;
    size_t count = safetensors_read(path, &tensors), taken = 0;
    for (size_t i = 0; i < MAX_LAYERS; i++) {
        char name[NAME_SIZE];
        parameter_name(name, first, i, kinds[kind].slots[SLOT_W].key);
        const Tensor *w = find(tensors, count, name);
        if (!w)
            break;
        layer_init(&model, i, in, w->rows, first, train_eps);
        taken += layer_load(&model.layers[i], tensors, count, path);
        in = w->rows;
        model.layer_count = i + 1;
    }
    if (taken == 0 || taken != count)
        fail(path, "holds %zu tensors, %zu of them are named as in this model, which starts at %s", count, taken, first);
    for (size_t i = 0; i < count; i++)
        tensor_free(&tensors[i]);
    free(tensors);
    return model;
}

/* Uniform in [-1, 1), from a 64-bit linear congruential generator (Knuth's MMIX constants), high bits. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

Model model_random(Kind kind, Tensor propagation, size_t in, size_t hidden, size_t out, size_t layer_count, unsigned seed,
                   const char *first, bool train_eps)
{
    Model model = {.kind = kind, .n = propagation.rows, .layer_count = layer_count, .propagation = propagation};
    uint64_t state = seed;
    uniform(&state);
    for (size_t i = 0; i < layer_count; i++) {
        layer_init(&model, i, i == 0 ? in : hidden, i + 1 == layer_count ? out : hidden, first, train_eps);
        for (int slot = 0; slot < MAX_SLOTS; slot++) {
            Tensor *t = &model.layers[i].params[slot].value;
            if (!model.layers[i].params[slot].used || !model.layers[i].params[slot].trained)
                continue;
            /* Vectors are not zero, so that a bias in the wrong place shows. */
            double bound = t->ndim == 1 ? 0.1 : sqrt(6.0 / (double)(t->rows + t->cols));
            for (size_t k = 0; k < t->rows * t->cols; k++)
                t->v[k] = (float)(bound * uniform(&state)); /* a float, so that a file holds the same number */
        }
    }
    return model;
}

void model_write(const Model *model, const char *path)
{
    Tensor tensors[MAX_LAYERS * MAX_SLOTS];
    size_t count = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        for (int slot = 0; slot < MAX_SLOTS; slot++)
            if (model->layers[i].params[slot].used)
                tensors[count++] = model->layers[i].params[slot].value;
    safetensors_write(path, tensors, count);
}

void model_free(Model *model)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        Layer *layer = &model->layers[i];
        tensor_free(&layer->gathered);
        tensor_free(&layer->hidden);
        tensor_free(&layer->output);
        for (int slot = 0; slot < MAX_SLOTS; slot++) {
            tensor_free(&layer->params[slot].value);
            tensor_free(&layer->params[slot].grad);
            tensor_free(&layer->params[slot].m);
            tensor_free(&layer->params[slot].v);
        }
    }
    tensor_free(&model->propagation);
}

/* ---- layers ---- */

static void layer_forward(Layer *layer, Kind kind, const Tensor *p, const Tensor *x)
{
    const Param *params = layer->params;
    clear(&layer->gathered);
    clear(&layer->output);
    switch (kind) {
    case KIND_GCN:
        linear(x, &params[SLOT_W].value, &layer->gathered);
        multiply(p, &layer->gathered, &layer->output);
        break;
    case KIND_SAGE:
    case KIND_SAGE_MAX:
    case KIND_GRAPHCONV:
        kind == KIND_SAGE_MAX ? largest(p, x, &layer->gathered) : multiply(p, x, &layer->gathered);
        linear(&layer->gathered, &params[SLOT_W].value, &layer->output);
        linear(x, &params[SLOT_V].value, &layer->output);
        break;
    case KIND_GIN:
        multiply(p, x, &layer->gathered);
        add_scaled(&layer->gathered, 1 + params[SLOT_EPS].value.v[0], x);
        clear(&layer->hidden);
        linear(&layer->gathered, &params[SLOT_V].value, &layer->hidden);
        add_bias(&layer->hidden, &params[SLOT_C].value);
        relu(&layer->hidden);
        linear(&layer->hidden, &params[SLOT_W].value, &layer->output);
        break;
    case KIND_COUNT:
        break;
    }
    add_bias(&layer->output, &params[SLOT_B].value);
}

static void gin_backward(Layer *layer, const Tensor *p, const Tensor *x, const Tensor *dh, Tensor *dx)
{
    Param *params = layer->params;
    Tensor dhidden = tensor_new(2, dh->rows, layer->out), ds = tensor_new(2, dh->rows, layer->in);
    linear_weight_gradient(&layer->hidden, dh, &params[SLOT_W].grad);
    multiply(dh, &params[SLOT_W].value, &dhidden);
    relu_backward(&layer->hidden, &dhidden);
    linear_weight_gradient(&layer->gathered, &dhidden, &params[SLOT_V].grad);
    bias_gradient(&dhidden, &params[SLOT_C].grad);
    multiply(&dhidden, &params[SLOT_V].value, &ds);
    for (size_t i = 0; i < ds.rows * ds.cols; i++)
        params[SLOT_EPS].grad.v[0] += ds.v[i] * x->v[i];
    if (dx) {
        multiply_transposed(p, &ds, dx);
        add_scaled(dx, 1 + params[SLOT_EPS].value.v[0], &ds);
    }
    tensor_free(&dhidden);
    tensor_free(&ds);
}

/* dx may be NULL: nothing below the first layer is trained. */
static void layer_backward(Layer *layer, Kind kind, const Tensor *p, const Tensor *x, const Tensor *dh, Tensor *dx)
{
    Param *params = layer->params;
    bias_gradient(dh, &params[SLOT_B].grad);
    if (kind == KIND_GIN) {
        gin_backward(layer, p, x, dh, dx);
    } else if (kind == KIND_GCN) {
        Tensor dz = tensor_new(2, dh->rows, dh->cols);
        multiply_transposed(p, dh, &dz);
        linear_weight_gradient(x, &dz, &params[SLOT_W].grad);
        if (dx)
            multiply(&dz, &params[SLOT_W].value, dx);
        tensor_free(&dz);
    } else {
        linear_weight_gradient(&layer->gathered, dh, &params[SLOT_W].grad);
        linear_weight_gradient(x, dh, &params[SLOT_V].grad);
        if (dx) {
            Tensor dgathered = tensor_new(2, dh->rows, layer->in);
            multiply(dh, &params[SLOT_W].value, &dgathered);
            if (kind == KIND_SAGE_MAX)
                largest_backward(p, x, &layer->gathered, &dgathered, dx);
            else
                multiply_transposed(p, &dgathered, dx);
            multiply(dh, &params[SLOT_V].value, dx);
            tensor_free(&dgathered);
        }
    }
}

const Tensor *model_forward(Model *model, const Tensor *x)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        Layer *layer = &model->layers[i];
        layer_forward(layer, model->kind, &model->propagation, x);
        if (i + 1 < model->layer_count)
            relu(&layer->output);
        x = &layer->output;
    }
    return x;
}

void model_backward(Model *model, const Tensor *x, const Tensor *logits_gradient)
{
    Tensor dh = tensor_new(2, logits_gradient->rows, logits_gradient->cols);
    add_scaled(&dh, 1, logits_gradient);
    for (size_t i = model->layer_count; i-- > 0;) {
        Layer *layer = &model->layers[i];
        for (int slot = 0; slot < MAX_SLOTS; slot++)
            if (layer->params[slot].used)
                clear(&layer->params[slot].grad);
        if (i + 1 < model->layer_count)
            relu_backward(&layer->output, &dh);
        const Tensor *input = i > 0 ? &model->layers[i - 1].output : x;
        Tensor dx = tensor_new(2, i > 0 ? model->n : 0, layer->in);
        layer_backward(layer, model->kind, &model->propagation, input, &dh, i > 0 ? &dx : NULL);
        tensor_free(&dh);
        dh = dx;
    }
    tensor_free(&dh);
}

double cross_entropy(const Tensor *logits, const Tensor *y, const Tensor *mask, Tensor *gradient)
{
    size_t classes = logits->cols;
    double loss = 0, count = 0;
    for (size_t i = 0; i < mask->rows; i++)
        count += mask->v[i] != 0;
    if (gradient)
        clear(gradient);
    for (size_t i = 0; i < logits->rows; i++) {
        if (mask->v[i] == 0)
            continue;
        const double *row = logits->v + i * classes;
        size_t label = (size_t)y->v[i];
        double largest = row[0], sum = 0;
        for (size_t k = 1; k < classes; k++)
            largest = row[k] > largest ? row[k] : largest;
        for (size_t k = 0; k < classes; k++)
            sum += exp(row[k] - largest);
        loss += (log(sum) + largest - row[label]) / count;
        for (size_t k = 0; gradient && k < classes; k++)
            gradient->v[i * classes + k] = (exp(row[k] - largest) / sum - (k == label)) / count;
    }
    return loss;
}
