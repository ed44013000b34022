#include "shellgame/train/tune_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "shellgame/random/philox.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"
#include "shellgame/train/key_reader.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

constexpr NumberBounds kRange = NumberBounds::real(-1e300, 1e300);

template <class Keys>
void list_keys(Keys& keys, TuneSpace& space) {
  keys("select", space.select, Words{"regret", "accuracy"});
  keys("share", space.share, NumberBounds::real(1e-6, 1));
  // The trials' seeds follow; a sum below 2^63.
  keys("seed", space.seed, NumberBounds::whole(0, 1'000'000'000'000));
  keys("count", space.count, NumberBounds::whole(1, 1'000'000'000));
}

template <class Keys>
void list_keys(Keys& keys, TuneDimension& dimension) {
  keys("from", dimension.from, kRange);
  keys("to", dimension.to, kRange);
}

// Draws without repetition are numbered; more than these are not listed one by one.
constexpr std::uint64_t kMostCombinations = 1'000'000;

std::string toml_value(const Json& value) { return value.dump(); }

std::string choice_name(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

TuneDimension::Choice read_choice(const std::string& file, const std::string& where,
                                  const std::string& key, const Json& json) {
  if (!json.is_object()) {
    if (json.is_null() || json.is_array())
      throw InputError(file, fmt::format("key '{}' must list values, or tables with a name, not {}",
                                         where, json.dump()));
    return {choice_name(json), {fmt::format("{}={}", key, toml_value(json))}};
  }
  KeyReader keys(json, file, where);
  TuneDimension::Choice choice;
  keys("name", choice.name);
  const Json set = keys.take("set");
  keys.finish();
  if (choice.name.empty()) throw InputError(file, fmt::format("key '{}' must have a name", where));
  const bool texts =
      set.is_null() ||
      (set.is_array() && std::ranges::all_of(set, [](const Json& one) {
         return one.is_string() && one.get<std::string>().find('=') != std::string::npos;
       }));
  if (!texts) keys.refuse_value(where + ".set", "a list of texts, each key=value", set);
  if (set.is_array()) choice.settings = set.get<std::vector<std::string>>();
  for (const std::string& setting : choice.settings) {
    for (const char* own : {"seed=", "arm=", "threads=", "from=", "budget="}) {
      if (setting.starts_with(own))
        throw InputError(file,
                         fmt::format("key '{}.set' must leave '{}' to the search", where, setting));
    }
  }
  return choice;
}

TuneDimension read_dimension(const std::string& file, const std::string& name, const Json& json) {
  const std::string where = "tune.space." + name;
  TuneDimension dimension{.name = name};
  if (json.is_array()) {
    for (const Json& one : json) {
      dimension.choices.push_back(
          read_choice(file, fmt::format("{}.{}", where, dimension.choices.size()), name, one));
      const auto& last = dimension.choices.back();
      if (std::ranges::count(dimension.choices, last.name, &TuneDimension::Choice::name) > 1)
        throw InputError(file, fmt::format("key '{}' must list '{}' once", where, last.name));
    }
    if (dimension.choices.empty())
      throw InputError(file, fmt::format("key '{}' must list at least one value", where));
    return dimension;
  }
  if (!json.is_object())
    throw InputError(file, fmt::format("key '{}' must be a list of values, or a table with 'from' "
                                       "and 'to', not {}",
                                       where, json.dump()));
  KeyReader keys(json, file, where);
  list_keys(keys, dimension);
  std::string scale = "log";
  keys("scale", scale, Words{"log", "linear"});
  keys.finish();
  dimension.log = scale == "log";
  if (!json.contains("from") || !json.contains("to") || !(dimension.from < dimension.to))
    throw InputError(
        file, fmt::format("key '{}' must have 'from' below 'to', not {}", where, json.dump()));
  if (dimension.log && dimension.from <= 0)
    throw InputError(file, fmt::format("key '{}.from' must be above 0 on a scale \"log\", not {}",
                                       where, dimension.from));
  return dimension;
}

TuneDraw draw_of(const TuneSpace& space, std::uint64_t combination) {
  TuneDraw draw;
  for (const TuneDimension& dimension : space.dimensions) {
    const auto& choice = dimension.choices[combination % dimension.choices.size()];
    combination /= dimension.choices.size();
    draw.names.emplace_back(dimension.name, choice.name);
    draw.settings.insert(draw.settings.end(), choice.settings.begin(), choice.settings.end());
  }
  return draw;
}

TuneDraw draw_freely(const TuneSpace& space, RandomStream& random) {
  TuneDraw draw;
  for (const TuneDimension& dimension : space.dimensions) {
    if (!dimension.choices.empty()) {
      const auto& choice =
          dimension.choices[random.below(static_cast<std::uint32_t>(dimension.choices.size()))];
      draw.names.emplace_back(dimension.name, choice.name);
      draw.settings.insert(draw.settings.end(), choice.settings.begin(), choice.settings.end());
      continue;
    }
    const double share = random.unit();
    const double value =
        dimension.log ? std::exp(std::lerp(std::log(dimension.from), std::log(dimension.to), share))
                      : std::lerp(dimension.from, dimension.to, share);
    const std::string text = fmt::format("{:.4g}", value);
    draw.names.emplace_back(dimension.name, text);
    draw.settings.push_back(fmt::format("{}={}", dimension.name, text));
  }
  return draw;
}

}  // namespace

std::vector<DeclaredNumber> tune_numbers() {
  std::vector<DeclaredNumber> list;
  TuneSpace space;
  NumberLister in_tune(list, "tune");
  list_keys(in_tune, space);
  TuneDimension dimension;
  NumberLister in_range(list, "tune.space.KEY");
  list_keys(in_range, dimension);
  return list;
}

bool TuneSpace::has_ranges() const {
  return std::ranges::any_of(dimensions,
                             [](const TuneDimension& one) { return one.choices.empty(); });
}

std::uint64_t TuneSpace::combinations() const {
  std::uint64_t product = 1;
  for (const TuneDimension& one : dimensions)
    product = saturating_multiply(product, static_cast<std::uint64_t>(one.choices.size()));
  return product;
}

TuneSpace read_tune_space(const Json& table, const std::string& file) {
  TuneSpace space;
  KeyReader keys(table, file, "tune");
  list_keys(keys, space);
  const Json dimensions = keys.take("space");
  keys.finish();
  if (!dimensions.is_object() || dimensions.empty())
    throw InputError(file, "[tune] must have a table 'space' of what varies");
  for (const auto& [name, json] : dimensions.items()) {
    for (const char* own : {"seed", "arm", "threads", "from", "budget"}) {
      if (name == own)
        throw InputError(file, fmt::format("key 'tune.space' must leave '{}' to the search", name));
    }
    space.dimensions.push_back(read_dimension(file, name, json));
  }
  return space;
}

std::vector<TuneDraw> draw_trials(const TuneSpace& space, std::uint64_t count) {
  std::vector<TuneDraw> draws;
  const std::uint64_t all = space.combinations();
  if (space.has_ranges() || all > kMostCombinations) {
    for (std::uint64_t trial = 0; trial < count; ++trial) {
      RandomStream random(space.seed, trial, Lane::kTrials);
      draws.push_back(draw_freely(space, random));
    }
    return draws;
  }
  if (count > all)
    wrong_use("--trials must be at most {}, the combinations of the space, not {}", all, count);
  std::vector<std::uint64_t> order(all);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  RandomStream random(space.seed, 0, Lane::kTrials);
  for (std::uint64_t trial = 0; trial < count; ++trial) {
    std::swap(order[trial], order[trial + random.below(static_cast<std::uint32_t>(all - trial))]);
    draws.push_back(draw_of(space, order[trial]));
  }
  return draws;
}

}  // namespace shellgame
