#include "rates.h"

const int gather_row_bytes[GATHER_WIDTHS] = {64, 256, 512};

#define LIST(name, unit, member, what) {name, unit, true, offsetof(DeviceRates, member), what}
#define ONE(name, unit, what) {#name, unit, false, offsetof(DeviceRates, name), what}

static const RateSetting settings[] = {
    LIST("sizes", UNIT_BYTES, sizes, "sizes of arrays"),
    LIST("stream", UNIT_BYTES_PER_SECOND, stream, "arrays read and written in order"),
    LIST("gather_64B", UNIT_BYTES_PER_SECOND, gather[0], "rows of 64 bytes from anywhere in a table"),
    LIST("gather_256B", UNIT_BYTES_PER_SECOND, gather[1], "rows of 256 bytes"),
    LIST("gather_512B", UNIT_BYTES_PER_SECOND, gather[2], "rows of 512 bytes"),
    ONE(gather_row, UNIT_SECONDS, "each sum of such rows"),
    ONE(exchange, UNIT_BYTES_PER_SECOND, "what another thread has just written"),
    ONE(others, UNIT_BYTES_PER_SECOND, "what other systems move through the caches that are shared, by the processor"),
    ONE(narrow, UNIT_FLOP_PER_SECOND, "products with up to 16 columns"),
    ONE(outer, UNIT_FLOP_PER_SECOND, "gradients of matrices"),
    ONE(outer_narrow, UNIT_FLOP_PER_SECOND, "gradients of matrices with up to 16 columns"),
    ONE(element, UNIT_SECONDS, "an element computed and stored"),
    ONE(random, UNIT_SECONDS, "drawing one for dropout"),
    ONE(exp, UNIT_SECONDS, "an exponential"),
    ONE(update, UNIT_SECONDS, "updating a weight"),
    ONE(loss, UNIT_SECONDS, "the loss of a row"),
    ONE(loss_class, UNIT_SECONDS, "each class of it"),
    ONE(step, UNIT_SECONDS, "starting and joining all threads"),
};

const RateSetting *rate_setting(int index) {
  return index < (int)(sizeof settings / sizeof *settings) ? &settings[index] : NULL;
}

double *rate_numbers(DeviceRates *rates, const RateSetting *setting) {
  return (double *)(void *)((char *)rates + setting->offset);
}
