/* svg: what the drawings share. Colours are of Okabe and Ito's palette, told apart by the colour-blind; each role has a
 * pattern too, so that a grey print can be read. */
#include <stdio.h>

#include "views.h"

void svg_style(FILE *out) {
  fputs("<style>text{font:11px sans-serif;fill:#222}.light{fill:#fff}.number{paint-order:stroke;stroke:#fff;stroke-width:2px;stroke-opacity:.7}.s{fill:#666}.forward,.eval{fill:#56b4e9}.backward{fill:#0072b2}.recompute{fill:url(#recompute)}"
        ".update{fill:#9a9a9a}.out{fill:url(#out)}.in{fill:url(#in)}.wait{fill:url(#wait);stroke:#c00;stroke-width:.5}.exchange{fill:#cc79a7}"
        ".graph{fill:#8c8c8c}.features{fill:#bdbdbd}.weights{fill:#d9d9d9}.optimizer{fill:#ebebeb}.activation{fill:#56b4e9}.gradient{fill:#0072b2}"
        ".scratch{fill:#f0e442}.gaps{fill:url(#gaps)}.axis{stroke:#bbb}.budget{stroke:#c00;stroke-dasharray:6 3}.line{fill:none;stroke:#0072b2;stroke-width:2}</style>\n"
        "<defs>"
        "<pattern id=\"recompute\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#f0e442\"/><path d=\"M0 0v4\" stroke=\"#7a6f00\" stroke-width=\"2\"/></pattern>"
        "<pattern id=\"out\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" fill=\"#e69f00\"/><path d=\"M0 5L5 0\" stroke=\"#fff\"/></pattern>"
        "<pattern id=\"in\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" fill=\"#009e73\"/><path d=\"M0 0L5 5\" stroke=\"#fff\"/></pattern>"
        "<pattern id=\"wait\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" fill=\"#fff\"/><path d=\"M0 6L6 0M-2 2L2 -2M4 8L8 4\" stroke=\"#d40000\" stroke-width=\"2\"/></pattern>"
        "<pattern id=\"gaps\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/><circle cx=\"2.5\" cy=\"2.5\" r=\".9\" fill=\"#777\"/></pattern>"
        "</defs>\n", out);
}
