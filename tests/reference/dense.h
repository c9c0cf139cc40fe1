/* Dense algebra, clever only in skipping the zeros of the left factor. All but clear, largest and the relus add to their result;
 * a' is the transpose of a. */
#ifndef REFERENCE_DENSE_H
#define REFERENCE_DENSE_H
#include "arrays.h"

void clear(Tensor *);
void multiply(const Tensor *a, const Tensor *b, Tensor *c);            /* c += a b */
void multiply_transposed(const Tensor *a, const Tensor *b, Tensor *c); /* c += a' b */
void add_scaled(Tensor *to, double factor, const Tensor *from);

void linear(const Tensor *x, const Tensor *w, Tensor *y);                    /* y += x w', w is [out, in] */
void linear_weight_gradient(const Tensor *x, const Tensor *dy, Tensor *dw); /* dw += dy' x */
void add_bias(Tensor *y, const Tensor *bias);
void bias_gradient(const Tensor *dy, Tensor *db);

/* y[i] = the largest x[j] where a[i][j] is not 0, column by column; 0 where there is none. Of those that tie, each one that a counts has
 * an equal share of the derivative. */
void largest(const Tensor *a, const Tensor *x, Tensor *y);
void largest_backward(const Tensor *a, const Tensor *x, const Tensor *y, const Tensor *dy, Tensor *dx);

void relu(Tensor *);
void relu_backward(const Tensor *output, Tensor *gradient); /* the derivative at 0 is 0, as in torch */

#endif
