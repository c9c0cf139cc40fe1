#include "dense.h"

#include <stdbool.h>

#include <string.h>

void clear(Tensor *t)
{
    memset(t->v, 0, t->rows * t->cols * sizeof *t->v);
}

void multiply(const Tensor *a, const Tensor *b, Tensor *c)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < a->cols; k++) {
            double factor = a->v[i * a->cols + k];
            if (factor == 0)
                continue;
            for (size_t j = 0; j < b->cols; j++)
                c->v[i * c->cols + j] += factor * b->v[k * b->cols + j];
        }
}

void multiply_transposed(const Tensor *a, const Tensor *b, Tensor *c)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < a->cols; k++) {
            double factor = a->v[i * a->cols + k];
            if (factor == 0)
                continue;
            for (size_t j = 0; j < b->cols; j++)
                c->v[k * c->cols + j] += factor * b->v[i * b->cols + j];
        }
}

static Tensor transposed(const Tensor *a)
{
    Tensor t = tensor_new(2, a->cols, a->rows);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            t.v[j * t.cols + i] = a->v[i * a->cols + j];
    return t;
}

void linear(const Tensor *x, const Tensor *w, Tensor *y)
{
    Tensor wt = transposed(w);
    multiply(x, &wt, y);
    tensor_free(&wt);
}

/* The transpose of x' dy, because x is the one with zeros. */
void linear_weight_gradient(const Tensor *x, const Tensor *dy, Tensor *dw)
{
    Tensor dwt = tensor_new(2, dw->cols, dw->rows);
    multiply_transposed(x, dy, &dwt);
    for (size_t i = 0; i < dw->rows; i++)
        for (size_t j = 0; j < dw->cols; j++)
            dw->v[i * dw->cols + j] += dwt.v[j * dwt.cols + i];
    tensor_free(&dwt);
}

void add_bias(Tensor *y, const Tensor *bias)
{
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++)
            y->v[i * y->cols + j] += bias->v[j];
}

void bias_gradient(const Tensor *dy, Tensor *db)
{
    for (size_t i = 0; i < dy->rows; i++)
        for (size_t j = 0; j < dy->cols; j++)
            db->v[j] += dy->v[i * dy->cols + j];
}

void largest(const Tensor *a, const Tensor *x, Tensor *y)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < x->cols; k++) {
            bool is_any = false;
            double most = 0;
            for (size_t j = 0; j < a->cols; j++)
                if (a->v[i * a->cols + j] != 0 && (!is_any || x->v[j * x->cols + k] > most)) {
                    most = x->v[j * x->cols + k];
                    is_any = true;
                }
            y->v[i * x->cols + k] = most;
        }
}

void largest_backward(const Tensor *a, const Tensor *x, const Tensor *y, const Tensor *dy, Tensor *dx)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < x->cols; k++) {
            double ties = 0, most = y->v[i * x->cols + k];
            for (size_t j = 0; j < a->cols; j++)
                ties += x->v[j * x->cols + k] == most ? a->v[i * a->cols + j] : 0;
            for (size_t j = 0; j < a->cols; j++)
                if (x->v[j * x->cols + k] == most && a->v[i * a->cols + j] != 0)
                    dx->v[j * x->cols + k] += a->v[i * a->cols + j] / ties * dy->v[i * x->cols + k];
        }
}

void relu(Tensor *t)
{
    for (size_t i = 0; i < t->rows * t->cols; i++)
        if (t->v[i] < 0)
            t->v[i] = 0;
}

void relu_backward(const Tensor *output, Tensor *gradient)
{
    for (size_t i = 0; i < output->rows * output->cols; i++)
        if (output->v[i] <= 0)
            gradient->v[i] = 0;
}

void add_scaled(Tensor *to, double factor, const Tensor *from)
{
    for (size_t i = 0; i < to->rows * to->cols; i++)
        to->v[i] += factor * from->v[i];
}
