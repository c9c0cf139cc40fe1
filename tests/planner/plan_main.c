/* The planner's command line as a program of its own. */
#include "compiler/planner/planner.h"

int main(int argc, char **argv) {
  return planner_main(argc, argv);
}
