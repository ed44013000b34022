// `shellgame belief stability`: where linear recurrences break in finite precision.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "shellgame/decay/stability.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/belief_source.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct StabilityCommand {
  std::optional<BeliefSource> source;
  std::vector<std::string> filters, precisions;
  FilterWords words;
  bool halving = false;
  std::uint64_t cycles = 0, curve = 0;
  double wrong_by = 0.01;
  std::string format = "text", output = "-";
};

std::vector<Precision> precisions(const StabilityCommand& command) {
  std::vector<Precision> result;
  for (const std::string& name : command.precisions) result.push_back(parse_precision(name));
  if (result.empty()) result.assign(std::begin(kAllPrecisions), std::end(kAllPrecisions));
  return result;
}

constexpr std::uint64_t kMostHalvings = 1'000'000;

void run_halving(const StabilityCommand& command) {
  Json all = Json::array();
  std::string text = "precision  flush  filter    cycles survived\n",
              csv = "precision,flush_subnormals,filter,cycles_survived,vanished\n";
  const std::uint64_t most = command.cycles == 0 ? kMostHalvings : command.cycles;
  for (const std::string& filter :
       command.filters.empty() ? std::vector<std::string>{"linear"} : command.filters) {
    for (Precision precision : precisions(command)) {
      FilterOptions options;
      options.kind = parse_filter(filter);
      if (options.kind == FilterKind::kMarginal || options.kind == FilterKind::kGain)
        wrong_use("--halving needs a filter of a single number: not marginal, not gain");
      options.precision = precision;
      options.flush = command.words.flush;
      const std::uint64_t survived = halvings_survived(options, most);
      const bool vanished = survived < most;
      const char* name = format_of(precision).name;
      all.push_back({{"precision", name},
                     {"flush_subnormals", options.flush},
                     {"filter", filter},
                     {"start", 1},
                     {"factor", 0.5},
                     {"cycles_survived", survived},
                     {"vanished", vanished}});
      text += fmt::format("{:<9}  {:<5}  {:<8}  {}{}\n", name, options.flush ? "yes" : "no", filter,
                          survived, vanished ? "" : " (stopped there, alive)");
      csv += fmt::format("{},{},{},{},{}\n", name, options.flush ? 1 : 0, filter, survived,
                         vanished ? 1 : 0);
    }
  }
  const Json& json = all.size() == 1 ? all[0] : all;
  write_file(command.output, command.format == "json"  ? json.dump(2) + "\n"
                             : command.format == "csv" ? csv
                                                       : text);
}

// Gains of the cycle itself; for a trace those of the task's next sample, which are not made to
// measure.
std::vector<double> gains_for(const StabilityCommand& command, const BeliefInput& input,
                              std::uint64_t cycles) {
  if (!command.source->is_task())
    return fitted_gains(input.automaton, input.word, std::min<std::uint64_t>(cycles, 100));
  const BeliefInput other = command.source->next_sample(Prints::kByVariable);
  const std::vector<double> theirs = fitted_gains(other.automaton, other.word, 1);
  std::vector<double> gains;
  for (const Symbol& symbol : input.automaton.symbols()) {
    const auto found = other.automaton.find_symbol(symbol.name);
    gains.push_back(found ? theirs[*found] : 1);
  }
  return gains;
}

std::vector<FilterOptions> chosen_filters(const StabilityCommand& command, const BeliefInput& input,
                                          std::uint64_t cycles) {
  std::vector<std::string> names = command.filters;
  if (names.empty()) {
    names = {"linear", "gain", "exact", "log"};
    if (input.automaton.space().is_orders()) names.push_back("marginal");
  }
  std::vector<FilterOptions> result;
  for (const std::string& name : names) {
    for (Precision precision : precisions(command)) {
      FilterOptions options;
      options.kind = parse_filter(name);
      options.precision = precision;
      options.flush = command.words.flush;
      options.hard_resets = command.words.hard_resets;
      // Some entries may have to vanish in the decoder: it need not be exact to the last bit here.
      options.sinkhorn_tolerance = 1e-9;
      options.sinkhorn_rounds = 1000;
      if (options.kind == FilterKind::kGain) options.gains = gains_for(command, input, cycles);
      if (command.filters.empty()) {  // all that fit
        try {
          make_filter(input.automaton, options);
        } catch (const UsageError&) {
          continue;
        }
      }
      result.push_back(std::move(options));
    }
  }
  return result;
}

template <class Number>
std::string or_dash(const std::optional<Number>& number) {
  return number ? fmt::format("{:.0f}", static_cast<double>(*number)) : "-";
}
template <class Number>
Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

void run_stability(const StabilityCommand& command) {
  if (command.halving) return run_halving(command);
  const auto inputs =
      command.source->read(command.words.hard_resets ? Prints::kWhole : Prints::kByVariable);
  if (inputs.size() != 1)
    wrong_use("stability looks at one trace at a time, not {}", inputs.size());
  const BeliefInput& input = inputs[0];
  if (input.word.empty())
    wrong_use("stability needs a trace with a command or a reveal, and this one has neither");
  const std::uint64_t cycles = command.cycles > 0       ? command.cycles
                               : input.commands.empty() ? 2000
                                                        : 1;
  StabilityOptions options;
  options.cycles = cycles;
  options.wrong_by = command.wrong_by;
  options.curve = command.curve;
  const StabilityReport report = measure_stability(input.automaton, input.word,
                                                   chosen_filters(command, input, cycles), options);
  const double symbols = static_cast<double>(input.word.size());

  const auto a_cycle = [&](double rate) {
    return cycles == 1 ? "" : fmt::format(", factor {:.6g} a cycle", std::exp(rate * symbols));
  };
  std::string text = fmt::format(
      "{} symbols, {}\n"
      "joint decay    {:.6f} nats a symbol (top Lyapunov exponent){}, least survival {:.4g}\n",
      input.word.size(), cycles == 1 ? "once" : fmt::format("{} times", cycles), report.joint_rate,
      a_cycle(report.joint_rate), report.least_survival);
  if (report.marginal_rate) {
    text += fmt::format("marginal decay {:.6f} nats a symbol{}, lowest row or column sum {:.3g}\n",
                        *report.marginal_rate, a_cycle(*report.marginal_rate),
                        std::exp(report.marginal_least));
  }
  text += fmt::format(
      "\nfilter    precision  flush  predicted  vanished  overflow  wrong by {:<6}  worst\n",
      command.wrong_by);
  std::string csv =
      "filter,precision,flush_subnormals,predicted_step,vanished_step,overflow_step,wrong_step,"
      "worst\n";
  Json filters = Json::array();
  for (const Survival& one : report.filters) {
    const char* precision = format_of(one.filter.precision).name;
    const std::string filter(to_string(one.filter.kind));
    text += fmt::format("{:<8}  {:<9}  {:<5}  {:>9}  {:>8}  {:>8}  {:>15}  {:.3g}\n", filter,
                        precision, one.filter.flush ? "yes" : "no", or_dash(one.predicted_step),
                        or_dash(one.vanished_step), or_dash(one.overflow_step),
                        or_dash(one.wrong_step), one.worst);
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", filter, precision, one.filter.flush ? 1 : 0,
                       or_dash(one.predicted_step), or_dash(one.vanished_step),
                       or_dash(one.overflow_step), or_dash(one.wrong_step), one.worst);
    filters.push_back({{"filter", filter},
                       {"precision", precision},
                       {"flush_subnormals", one.filter.flush},
                       {"predicted_step", or_null(one.predicted_step)},
                       {"vanished_step", or_null(one.vanished_step)},
                       {"overflow_step", or_null(one.overflow_step)},
                       {"wrong_step", or_null(one.wrong_step)},
                       {"worst_total_variation", one.worst}});
  }
  if (command.format == "json") {
    Json json = {{"symbols", input.word.size()},
                 {"cycles", cycles},
                 {"joint_nats_per_symbol", report.joint_rate},
                 {"joint_factor_per_cycle", std::exp(report.joint_rate * symbols)},
                 {"least_survival", report.least_survival},
                 {"wrong_by", command.wrong_by},
                 {"filters", filters}};
    if (report.marginal_rate) {
      json["marginal_nats_per_symbol"] = *report.marginal_rate;
      json["marginal_lowest_log_sum"] = report.marginal_least;
      json["marginal_factor_per_cycle"] = std::exp(*report.marginal_rate * symbols);
    }
    if (command.curve > 0) {
      json["log_norms"] = report.log_norms;
      json["marginal_log_norms"] = report.marginal_log_norms;
    }
    text = json.dump(2) + "\n";
  }
  write_file(command.output, command.format == "csv" ? csv : text);
}

}  // namespace

void add_belief_stability(CLI::App& belief) {
  auto options = std::make_shared<StabilityCommand>();
  CLI::App* command = add_command(
      belief, "stability",
      "Where linear recurrences break: decay, predicted and measured vanishing in each precision, "
      "and the first wrong belief.",
      {"shellgame belief stability --halving --precision fp32 --format json",
       "shellgame belief stability --example joint-cycle",
       "shellgame belief stability --example replenished-cycle --every 30 --filter marginal",
       "shellgame belief stability --group S4 --uncertainty branching --moves swaps --commands "
       "2000 "
       "--spacing 2 --reveals round-robin"},
      [options] { run_stability(*options); });
  command->add_flag("--halving", options->halving,
                    "one number that starts at 1 and is halved each cycle: how many it survives");
  command
      ->add_option("--filter", options->filters,
                   "the filters to test, separated by commas; by default all that fit")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_option("--precision", options->precisions, "the formats to test; by default all")
      ->delimiter(',')
      ->type_name("NAME,...");
  add_format_flags(command, options->words);
  add_number(command, "--cycles", options->cycles, NumberBounds::whole(0, kMostCommands),
             "how often the word is said; 0 is 1 for a trace, 2000 for an automaton's word and "
             "1000000 for --halving");
  add_number(command, "--wrong-by", options->wrong_by, kShareBounds,
             "the total variation from which on a belief counts as wrong")
      ->type_name("P");
  add_number(command, "--curve", options->curve, NumberBounds::whole(0, 100'000'000),
             "JSON: the log norms after each of the first N symbols");
  add_words(command, "--format", options->format, {"text", "json", "csv"},
            "the form of the output");
  command->add_option("-o,--output", options->output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
  options->source.emplace(command);
}

}  // namespace shellgame
