# graphs.sh: generated graphs that models trip over, as folders of .npy files. Sourced.
# Perl: put(FILE, TYPE, SHAPE, BYTES) writes $folder/FILE.npy.
put_npy='our $folder;
    sub put {
      my ($file, $type, $shape, $bytes) = @_;
      my $header = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
      $header .= " " x (63 - (10 + length $header) % 64) . "\n";
      open my $out, ">:raw", "$folder/$file.npy" or die;
      print $out "\x93NUMPY\x01\x00", pack("v", length $header), $header, $bytes;
    }'
# Of 9000 nodes: a hub with an edge to and from every other; half of them isolated; edges in one direction; one edge in all. Features are sparse.
graph_of() { # NAME: a folder of .npy files
  mkdir -p "$1" && perl -e "$put_npy"'
    my ($name, $nodes, $width, @from, @to, $state) = ($ARGV[0], 9000, 32, (), ());
    $folder = $name;
    our $s = 7;
    sub next_below { $s = ($s * 1103515245 + 12345) % 2147483648; return int($s / 8) % $_[0] }
    sub add { push @from, $_[0]; push @to, $_[1] }
    if ($name eq "hub") { for (1 .. $nodes - 1) { add(0, $_); add($_, 0) } }
    if ($name eq "isolated") { for (1 .. 9000) { my ($a, $b) = (2 * next_below($nodes / 2), 2 * next_below($nodes / 2)); add($a, $b); add($b, $a) } }
    if ($name eq "directed") { for (1 .. 40000) { add(next_below($nodes), next_below($nodes)) } }
    if ($name eq "lone") { add(3, 9) }
    put("edge_index", "<i8", "2, " . @from, pack("q<*", @from, @to));
    my @x = (0) x ($nodes * $width);
    for my $v (0 .. $nodes - 1) { $x[$v * $width + next_below($width)] = 1 + next_below(8) / 8 for 1 .. 3 }
    put("x", "<f4", "$nodes, $width", pack("f<*", @x));
    put("y", "<i8", "$nodes,", pack("q<*", map { next_below(4) } 1 .. $nodes));
    put("train_mask", "|b1", "$nodes,", pack("C*", map { next_below(3) > 0 } 1 .. $nodes))' "$1"
}
# Of `directed`: a weight and three features of each edge.
edge_data() { # FOLDER
  perl -e "$put_npy"'
    $folder = $ARGV[0];
    put("w", "<f4", "40000,", pack("f<*", map { 0.5 + $_ * 7919 % 97 / 97 } 1 .. 40000));
    put("e", "<f4", "40000, 3", pack("f<*", map { $_ * 104729 % 89 / 89 - 0.5 } 1 .. 120000))' "$1"
}
# Of `directed`: its edges are of three kinds, the last of them few.
edge_kinds() { # FOLDER
  perl -e "$put_npy"'
    $folder = $ARGV[0];
    put("edge_type", "<i8", "40000,", pack("q<*", map { $_ % 37 == 0 ? 2 : $_ % 3 == 0 ? 1 : 0 } 1 .. 40000))' "$1" &&
    echo '{"relation_names": ["cites", "follows", "owns"]}' >"$1/graph.json"
}

types_of() { # NAME: a folder of papers, authors and three venues
  mkdir -p "$1" && perl -e "$put_npy"'
    $folder = $ARGV[0];
    our $s = 11;
    sub next_below { $s = ($s * 1103515245 + 12345) % 2147483648; return int($s / 8) % $_[0] }
    sub edges { my ($name, $from, $to, $count) = @_; put("$name.edge_index", "<i8", "2, $count", pack("q<*", (map { next_below($from) } 1 .. $count), map { next_below($to) } 1 .. $count)) }
    sub rows { my ($name, $rows, $width) = @_; put($name, "<f4", "$rows, $width", pack("f<*", map { next_below(64) / 32 - 1 } 1 .. $rows * $width)) }
    rows("paper.x", 9000, 6);
    rows("author.x", 5000, 5);
    rows("venue.x", 3, 4);
    put("paper.y", "<i8", "9000,", pack("q<*", map { next_below(3) } 1 .. 9000));
    put("paper.train_mask", "|b1", "9000,", pack("C*", map { next_below(3) > 0 } 1 .. 9000));
    edges("writes", 5000, 9000, 20000);
    edges("knows", 5000, 5000, 8000);
    edges("prints", 3, 9000, 9000);
    open my $out, ">", "$folder/graph.json" or die;
    print $out q({"node_types": {"paper": 9000, "author": 5000, "venue": 3}, "relations": [{"name": "writes", "source": "author", "destination": "paper"}, ), q({"name": "knows", "source": "author", "destination": "author"}, {"name": "prints", "source": "venue", "destination": "paper"}]})' "$1"
}

types_model() { # over mag, a folder of types_of: sums within types and between them, products on edges, sums over all rows of each, learned values of two
  cat <<'MODEL'
data mag from npy("mag") {
  nodes paper : count
  nodes author : count
  nodes venue : count
  paper x : f32[6]
  paper y : class[3]
  author x : f32[5]
  author e : learned[4]
  venue x : f32[4]
  venue e : learned[3]
  reverse = [writes, prints]
}
model types on mag {
  p = paper.x |> Linear(8) |> relu |> dropout(0.2)
  a = concat(author.x, author.e) |> dropout(0.2) |> Linear(8) |> batch_norm |> relu
  a = SAGE(a, a, 8) over knows + SAGE(p, a, 8) over rev_writes |> relu
  v = SAGE(p, venue.e, 4) over rev_prints |> tanh
  q = GAT(a, p, 4, heads = 2, add_self_loops = false, dropout = 0.2) over writes + SAGE(v, p, 8) over prints
  return relu(q) * (1 + sum(src.a * dst.q) over writes) + mean(a, axis = rows) - 0.1 * max(a, axis = rows) |> Linear(paper.y.classes)
}
train types { loss = cross_entropy(out, paper.y); optimizer = sgd(lr = 0.05, momentum = 0.9); accumulate = 2; clip = value(0.01); epochs = 3; metric = accuracy }
MODEL
}

pairs_model() { # scores of pairs, which are others in each epoch, by sums in both directions, weights and dropout of pairs
  cat <<'MODEL'
layer Score(z : node[f], x : node[g]) {
  m = Linear(concat(src.z * dst.z, src.x), 6) |> relu |> dropout(0.2)
  return Linear(m, 1)
}
data made from synth("rmat", nodes = 9000, degree = 4, features = 16, classes = 4, seed = 1) {
  node  x     : f32[16]
  pairs links : label[1] = split_edges(valid = 0.05, test = 0.1, negatives = same_source(2), resample = epoch, seed = 0)
}
model pairs on made {
  z = x |> dropout(0.2) |> SAGE(8) |> relu |> GAT(8)
  return Score(z, x) over links
}
train pairs {
  loss      = bce(out, links.label)
  optimizer = adam(lr = 0.01)
  epochs    = 4
  metric    = [hits(20), mrr]
  keep      = best(valid.hits20)
  checkpoint = every(2)
}
MODEL
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
