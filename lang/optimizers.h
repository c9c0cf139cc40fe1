/* optimizers.h: optimisers, their settings and the schedules of learning rates, as tables that the language, the compiler and lists share.
 * Names, definitions and defaults are PyTorch's; docs/language.md says where a schedule differs.
 */
#ifndef GNNCC_OPTIMIZERS_H
#define GNNCC_OPTIMIZERS_H

#include <stdbool.h>

/* What has to be below 1 is at most this. */
#define BELOW_ONE 0.99999994

/* HYPER(name, as written, largest value); none is less than 0. Flags are true or false. */
#define HYPERS(hyper) \
  hyper(LR, "lr", 1e6) hyper(WEIGHT_DECAY, "weight_decay", 1e6) hyper(MOMENTUM, "momentum", 1) hyper(BETA1, "beta1", BELOW_ONE) hyper(BETA2, "beta2", BELOW_ONE) \
  hyper(EPSILON, "eps", 1e6) hyper(ALPHA, "alpha", 1) hyper(LR_DECAY, "lr_decay", 1e6) hyper(INITIAL, "initial_accumulator_value", 1e30) \
  hyper(NESTEROV, "nesterov", 0) hyper(CENTERED, "centered", 0)

#define HYPER_ENUMERATOR(name, text, most) HYPER_##name,
typedef enum HyperKind { HYPERS(HYPER_ENUMERATOR) HYPER_COUNT, HYPER_FIRST_FLAG = HYPER_NESTEROV } HyperKind;

typedef enum OptimizerKind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW, OPTIMIZER_RMSPROP, OPTIMIZER_ADAGRAD, OPTIMIZER_COUNT } OptimizerKind;

enum { OPTIMIZER_HYPERS = 6 };

/* `settings` are in the order in which gnn_NAME of kernels/ takes them, behind the weight, its gradient, how that is clipped, and its states. */
typedef struct OptimizerInfo {
  const char *name, *signature;
  const char *state_names[2]; /* in a checkpoint */
  int states; /* that the kernel takes: NULL for those the settings have no use for */
  int setting_count;
  struct OptimizerSetting { HyperKind kind; double value; } settings[OPTIMIZER_HYPERS];
} OptimizerInfo;

extern const OptimizerInfo optimizer_info[OPTIMIZER_COUNT];
extern const char *const optimizer_names[OPTIMIZER_COUNT], *const hyper_names[HYPER_COUNT];
double hyper_most(HyperKind kind);
bool optimizer_has(OptimizerKind optimizer, HyperKind kind);

/* Schedules of the learning rate: gnn_rate_NAME of runtime/core/schedule.h takes the arguments in this order, then how many epochs lie behind. */
typedef enum ScheduleKind {
  SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_EXPONENTIAL, SCHEDULE_COSINE, SCHEDULE_RESTARTS, SCHEDULE_LINEAR, SCHEDULE_POLYNOMIAL, SCHEDULE_ONE_CYCLE,
  SCHEDULE_PLATEAU, SCHEDULE_COUNT
} ScheduleKind;

enum { SCHEDULE_ARGUMENTS = 4 };

typedef enum ScheduleDefault { SCHEDULE_REQUIRED, SCHEDULE_NUMBER, SCHEDULE_EPOCHS /* those of the train block */ } ScheduleDefault;

typedef struct ScheduleInfo {
  const char *name, *signature, *help;
  int argument_count; /* the first is the learning rate it begins with */
  struct ScheduleArgument { const char *name; ScheduleDefault has; double value, least, most; bool is_whole; } arguments[SCHEDULE_ARGUMENTS];
} ScheduleInfo;

extern const ScheduleInfo schedule_info[SCHEDULE_COUNT];
extern const char *const schedule_names[SCHEDULE_COUNT];

#endif
