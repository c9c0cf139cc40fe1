/* The machine that a target describes, and what kernels cost on it. */
#include <stdio.h>

#include "compiler/cost.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

/* ---- links ---- */

enum { GB = 1000000000 };

static TargetLink link(Tier from, Tier to, double bandwidth) { return (TargetLink){from, to, bandwidth, 1e-6}; }

static bool has_links(const Machine *m, double d2h, double h2d, double ssd_write, double ssd_read) {
  return m->links[CHANNEL_D2H].bandwidth == d2h && m->links[CHANNEL_H2D].bandwidth == h2d &&
         m->links[CHANNEL_SSD_WRITE].bandwidth == ssd_write && m->links[CHANNEL_SSD_READ].bandwidth == ssd_read;
}

static void test_links(void) {
  TargetLink host_road[] = {link(TIER_DEVICE, TIER_HOST, 3), link(TIER_HOST, TIER_DEVICE, 4), link(TIER_HOST, TIER_SSD, 1), link(TIER_SSD, TIER_HOST, 2)};
  TargetLink direct[] = {link(TIER_DEVICE, TIER_SSD, 5), link(TIER_SSD, TIER_DEVICE, 6)};
  TargetSpec target = {.name = "t", .kind = "cpu", .device_bytes = GB, .host_bytes = GB, .ssd_bytes = GB, .link_count = 4, .links = host_road};
  Machine m = machine_of_target(&target);
  ok(has_links(&m, 3, 4, 1, 2) && !m.is_ssd_direct, "the SSD behind the host");
  ok(m.links[CHANNEL_D2H].latency == 1e-6, "a link keeps its latency");
  target = (TargetSpec){.name = "t", .kind = "cpu", .device_bytes = GB, .ssd_bytes = GB, .ssd_path = "/fast", .link_count = 2, .links = direct};
  m = machine_of_target(&target);
  ok(has_links(&m, 0, 0, 5, 6) && m.is_ssd_direct, "the SSD beside the device");
  ok(m.scratch_dir == target.ssd_path, "the SSD's directory");
  TargetLink both[] = {host_road[0], host_road[1], direct[0], direct[1]};
  target = (TargetSpec){.name = "t", .kind = "cpu", .device_bytes = GB, .host_bytes = GB, .ssd_bytes = GB, .link_count = 4, .links = both};
  m = machine_of_target(&target);
  ok(has_links(&m, 3, 4, 5, 6) && !m.is_ssd_direct, "with a host tier the device's link to the SSD stands in for the host's");
  m = machine_of_target(NULL);
  ok(m.links[CHANNEL_D2H].bandwidth > 0 && m.links[CHANNEL_SSD_WRITE].bandwidth > 0 && m.is_ssd_direct && !m.is_measured,
     "this computer has links, should a budget give it tiers");
}

int main(void) {
  test_links();
  printf("1..%d\n", test_count);
  return failures > 0;
}
