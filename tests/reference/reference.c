/* Trains a node classifier on the whole graph in dense double-precision arithmetic: what the compiled programs are
 * measured against. README.md says how it is used. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ADAM, ADAMW, SGD } Rule;

typedef struct {
    const char *data, *weights, *first, *out, *logits, *compare, *expect;
    Kind kind;
    Rule rule;
    bool normalize, train_eps, decay_first, nesterov, check_gradients;
    size_t layers, hidden, epochs;
    unsigned seed;
    double lr, weight_decay, momentum, tolerance;
} Options;

typedef struct {
    Tensor x, y, train, edges;
    size_t classes;
} Data;

static const char usage[] =
    "usage: reference --data DIR --model gcn|sage|sage_max|graphconv|gin [options]\n"
    "  --weights FILE       initial weights, safetensors with the keys of PyG; without it random ones:\n"
    "  --layers N --hidden N --seed N      their sizes (2, 16) and where they start (0)\n"
    "  --first NAME         name of the first layer, default conv1; the others count up from there\n"
    "  --normalize          scale the rows of x to sum 1, as PyG's NormalizeFeatures\n"
    "  --train-eps          gin: eps is a parameter\n"
    "  --optimizer adam|adamw|sgd --lr X --weight-decay X --momentum X --nesterov     adam, 0.01, 0, 0\n"
    "  --decay-first        weight decay for the parameters of the first layer only\n"
    "  --epochs N           50; prints \"epoch loss\", the loss before the update\n"
    "  --out FILE           write the weights as they are in the end\n"
    "  --logits FILE.npy    write the scores of all nodes, in the end\n"
    "  --compare FILE.npy   compare those with other scores;  --expect FILE  compare the losses with \"epoch loss\" lines\n"
    "  --tolerance X        for both, 1e-5: relative to the loss, or to the largest score\n"
    "  --check-gradients    finite differences before training\n";

static Options parse_options(int argc, char **argv)
{
    Options o = {.first = "conv1", .kind = KIND_COUNT, .layers = 2, .hidden = 16, .epochs = 50, .lr = 0.01,
                 .tolerance = 1e-5};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        bool *flag = strcmp(name, "--normalize") == 0         ? &o.normalize
                     : strcmp(name, "--train-eps") == 0       ? &o.train_eps
                     : strcmp(name, "--decay-first") == 0     ? &o.decay_first
                     : strcmp(name, "--nesterov") == 0        ? &o.nesterov
                     : strcmp(name, "--check-gradients") == 0 ? &o.check_gradients
                                                              : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        if (i + 1 == argc)
            fail(name, "unknown, or without its value; see --help");
        const char *value = argv[++i];
        if (strcmp(name, "--data") == 0)
            o.data = value;
        else if (strcmp(name, "--model") == 0)
            o.kind = kind_named(value);
        else if (strcmp(name, "--weights") == 0)
            o.weights = value;
        else if (strcmp(name, "--first") == 0)
            o.first = value;
        else if (strcmp(name, "--out") == 0)
            o.out = value;
        else if (strcmp(name, "--logits") == 0)
            o.logits = value;
        else if (strcmp(name, "--compare") == 0)
            o.compare = value;
        else if (strcmp(name, "--expect") == 0)
            o.expect = value;
        else if (strcmp(name, "--layers") == 0)
            o.layers = strtoul(value, NULL, 10);
        else if (strcmp(name, "--hidden") == 0)
            o.hidden = strtoul(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0)
            o.seed = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--epochs") == 0)
            o.epochs = strtoul(value, NULL, 10);
        else if (strcmp(name, "--lr") == 0)
            o.lr = strtod(value, NULL);
        else if (strcmp(name, "--weight-decay") == 0)
            o.weight_decay = strtod(value, NULL);
        else if (strcmp(name, "--momentum") == 0)
            o.momentum = strtod(value, NULL);
        else if (strcmp(name, "--tolerance") == 0)
            o.tolerance = strtod(value, NULL);
        else if (strcmp(name, "--optimizer") == 0 && strcmp(value, "adam") == 0)
            o.rule = ADAM;
        else if (strcmp(name, "--optimizer") == 0 && strcmp(value, "adamw") == 0)
            o.rule = ADAMW;
        else if (strcmp(name, "--optimizer") == 0 && strcmp(value, "sgd") == 0)
            o.rule = SGD;
        else
            fail(name, "unknown, or it cannot be %s; see --help", value);
    }
    if (!o.data || o.kind == KIND_COUNT || o.layers < 1 || o.layers > MAX_LAYERS || o.hidden < 1) {
        fputs(usage, stderr);
        exit(2);
    }
    return o;
}

static Tensor read_member(const char *folder, const char *name)
{
    char path[4096];
    int used = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (used < 0 || used >= (int)sizeof path)
        fail(folder, "the path is too long");
    return npy_read(path);
}

/* PyG's NormalizeFeatures: the smallest value of all becomes 0, then a row is divided by its sum if that is over 1. */
static void normalize_rows(Tensor *x)
{
    double least = x->v[0];
    for (size_t i = 1; i < x->rows * x->cols; i++)
        least = x->v[i] < least ? x->v[i] : least;
    for (size_t i = 0; i < x->rows; i++) {
        double sum = 0, *row = x->v + i * x->cols;
        for (size_t j = 0; j < x->cols; j++)
            sum += row[j] -= least;
        for (size_t j = 0; sum > 1 && j < x->cols; j++)
            row[j] /= sum;
    }
}

static Data read_data(const Options *o)
{
    Data d = {.x = read_member(o->data, "x.npy"),
              .y = read_member(o->data, "y.npy"),
              .train = read_member(o->data, "train_mask.npy"),
              .edges = read_member(o->data, "edge_index.npy")};
    if (d.x.rows == 0 || d.x.cols == 0 || d.y.rows != d.x.rows || d.train.rows != d.x.rows || d.edges.rows != 2)
        fail(o->data, "x [%zu, %zu], y [%zu], train_mask [%zu] and edge_index [%zu, E] do not belong together", d.x.rows,
             d.x.cols, d.y.rows, d.train.rows, d.edges.rows);
    double largest = 0, marked = 0;
    for (size_t i = 0; i < d.y.rows; i++) {
        largest = d.y.v[i] > largest ? d.y.v[i] : largest;
        marked += d.train.v[i] != 0;
        if (d.train.v[i] != 0 && d.y.v[i] < 0)
            fail(o->data, "node %zu is in the training set, its label is %g", i, d.y.v[i]);
    }
    if (marked == 0)
        fail(o->data, "no node is in the training set");
    d.classes = (size_t)largest + 1;
    if (o->normalize)
        normalize_rows(&d.x);
    return d;
}

/* torch.optim: weight decay is added to the gradient for sgd and adam, and shrinks the weights for adamw.
 * step counts from 1. */
static void update(Param *p, const Options *o, double decay, size_t step)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double correction1 = 1 - pow(beta1, (double)step), correction2 = 1 - pow(beta2, (double)step);
    for (size_t i = 0; i < p->value.rows * p->value.cols; i++) {
        double g = p->grad.v[i], *w = &p->value.v[i], *m = &p->m.v[i], *v = &p->v.v[i];
        if (o->rule == ADAMW)
            *w *= 1 - o->lr * decay;
        else
            g += decay * *w;
        if (o->rule == SGD) {
            *m = step == 1 ? g : o->momentum * *m + g;
            *w -= o->lr * (o->momentum == 0 ? g : o->nesterov ? g + o->momentum * *m : *m);
        } else {
            *m = beta1 * *m + (1 - beta1) * g;
            *v = beta2 * *v + (1 - beta2) * g * g;
            *w -= o->lr / correction1 * *m / (sqrt(*v) / sqrt(correction2) + epsilon);
        }
    }
}

static double loss_of(Model *model, const Data *d, Tensor *gradient)
{
    return cross_entropy(model_forward(model, &d->x), &d->y, &d->train, gradient);
}

/* Central differences on up to 60 evenly spread entries of every parameter. */
static bool check_gradients(Model *model, const Data *d)
{
    const double h = 1e-6, tolerance = 1e-5;
    Tensor gradient = tensor_new(2, d->x.rows, model->layers[model->layer_count - 1].out);
    bool right = true;
    loss_of(model, d, &gradient);
    model_backward(model, &d->x, &gradient);
    for (size_t i = 0; i < model->layer_count; i++)
        for (int slot = 0; slot < MAX_SLOTS; slot++) {
            Param *p = &model->layers[i].params[slot];
            size_t size = p->value.rows * p->value.cols, stride = 1 + (size - 1) / 60;
            double error = 0, scale = 1e-6;
            if (!p->used || !p->trained)
                continue;
            for (size_t k = 0; k < size; k++)
                scale = fmax(scale, fabs(p->grad.v[k]));
            for (size_t k = 0; k < size; k += stride) {
                double saved = p->value.v[k];
                p->value.v[k] = saved + h;
                double above = loss_of(model, d, NULL);
                p->value.v[k] = saved - h;
                double below = loss_of(model, d, NULL);
                p->value.v[k] = saved;
                error = fmax(error, fabs((above - below) / (2 * h) - p->grad.v[k]));
            }
            bool good = error <= tolerance * scale;
            printf("gradient %-24s error %.1e of %.3g: %s\n", p->value.name, error, scale, good ? "ok" : "WRONG");
            right = right && good;
        }
    tensor_free(&gradient);
    return right;
}

/* The next "epoch loss" line of the file, or NAN where there is none. */
static double expected_loss(FILE *file, size_t epoch)
{
    char line[256];
    size_t number;
    double loss;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%zu %lf", &number, &loss) == 2)
            return number == epoch ? loss : NAN;
    return NAN;
}

/* Returns the largest relative distance to the expected losses, 0 where none are given. */
static double train(Model *model, const Data *d, const Options *o)
{
    Tensor gradient = tensor_new(2, d->x.rows, model->layers[model->layer_count - 1].out);
    FILE *expect = o->expect ? fopen(o->expect, "r") : NULL;
    double worst = 0;
    if (o->expect && !expect)
        fail(o->expect, "cannot be opened");
    for (size_t epoch = 1; epoch <= o->epochs; epoch++) {
        double loss = loss_of(model, d, &gradient);
        model_backward(model, &d->x, &gradient);
        for (size_t i = 0; i < model->layer_count; i++)
            for (int slot = 0; slot < MAX_SLOTS; slot++)
                if (model->layers[i].params[slot].used && model->layers[i].params[slot].trained)
                    update(&model->layers[i].params[slot], o, o->decay_first && i > 0 ? 0 : o->weight_decay, epoch);
        printf("%zu %.12g\n", epoch, loss);
        if (expect) {
            double other = expected_loss(expect, epoch), distance = fabs(loss - other) / fabs(loss);
            if (isnan(other))
                fail(o->expect, "has no loss for epoch %zu", epoch);
            worst = distance > worst ? distance : worst;
        }
    }
    if (expect)
        fclose(expect);
    tensor_free(&gradient);
    return worst;
}

/* The largest difference of two score tables, relative to the largest score. */
static double distance(const Tensor *scores, const char *path)
{
    Tensor other = npy_read(path);
    double worst = 0, scale = 1e-300;
    if (other.rows != scores->rows || other.cols != scores->cols)
        fail(path, "is [%zu, %zu], expected [%zu, %zu]", other.rows, other.cols, scores->rows, scores->cols);
    for (size_t i = 0; i < other.rows * other.cols; i++) {
        double difference = fabs(scores->v[i] - other.v[i]);
        if (isnan(difference))
            fail(path, "holds something that is not a number");
        worst = fmax(worst, difference);
        scale = fmax(scale, fabs(scores->v[i]));
    }
    tensor_free(&other);
    return worst / scale;
}

static bool verdict(const char *what, double distance, const Options *o)
{
    bool good = distance <= o->tolerance;
    fprintf(stderr, "%s: largest relative difference %.3g, allowed %.3g: %s\n", what, distance, o->tolerance,
            good ? "ok" : "WRONG");
    return good;
}

int main(int argc, char **argv)
{
    Options o = parse_options(argc, argv);
    Data d = read_data(&o);
    Tensor p = propagation_matrix(o.kind, &d.edges, d.x.rows);
    Model model = o.weights ? model_from_weights(o.kind, p, d.x.cols, o.weights, o.first, o.train_eps)
                            : model_random(o.kind, p, d.x.cols, o.hidden, d.classes, o.layers, o.seed, o.first,
                                           o.train_eps);
    size_t scores = model.layers[model.layer_count - 1].out;
    if (scores < d.classes)
        fail(o.weights, "%zu scores per node, the labels need %zu", scores, d.classes);

    bool right = !o.check_gradients || check_gradients(&model, &d);
    double worst = train(&model, &d, &o);
    if (o.expect)
        right = verdict("losses", worst, &o) && right;
    const Tensor *logits = model_forward(&model, &d.x);
    if (o.logits)
        npy_write(o.logits, logits);
    if (o.compare)
        right = verdict("scores", distance(logits, o.compare), &o) && right;
    if (o.out)
        model_write(&model, o.out);

    model_free(&model);
    tensor_free(&d.x);
    tensor_free(&d.y);
    tensor_free(&d.train);
    tensor_free(&d.edges);
    return right ? 0 : 1;
}
