#!/bin/bash
# link.sh BUILD PROGRAM OBJECT...: the program of program.sh's objects, or of others in place of some, with the runtime and the stand-in, which comes
# between the lanes and the SSD.
exec c++ -rdynamic -Wl,--wrap=gnn_scratch_move -o "$2" "${@:3}" "$1/check/standin.o" "$1/share/libgnncuda.a" "$1/share/libgnnrt.a" -l:libz.a -ldl -lm -lpthread
