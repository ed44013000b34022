#include "shellgame/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shellgame {

double learning_rate_at(const Experiment& experiment, const RunPlace& place) {
  const StageSettings& stage = experiment.stages.at(place.stage);
  const ScheduleSettings& schedule = experiment.schedule;
  const double rate = stage.learning_rate.value_or(experiment.optimiser.learning_rate);
  const auto total = static_cast<double>(experiment.total_steps());
  const double warmup = schedule.warmup < 1 ? std::floor(schedule.warmup * total) : schedule.warmup;
  double factor = 1;
  if (static_cast<double>(place.step) < warmup)
    factor = static_cast<double>(place.step + 1) / (warmup + 1);
  if (stage.shape.value_or(schedule.shape) == "constant") return rate * factor;
  double done = 0, all = 0;
  if (stage.shape || schedule.span == "stage") {
    done = static_cast<double>(place.stage_step);
    all = static_cast<double>(stage.steps);
  } else {
    std::int64_t before = place.stage_step;
    for (std::size_t i = 0; i < place.stage; ++i) before += experiment.stages[i].steps;
    done = std::max(0.0, static_cast<double>(before) - warmup);
    all = std::max(1.0, total - warmup);
  }
  const double minimum = stage.minimum.value_or(schedule.minimum);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done / all)));
  return rate * factor * (minimum + (1 - minimum) * cosine);
}

}  // namespace shellgame
