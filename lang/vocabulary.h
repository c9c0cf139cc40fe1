/* vocabulary.h: the words of a plan, which the language, the planner, the compiler and the files that they write share. Each is one table here:
 * the enumeration, its name and, where files of the planner say it otherwise, its key there. docs/design.md, "Words", says what they mean.
 */
#ifndef GNNCC_VOCABULARY_H
#define GNNCC_VOCABULARY_H

#include <stdbool.h>

#define TIERS(tier) tier(TIER_DEVICE, "device") tier(TIER_HOST, "host") tier(TIER_SSD, "ssd")

/* What becomes of a value between two of its uses. */
#define FATES(fate) \
  fate(FATE_KEEP, "keep", "retain") fate(FATE_HOST, "host", "host") fate(FATE_SSD, "ssd", "ssd") fate(FATE_RECOMPUTE, "recompute", "recompute")

/* What does one thing at a time. A planner's problem may have others, which follow these; its files call them channels. */
#define LANES(lane) \
  lane(LANE_COMPUTE, "compute", "compute") lane(LANE_D2H, "d2h", "d2h") lane(LANE_H2D, "h2d", "h2d") lane(LANE_SSD_WRITE, "ssd write", "ssdw") \
  lane(LANE_SSD_READ, "ssd read", "ssdr") lane(LANE_NET, "net", "net")

/* How other systems would decide. */
#define POLICIES(policy) \
  policy(POLICY_KEEP, "keep") policy(POLICY_RECOMPUTE, "recompute") policy(POLICY_OFFLOAD, "offload") policy(POLICY_CHECKPOINT, "checkpoint") \
  policy(POLICY_ROC, "roc") policy(POLICY_FLEXGNN, "flexgnn") policy(POLICY_TORCH_BUDGET, "torch-budget") policy(POLICY_DTR, "dtr") \
  policy(POLICY_CAPUCHIN, "capuchin") policy(POLICY_HONGTU, "hongtu") policy(POLICY_GRINNDER, "grinnder")

/* How ranks get what a sum over neighbours reads of others: rows come, or columns of all rows do, or rows are made again of what has come once; and of GPUs rows may come through the host. Or rows that never change come in every
 * epoch, so that one rank alone has each. */
#define EXCHANGES(exchange) exchange(EXCHANGE_HALO, "halo") exchange(EXCHANGE_TRANSPOSE, "transpose") exchange(EXCHANGE_RECOMPUTE, "halo-recompute") exchange(EXCHANGE_HALO_HOST, "halo-host") exchange(EXCHANGE_DEDUP, "dedup")

/* What a value is to the layer that it is of: some of those systems decide by it. */
#define ROLES(role) role(ROLE_OTHER, "other") role(ROLE_INPUT, "input") role(ROLE_AGGREGATE, "aggregate")

#define VOCABULARY_ENUMERATOR(enumerator, ...) enumerator,
typedef enum Tier { TIERS(VOCABULARY_ENUMERATOR) TIER_COUNT, TIER_NONE = TIER_COUNT } Tier;
typedef enum Fate { FATES(VOCABULARY_ENUMERATOR) FATE_COUNT } Fate;
typedef enum Lane { LANES(VOCABULARY_ENUMERATOR) LANE_COUNT } Lane;
typedef enum Policy { POLICIES(VOCABULARY_ENUMERATOR) POLICY_COUNT } Policy;
typedef enum Exchange { EXCHANGES(VOCABULARY_ENUMERATOR) EXCHANGE_COUNT } Exchange;
typedef enum ValueRole { ROLES(VOCABULARY_ENUMERATOR) VALUE_ROLE_COUNT } ValueRole;

/* By enumerator, then NULL. */
extern const char *const tier_names[TIER_COUNT + 1], *const fate_names[FATE_COUNT + 1], *const fate_keys[FATE_COUNT + 1], *const lane_names[LANE_COUNT + 1],
    *const lane_keys[LANE_COUNT + 1], *const policy_names[POLICY_COUNT + 1], *const exchange_names[EXCHANGE_COUNT + 1], *const role_names[VALUE_ROLE_COUNT + 1];

/* What a program may be planned by: policies, then exchanges. */
extern const char *const program_policies[POLICY_COUNT + EXCHANGE_COUNT + 1];

/* The enumerator of a name in one of these; -1: it is none of them. */
int vocabulary_find(const char *const *names, const char *name);

/* The device has the name that the target gives it, and "device" always. */
bool tier_named(const char *device, const char *name, Tier *tier);

/* Where a value lies that has this fate; TIER_NONE: nowhere, it is made again. */
Tier fate_tier(Fate fate);
/* The fate of what lies there. */
Fate tier_fate(Tier tier);

#endif
