#include "optimizers.h"

const OptimizerInfo optimizer_info[OPTIMIZER_COUNT] = {
    [OPTIMIZER_SGD] = {"sgd", "sgd(lr = 0.01, momentum = 0, nesterov = false, weight_decay = 0)", {"opt.sgd.momentum."}, 1, 4,
                       {{HYPER_LR, 0.01}, {HYPER_MOMENTUM, 0}, {HYPER_WEIGHT_DECAY, 0}, {HYPER_NESTEROV, 0}}},
    [OPTIMIZER_ADAM] = {"adam", "adam(lr = 0.001, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0)", {"opt.adam.m.", "opt.adam.v."}, 2, 5,
                        {{HYPER_LR, 0.001}, {HYPER_BETA1, 0.9}, {HYPER_BETA2, 0.999}, {HYPER_EPSILON, 1e-8}, {HYPER_WEIGHT_DECAY, 0}}},
    [OPTIMIZER_ADAMW] = {"adamw", "adamw(lr = 0.001, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0.01)", {"opt.adam.m.", "opt.adam.v."}, 2, 5,
                         {{HYPER_LR, 0.001}, {HYPER_BETA1, 0.9}, {HYPER_BETA2, 0.999}, {HYPER_EPSILON, 1e-8}, {HYPER_WEIGHT_DECAY, 0.01}}},
    [OPTIMIZER_RMSPROP] = {"rmsprop", "rmsprop(lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0, centered = false)", {"opt.rmsprop.square.", "opt.rmsprop.momentum."}, 2, 6,
                           {{HYPER_LR, 0.01}, {HYPER_ALPHA, 0.99}, {HYPER_EPSILON, 1e-8}, {HYPER_WEIGHT_DECAY, 0}, {HYPER_MOMENTUM, 0}, {HYPER_CENTERED, 0}}},
    [OPTIMIZER_ADAGRAD] = {"adagrad", "adagrad(lr = 0.01, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10)", {"opt.adagrad.sum."}, 1, 5,
                           {{HYPER_LR, 0.01}, {HYPER_LR_DECAY, 0}, {HYPER_WEIGHT_DECAY, 0}, {HYPER_INITIAL, 0}, {HYPER_EPSILON, 1e-10}}},
};

const char *const optimizer_names[OPTIMIZER_COUNT] = {"sgd", "adam", "adamw", "rmsprop", "adagrad"};

#define HYPER_TEXT(name, text, most) text,
const char *const hyper_names[HYPER_COUNT] = {HYPERS(HYPER_TEXT)};

double hyper_most(HyperKind kind) {
#define HYPER_MOST(name, text, most) most,
  static const double all[HYPER_COUNT] = {HYPERS(HYPER_MOST)};
  return all[kind];
}

bool optimizer_has(OptimizerKind optimizer, HyperKind kind) {
  const OptimizerInfo *info = &optimizer_info[optimizer];
  for (int i = 0; i < info->setting_count; i++)
    if (info->settings[i].kind == kind) return true;
  return false;
}

#define REQUIRED(name, least) {name, SCHEDULE_REQUIRED, 0, least, 1e9, false}
#define EPOCHS {"epochs", SCHEDULE_EPOCHS, 0, 1, 1e9, false}
#define GIVEN(name, value, least) {name, SCHEDULE_NUMBER, value, least, 1e9, false}

const ScheduleInfo schedule_info[SCHEDULE_COUNT] = {
    [SCHEDULE_CONSTANT] = {"constant", "constant(lr)", "lr", 1, {REQUIRED("lr", 0)}},
    [SCHEDULE_STEP] = {"step", "step(lr, every, factor = 0.1)", "multiplied by factor after every so many epochs", 3,
                       {REQUIRED("lr", 0), {"every", SCHEDULE_REQUIRED, 0, 1, 1e9, true}, GIVEN("factor", 0.1, 0)}},
    [SCHEDULE_EXPONENTIAL] = {"exponential", "exponential(lr, factor)", "multiplied by factor after each epoch", 2, {REQUIRED("lr", 0), REQUIRED("factor", 0)}},
    [SCHEDULE_COSINE] = {"cosine", "cosine(lr, epochs, end = 0)", "half a cosine from lr to end, which it keeps from then on", 3,
                         {REQUIRED("lr", 0), EPOCHS, GIVEN("end", 0, 0)}},
    [SCHEDULE_RESTARTS] = {"restarts", "restarts(lr, epochs, growth = 1, end = 0)", "cosines one after another, each growth times as long as the one before", 4,
                           {REQUIRED("lr", 0), REQUIRED("epochs", 1), GIVEN("growth", 1, 1), GIVEN("end", 0, 0)}},
    [SCHEDULE_LINEAR] = {"linear", "linear(lr, epochs, end = 0)", "a line from lr to end, which it keeps from then on", 3,
                         {REQUIRED("lr", 0), EPOCHS, GIVEN("end", 0, 0)}},
    [SCHEDULE_POLYNOMIAL] = {"polynomial", "polynomial(lr, epochs, power = 1, end = 0)", "from lr to end by (1 - epoch / epochs)^power", 4,
                             {REQUIRED("lr", 0), EPOCHS, GIVEN("power", 1, 0), GIVEN("end", 0, 0)}},
    [SCHEDULE_ONE_CYCLE] = {"one_cycle", "one_cycle(lr, epochs, rise = 0.3)", "from lr / 25 up to lr during that share of the epochs, then down to lr / 250000, by cosines", 3,
                            {REQUIRED("lr", 0), EPOCHS, {"rise", SCHEDULE_NUMBER, 0.3, 0, 1, false}}},
    [SCHEDULE_PLATEAU] = {"plateau", "plateau(lr, factor = 0.1, patience = 10, watch = valid.loss)",
                          "multiplied by factor whenever more than patience evaluations bring no improvement", 2, {REQUIRED("lr", 0), GIVEN("factor", 0.1, 0)}},
};

const char *const schedule_names[SCHEDULE_COUNT] = {"constant", "step", "exponential", "cosine", "restarts", "linear", "polynomial", "one_cycle", "plateau"};
