# graphs.sh: generated graphs that models trip over, as folders of .npy files. Sourced.
# Of 9000 nodes: a hub with an edge to and from every other; half of them isolated; edges in one direction. Features are sparse.
graph_of() { # NAME: a folder of .npy files
  mkdir -p "$1" && perl -e '
    my ($name, $nodes, $width, @from, @to, $state) = ($ARGV[0], 9000, 32, (), ());
    our $s = 7;
    sub next_below { $s = ($s * 1103515245 + 12345) % 2147483648; return int($s / 8) % $_[0] }
    sub add { push @from, $_[0]; push @to, $_[1] }
    if ($name eq "hub") { for (1 .. $nodes - 1) { add(0, $_); add($_, 0) } }
    if ($name eq "isolated") { for (1 .. 9000) { my ($a, $b) = (2 * next_below($nodes / 2), 2 * next_below($nodes / 2)); add($a, $b); add($b, $a) } }
    if ($name eq "directed") { for (1 .. 40000) { add(next_below($nodes), next_below($nodes)) } }
    sub put {
      my ($file, $type, $shape, $bytes) = @_;
      my $header = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
      $header .= " " x (63 - (10 + length $header) % 64) . "\n";
      open my $out, ">:raw", "$name/$file.npy" or die;
      print $out "\x93NUMPY\x01\x00", pack("v", length $header), $header, $bytes;
    }
    put("edge_index", "<i8", "2, " . @from, pack("q<*", @from, @to));
    my @x = (0) x ($nodes * $width);
    for my $v (0 .. $nodes - 1) { $x[$v * $width + next_below($width)] = 1 + next_below(8) / 8 for 1 .. 3 }
    put("x", "<f4", "$nodes, $width", pack("f<*", @x));
    put("y", "<i8", "$nodes,", pack("q<*", map { next_below(4) } 1 .. $nodes));
    put("train_mask", "|b1", "$nodes,", pack("C*", map { next_below(3) > 0 } 1 .. $nodes))' "$1"
}
# Of `directed`: a weight and three features of each edge.
edge_data() { # FOLDER
  perl -e 'my $folder = $ARGV[0];
    sub put { my ($file, $shape, @x) = @_; my $h = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }"; $h .= " " x (63 - (10 + length $h) % 64) . "\n";
    open my $out, ">:raw", "$folder/$file.npy" or die; print $out "\x93NUMPY\x01\x00", pack("v", length $h), $h, pack("f<*", @x) }
  put("w", "40000,", map { 0.5 + $_ * 7919 % 97 / 97 } 1 .. 40000); put("e", "40000, 3", map { $_ * 104729 % 89 / 89 - 0.5 } 1 .. 120000)' "$1"
}
# Of `directed`: its edges are of three kinds, the last of them few.
edge_kinds() { # FOLDER
  perl -e 'my $folder = $ARGV[0]; my $h = "{\x27descr\x27: \x27<i8\x27, \x27fortran_order\x27: False, \x27shape\x27: (40000,), }"; $h .= " " x (63 - (10 + length $h) % 64) . "\n";
    open my $out, ">:raw", "$folder/edge_type.npy" or die; print $out "\x93NUMPY\x01\x00", pack("v", length $h), $h, pack("q<*", map { $_ % 37 == 0 ? 2 : $_ % 3 == 0 ? 1 : 0 } 1 .. 40000)' "$1" &&
    echo '{"relation_names": ["cites", "follows", "owns"]}' >"$1/graph.json"
}

gate_layer() { # rows of both ends of an edge and values on edges
  cat <<'MODEL'
layer Gate(x : node[f], out) {
  param t : [out] = ones
  q = Linear(x, out) as key
  m = Linear(concat(dst.q, src.q), out) as message
  return sum(sigmoid(t * (src.q - dst.q)) * tanh(m))
}
MODEL
}
