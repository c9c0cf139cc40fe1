/* exchanges.h: by which exchanges ranks get what their sums over neighbours read of others, as was asked or as can be tried. */
#ifndef GNNCC_EXCHANGES_H
#define GNNCC_EXCHANGES_H

#include "compilation.h"

/* --policy or plan { policy = }; EXCHANGE_COUNT: neither names an exchange. */
Exchange exchange_asked(const Compilation *c);
/* False with an error: the program has no such exchanges. Once it is shared out. */
bool check_exchanges(Compilation *c);
/* The same of those of its forms, once c->request has them. */
bool check_dedup(Compilation *c);
/* The same of the form that was planned, of an answer that fits: what never changes may be computed once in it. */
bool check_chosen_exchanges(Compilation *c);
/* Of programs for which nobody asked for an exchange. */
bool may_dedup(const Compilation *c);
/* How they pass: as was asked for; or, between GPUs whose link the target describes, each the faster way. */
ExchangeWay exchange_way(const Compilation *c);
/* The same cut with those that were asked for; and the layers of which others are tried, NULL: of none. */
Cut cut_with_exchanges(const Compilation *c, Cut cut);
const LayersOfSums *layers_to_try(const Compilation *c, Exchange exchange);

#endif
