# sets.sh: a set of twelve small graphs as a folder of NumPy arrays; sourced.
# shellcheck shell=bash
make_sets() { # FOLDER [SHIFT]: a shift of 1 lets an edge leave its graph
  mkdir -p "$1"
  perl -e 'my ($folder, $shift) = @ARGV;
    sub array { my ($name, $type, $shape, $data) = @_;
      my $header = "{\"descr\": \"$type\", \"fortran_order\": False, \"shape\": ($shape), }";
      $header .= " " x (63 - (10 + length $header) % 64) . "\n";
      open my $out, ">:raw", "$folder/$name.npy" or die; print $out "\x93NUMPY\x01\x00" . pack("v", length $header) . $header . $data }
    my (@from, @to, @first, @x, @y); my $n = 0;
    for my $g (0 .. 11) {
      push @first, $n; my $size = $g == 3 ? 0 : $g == 4 ? 1 : 2 + $g * 5 % 7;
      for my $v (0 .. $size - 1) {
        push @x, map { ($g * 13 + $v * 7 + $_ * 5) % 11 / 11 - 0.4 } 0 .. 4;
        next if $g == 5; my @ends = $g == 6 ? ($v) : $g == 7 ? (0) : (($v + 1) % $size);
        for my $u (@ends) { push @from, $n + $v, $n + $u; push @to, $n + $u, $n + $v } }
      $n += $size; push @y, $g % 2 }
    push @first, $n; $to[-1] = 0 if $shift;
    array("edge_index", "<i4", "2, " . @from, pack("l<*", @from, @to)); array("graph_ptr", "<i8", @first . ",", pack("q<*", @first));
    array("x", "<f4", "$n, 5", pack("f<*", @x)); array("y", "<i4", @y . ",", pack("l<*", @y));
    array("train_mask", "|u1", @y . ",", pack("C*", map { $_ % 4 < 2 } 0 .. $#y)); array("val_mask", "|u1", @y . ",", pack("C*", map { $_ % 4 == 2 } 0 .. $#y))' "$@"
}
