/* Dense algebra, clever only in skipping the zeros of the left factor. All but clear and the relus add to their result;
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

void relu(Tensor *);
void relu_backward(const Tensor *output, Tensor *gradient); /* the derivative at 0 is 0, as in torch */

#endif
