// The rule of a verdict, the results that it is given on, and the verdict as text and JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "shellgame/report/table_records.h"
#include "shellgame/report/verdict.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& file, const std::string& key, const std::string& must) {
  throw InputError(file, fmt::format("key '{}' must be {}", key, must));
}

void check_keys(const toml::table& table, const std::string& file,
                const std::vector<std::string>& known) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(known, key.str()) == known.end())
      throw InputError(file, fmt::format("there is no key '{}'; the keys are {}", key.str(),
                                         fmt::join(known, ", ")));
  }
}

std::vector<std::string> names_at(const toml::table& table, const std::string& key,
                                  const std::string& file) {
  std::vector<std::string> names;
  const toml::array* list = table[key].as_array();
  if (list == nullptr) refuse(file, key, "a list of arms");
  for (const toml::node& one : *list) {
    if (!one.is_string()) refuse(file, key, "a list of arms");
    names.push_back(one.as_string()->get());
  }
  return names;
}

std::uint64_t whole_of(const toml::node_view<const toml::node>& node, const std::string& key,
                       const std::string& file) {
  const auto value = node.value<std::int64_t>();
  if (!node.is_integer() || !value || *value < 1 || *value > 1'000'000)
    refuse(file, key, "a whole number from 1 to 1000000");
  return static_cast<std::uint64_t>(*value);
}

void read_levels(const toml::table& table, const std::string& file, VerdictLevels& levels) {
  const std::map<std::string, double*> numbers = {{"eligible-miss", &levels.eligible_miss},
                                                  {"eligible-regret", &levels.eligible_regret},
                                                  {"family", &levels.family},
                                                  {"supported", &levels.supported},
                                                  {"nonlinear-miss", &levels.nonlinear_miss},
                                                  {"supported-m1", &levels.supported_m1},
                                                  {"length", &levels.length},
                                                  {"equal", &levels.equal},
                                                  {"belief", &levels.belief}};
  std::vector<std::string> known = {"eligible-seeds"};
  for (const auto& [key, number] : numbers) known.push_back(key);
  check_keys(table, file, known);
  for (const auto& [key, number] : numbers) {
    if (!table.contains(key)) continue;
    const auto value = table[key].value<double>();
    if (!value || !std::isfinite(*value) || *value < 0 || *value > 10)
      refuse(file, "levels." + key, "a number from 0 to 10");
    *number = *value;
  }
  if (table.contains("eligible-seeds"))
    levels.eligible_seeds = whole_of(table["eligible-seeds"], "levels.eligible-seeds", file);
}

std::string text_at(const toml::table& table, const std::string& key, const std::string& file) {
  const auto value = table[key].value<std::string>();
  if (!value || value->empty()) refuse(file, "regime." + key, "a text");
  return *value;
}

// What tells a cell of an arm's seed: "M5 256 c".
using CellKey = std::tuple<std::string, std::uint64_t, std::string, std::uint64_t, std::string>;

double number_at(const TableRecord& record, const std::string& field, const std::string& file) {
  const Json* value = record.find(field).first;
  if (value == nullptr || !value->is_number())
    throw InputError(file, fmt::format("every cell must have a number '{}'", field));
  return value->get<double>();
}

std::string word_at(const TableRecord& record, const std::string& field, const std::string& file) {
  const Json* value = record.find(field).first;
  if (value == nullptr || !value->is_string())
    throw InputError(file, fmt::format("every cell must have a text '{}'", field));
  return value->get<std::string>();
}

std::uint64_t count_at(const TableRecord& record, const std::string& field,
                       const std::string& file) {
  const Json* value = record.find(field).first;
  if (value == nullptr || !value->is_number_unsigned())
    throw InputError(file, fmt::format("every cell must have a whole number '{}'", field));
  return value->get<std::uint64_t>();
}

VerdictRegime read_regime(const VerdictRule& rule, const VerdictRule::Regime& files) {
  VerdictRegime regime{.name = files.name};
  std::map<CellKey, double> misses;
  std::vector<std::pair<std::string, std::uint64_t>> runs;
  for (const TableRecord& record : read_table_records(files.cycle, "")) {
    const std::string arm = word_at(record, "arm", files.cycle);
    const std::uint64_t seed = count_at(record, "seed", files.cycle);
    misses[{arm, seed, word_at(record, "schedule", files.cycle), count_at(record, "N", files.cycle),
            word_at(record, "ending", files.cycle)}] = number_at(record, "miss", files.cycle);
    if (std::ranges::find(runs, std::pair(arm, seed)) == runs.end()) runs.emplace_back(arm, seed);
  }
  std::map<std::pair<std::string, std::uint64_t>, std::vector<double>> regrets;
  for (const TableRecord& record : read_table_records(files.uniform, "")) {
    if (count_at(record, "commands", files.uniform) != rule.trained) continue;
    regrets[{word_at(record, "arm", files.uniform), count_at(record, "seed", files.uniform)}]
        .push_back(number_at(record, "regret", files.uniform));
  }
  for (const auto& [arm, seed] : runs) {
    const auto at = [&](const std::string& schedule, std::uint64_t n, const std::string& ending) {
      const auto found = misses.find({arm, seed, schedule, n, ending});
      if (found == misses.end())
        throw InputError(files.cycle,
                         fmt::format("the arm '{}' must have the cell {} at N = {}, question {}, "
                                     "for seed {}",
                                     arm, schedule, n, ending, seed));
      return found->second;
    };
    VerdictSeed one{.seed = seed,
                    .l_z = at("Z", rule.primary, "c"),
                    .l_d = at("D", rule.primary, "c"),
                    .l_m5 = at("M5", rule.primary, "c"),
                    .l_m1 = at("M1", rule.primary, "c")};
    if (misses.contains({arm, seed, "M5", rule.primary, "a"}))
      one.l_a = at("M5", rule.primary, "a");
    for (const char* schedule : {"Z", "D", "M5", "M1"}) {
      const bool control = std::string_view(schedule) == "Z" || std::string_view(schedule) == "D";
      for (std::size_t i = 0; i < rule.early.size(); ++i) {
        const double l = at(schedule, rule.early[i], "c");
        one.early = std::max(one.early, l);
        if (control || i == 0) one.early_controls = std::max(one.early_controls, l);
      }
    }
    const auto regret = regrets.find({arm, seed});
    if (regret == regrets.end())
      throw InputError(files.uniform,
                       fmt::format("the arm '{}' must have a regret at {} commands for seed {}",
                                   arm, rule.trained, seed));
    one.regret = std::reduce(regret->second.begin(), regret->second.end()) /
                 static_cast<double>(regret->second.size());
    auto place = std::ranges::find(regime.arms, arm, &VerdictArm::name);
    if (place == regime.arms.end()) place = regime.arms.insert(place, {.name = arm});
    place->seeds.push_back(one);
  }
  return regime;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json bounds_json(const Bounds& bounds) { return {bounds.low, bounds.high}; }

Json test_json(const VerdictTest& test) {
  Json arms = Json::array(), pairs = Json::array();
  for (const VerdictTest::Arm& arm : test.arms)
    arms.push_back({{"arm", arm.name},
                    {"seeds", arm.seeds},
                    {"eligible", arm.eligible},
                    {"learnt", arm.learnt},
                    {"e", number_or_null(arm.e)},
                    {"e_interval", arm.e ? bounds_json(arm.e_interval) : Json()},
                    {"e_m1", number_or_null(arm.e_m1)},
                    {"l_m5", number_or_null(arm.l_m5)},
                    {"l_m5_upper", arm.e ? Json(arm.l_m5_upper) : Json()},
                    {"control", number_or_null(arm.control)},
                    {"l_a", number_or_null(arm.l_a)}});
  for (const VerdictTest::Pair& pair : test.pairs)
    pairs.push_back({{"linear", pair.linear},
                     {"nonlinear", pair.nonlinear},
                     {"p", pair.p},
                     {"p_adjusted", pair.adjusted},
                     {"difference", bounds_json(pair.difference)}});
  return {{"verdict", test.verdict},
          {"not_learnt", test.not_learnt},
          {"supported", test.supported},
          {"length", test.length},
          {"equal", test.equal},
          {"belief", test.belief},
          {"arms", arms},
          {"pairs", pairs}};
}

std::string test_text(const VerdictTest& test) {
  std::string text;
  for (const VerdictTest::Arm& arm : test.arms) {
    text += fmt::format("    {:<6} {:>2} of {:>2} eligible", arm.name, arm.eligible, arm.seeds);
    if (arm.e)
      text += fmt::format(
          "; E {:+.3f} [{:+.3f}, {:+.3f}], with M1 {:+.3f}; L {:.3f}, control {:.3f}", *arm.e,
          arm.e_interval.low, arm.e_interval.high, *arm.e_m1, *arm.l_m5, *arm.control);
    if (arm.l_a) text += fmt::format(", for a {:.3f}", *arm.l_a);
    text += "\n";
  }
  for (const VerdictTest::Pair& pair : test.pairs)
    text += fmt::format(
        "    {} over {}: p {:.2g}, after Holm {:.2g}; difference [{:+.3f}, {:+.3f}]\n", pair.linear,
        pair.nonlinear, pair.p, pair.adjusted, pair.difference.low, pair.difference.high);
  if (!test.not_learnt.empty())
    text += fmt::format("    not learnt in this budget: {}\n", fmt::join(test.not_learnt, ", "));
  return text + fmt::format("    {}\n", test.verdict);
}

}  // namespace

VerdictRule read_verdict_rule(const std::string& file) {
  const toml::table table = parse_toml(read_file(file), file);
  check_keys(table, file,
             {"linear", "nonlinear", "others", "primary", "trained", "early", "levels", "regime"});
  VerdictRule rule;
  rule.linear = names_at(table, "linear", file);
  rule.nonlinear = names_at(table, "nonlinear", file);
  if (table.contains("others")) rule.others = names_at(table, "others", file);
  if (rule.linear.empty() || rule.nonlinear.empty())
    refuse(file, rule.linear.empty() ? "linear" : "nonlinear", "a list of at least one arm");
  if (table.contains("primary")) rule.primary = whole_of(table["primary"], "primary", file);
  if (table.contains("trained")) rule.trained = whole_of(table["trained"], "trained", file);
  if (const toml::array* early = table["early"].as_array()) {
    rule.early.clear();
    for (std::size_t i = 0; i < early->size(); ++i)
      rule.early.push_back(whole_of(table["early"][i], "early", file));
  } else if (table.contains("early")) {
    refuse(file, "early", "a list of numbers of cycles");
  }
  if (const toml::table* levels = table["levels"].as_table()) {
    read_levels(*levels, file, rule.levels);
  } else if (table.contains("levels")) {
    refuse(file, "levels", "a table");
  }
  const toml::array* regimes = table["regime"].as_array();
  if (regimes == nullptr || regimes->empty())
    refuse(file, "regime", "a list of tables, [[regime]]");
  if (rule.early.empty()) refuse(file, "early", "a list of at least one number of cycles");
  const auto folder = std::filesystem::path(file).parent_path();
  for (const toml::node& node : *regimes) {
    if (!node.is_table()) refuse(file, "regime", "a list of tables, [[regime]]");
    const toml::table& one = *node.as_table();
    check_keys(one, file, {"name", "cycle", "uniform"});
    rule.regimes.push_back({.name = text_at(one, "name", file),
                            .cycle = (folder / text_at(one, "cycle", file)).string(),
                            .uniform = (folder / text_at(one, "uniform", file)).string()});
  }
  return rule;
}

std::vector<VerdictRegime> read_verdict_regimes(const VerdictRule& rule) {
  std::vector<VerdictRegime> regimes;
  for (const VerdictRule::Regime& files : rule.regimes) {
    if (std::filesystem::exists(files.cycle)) regimes.push_back(read_regime(rule, files));
  }
  return regimes;
}

nlohmann::ordered_json to_json(const Verdict& verdict) {
  Json regimes = Json::array();
  for (const VerdictRegime& regime : verdict.regimes) {
    Json seeds = Json::array();
    for (const VerdictArm& arm : regime.arms) {
      for (const VerdictSeed& seed : arm.seeds)
        seeds.push_back({{"regime", regime.name},
                         {"arm", arm.name},
                         {"seed", seed.seed},
                         {"eligible", seed.eligible},
                         {"eligible_by_controls", seed.by_controls},
                         {"e", seed.e()},
                         {"e_m1", seed.e_m1()},
                         {"z", seed.l_z},
                         {"d", seed.l_d},
                         {"m5", seed.l_m5},
                         {"m1", seed.l_m1},
                         {"a", number_or_null(seed.l_a)},
                         {"early", seed.early},
                         {"early_controls", seed.early_controls},
                         {"regret", seed.regret}});
    }
    regimes.push_back({{"name", regime.name},
                       {"eligible", test_json(regime.eligible)},
                       {"controls", test_json(regime.controls)},
                       {"all", test_json(regime.all)},
                       {"seeds", seeds}});
  }
  return {{"verdict", verdict.words},
          {"eligible_by_controls", verdict.with_controls},
          {"with_all_seeds", verdict.with_all},
          {"regimes", regimes}};
}

std::string to_text(const Verdict& verdict) {
  std::string text;
  for (const VerdictRegime& regime : verdict.regimes)
    text += fmt::format("{}\n  eligible seeds\n{}  eligible by the controls\n{}  all seeds\n{}",
                        regime.name, test_text(regime.eligible), test_text(regime.controls),
                        test_text(regime.all));
  return text + fmt::format("verdict: {}\neligible by the controls: {}\nwith all seeds: {}\n",
                            verdict.words, verdict.with_controls, verdict.with_all);
}

}  // namespace shellgame
