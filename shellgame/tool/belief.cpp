// `shellgame belief`: what is known at every reveal before it is seen, by any filter.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/smoothing.h"
#include "shellgame/decay/stability.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/printable.h"
#include "shellgame/tool/belief_source.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct BeliefCommand {
  std::optional<BeliefSource> source;
  FilterWords filter;
  std::string format = "text", output = "-";
  bool belief = false, smooth = false, path = false, next = false, print_automaton = false;
};

// One distribution that was held before a reveal: of a variable, or of the states.
struct Predicted {
  std::string of;
  std::vector<std::string> names;
  std::vector<double> chances;
  std::vector<bool> allowed;  // by the reveal
};

struct Row {
  std::uint64_t step = 0;  // counted from 1
  std::optional<std::uint64_t> commands;
  std::string symbol;
  std::vector<Predicted> predicted;
  bool evidence = false;             // it has a reveal or a policy
  bool failed = false;               // and it left nothing
  double entropy = 0, log_norm = 0;  // nats; before and after the reveal
  StepReport report;
  std::vector<double> belief;  // after the step, on request
};

// A command and what it printed, on one line.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, 1, text.compare(at + 1, 3, "...") == 0 ? " " : " -> ");
  return text;
}

class Run {
 public:
  Run(const BeliefInput& input, FilterOptions options, bool keep_beliefs)
      : input_(input), keep_beliefs_(keep_beliefs) {
    if (options.kind == FilterKind::kGain)
      options.gains = fitted_gains(input.automaton, input.word, 1);
    filter_ = options.kind == FilterKind::kExact && options.precision == Precision::kFp64 &&
                      !options.flush
                  ? make_exact_filter(input.automaton)
                  : make_filter(input.automaton, options);
  }

  // False if a step left no mass; `stopped` then says why.
  bool run() {
    for (std::size_t t = 0; t < input_.word.size(); ++t) {
      const Symbol& symbol = input_.automaton.symbol(input_.word[t]);
      Row row;
      row.step = t + 1;
      if (!input_.commands.empty()) row.commands = input_.commands[t];
      row.symbol = one_line(symbol.name);
      row.evidence = !symbol.is_transition_only() || !symbol.policy.empty();
      try {
        if (row.evidence) predict(symbol, row);
        row.report = filter_->step(input_.word[t]);
      } catch (const FilterFailure& error) {
        stopped = error.what();
        row.failed = true;
        row.report.survival = 0;
        row.log_norm = -std::numeric_limits<double>::infinity();
        if (row.evidence) rows.push_back(std::move(row));
        return false;
      }
      row.log_norm = filter_->log_norm();
      if (keep_beliefs_) row.belief = belief();
      if (row.evidence || keep_beliefs_) rows.push_back(std::move(row));
    }
    return true;
  }

  // What may be said after the last symbol: how likely each reveal is to hold, and each symbol to
  // be said (by the policy, or each that the state allows with the same chance).
  Json next_symbols() const {
    const std::vector<double> said = symbol_chances(input_.automaton, filter_->belief());
    Json result = Json::array();
    for (SymbolId s = 0; s < said.size(); ++s) {
      result.push_back({{"symbol", one_line(input_.automaton.symbol(s).name)},
                        {"holds", filter_->chance(s)},
                        {"said", said[s]}});
    }
    return result;
  }

  std::vector<Row> rows;
  std::string stopped;

 private:
  std::vector<double> belief() const {
    return filter_->automaton().space().is_orders() ? filter_->marginals() : filter_->belief();
  }

  void predict(const Symbol& symbol, Row& row) const {
    const StateSpace& space = input_.automaton.space();
    row.entropy = filter_->entropy();
    if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
      for (const Cell& cell : cells->cells) {
        Predicted& one = row.predicted.emplace_back();
        one.of = space.names().variable(cell.variable);
        one.chances = filter_->predict(cell.variable);
        for (std::size_t v = 0; v < one.chances.size(); ++v) {
          one.names.push_back(space.names().value(v).text);
          one.allowed.push_back(std::ranges::binary_search(cell.values, static_cast<ValueId>(v)));
        }
      }
    } else if (space.degree() <= 12 && space.size() <= 1000) {
      Predicted& one = row.predicted.emplace_back();
      one.of = "state";
      one.chances = filter_->belief();
      for (StateId q = 0; q < one.chances.size(); ++q) {
        one.names.push_back(space.name(q));
        one.allowed.push_back(allows(space, symbol, q));
      }
    }
  }

  const BeliefInput& input_;
  bool keep_beliefs_;
  std::unique_ptr<Filter> filter_;
};

std::string bar(double share) {
  // Eighths of a block where the terminal may show them.
  const int eighths = static_cast<int>(std::lround(share * 8 * 24));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "\u2588";
  static const char* const kParts[] = {"",       "\u258f", "\u258e", "\u258d",
                                       "\u258c", "\u258b", "\u258a", "\u2589"};
  return text + kParts[eighths % 8];
}

std::string text_of(const BeliefInput& input, const Run& run) {
  std::string text = fmt::format("trace {}\n", input.index);
  if (input.commands.empty()) text = input.automaton.kind() + "\n";
  for (const Row& row : run.rows) {
    text += fmt::format("\nstep {}", row.step);
    if (row.commands) text += fmt::format(", after {} commands", *row.commands);
    text += fmt::format(": {}\n", row.symbol);
    for (const Predicted& one : row.predicted) {
      std::size_t width = 0;
      for (const std::string& name : one.names) width = std::max(width, name.size());
      for (std::size_t v = 0; v < one.names.size(); ++v) {
        const std::string drawn = bar(one.chances[v]);
        text +=
            fmt::format("  {} {:>{}}  {:.4f}{}{}{}\n", one.of, one.names[v], width, one.chances[v],
                        drawn.empty() ? "" : " ", drawn, one.allowed[v] ? " <" : "");
      }
    }
    if (row.evidence) {
      text += fmt::format("  survival {:.6g}   entropy before {:.4f} nats   log norm {:.6g}{}{}\n",
                          row.report.survival, row.entropy, row.log_norm,
                          row.report.zero_reveals > 0 ? "   REVEAL OF A ZERO ENTRY" : "",
                          row.report.recovered ? "   recovered by a hard reset" : "");
    }
    if (!row.belief.empty()) {
      const std::size_t n = input.automaton.space().degree();
      text += n > 0 ? "  marginals after (variable by value):\n" : "  belief after:\n";
      for (std::size_t i = 0; i < row.belief.size(); ++i) {
        if (n > 0 && i % n == 0)
          text += fmt::format("  {:>4} ", input.automaton.space().names().variable(i / n));
        if (n == 0) {
          text +=
              fmt::format("  {} {:.6f} {}\n", input.automaton.space().name(static_cast<StateId>(i)),
                          row.belief[i], bar(row.belief[i]));
        } else {
          text += fmt::format(" {:.4f}{}", row.belief[i], (i + 1) % n == 0 ? "\n" : "");
        }
      }
    }
  }
  return text;
}

Json distribution_json(const Predicted& one) {
  Json result = Json::object();
  for (std::size_t v = 0; v < one.names.size(); ++v) {
    if (one.chances[v] != 0) result[one.names[v]] = one.chances[v];
  }
  return result;
}

Json json_of(const BeliefInput& input, const Run& run) {
  const StateSpace& space = input.automaton.space();
  Json steps = Json::array();
  for (const Row& row : run.rows) {
    Json step = {{"step", row.step}};
    if (row.commands) step["command"] = *row.commands;
    step["symbol"] = row.symbol;
    Json predicted = Json::object();
    for (const Predicted& one : row.predicted) predicted[one.of] = distribution_json(one);
    if (!row.predicted.empty()) step["predicted"] = predicted;
    if (row.evidence) {
      step["survival"] = row.report.survival;
      step["entropy"] = row.entropy;
    }
    step["log_norm"] = row.failed ? Json() : Json(row.log_norm);
    if (row.report.zero_reveals > 0) step["zero_reveals"] = row.report.zero_reveals;
    if (row.report.recovered) step["recovered"] = true;
    const std::size_t n = space.degree();
    if (!row.belief.empty()) {
      Json belief = Json::object();
      if (n == 0) {
        for (StateId q = 0; q < row.belief.size(); ++q) belief[space.name(q)] = row.belief[q];
      }
      for (std::size_t v = 0; v < n; ++v) {
        Json values = Json::object();
        for (std::size_t x = 0; x < n; ++x)
          values[space.names().value(x).text] = row.belief[v * n + x];
        belief[space.names().variable(v)] = values;
      }
      step["belief"] = belief;
    }
    steps.push_back(step);
  }
  Json result = {{"index", input.index}, {"steps", steps}};
  if (!run.stopped.empty()) result["stopped"] = run.stopped;
  return result;
}

// A field of a CSV, in quotes where it needs them.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

// A line for each value that was predicted; one without a value where nothing could be.
std::string csv_of(const BeliefInput& input, const Run& run) {
  std::string text;
  for (const Row& row : run.rows) {
    if (!row.evidence) continue;
    const std::string head = fmt::format("{},{},{},", input.index, row.step,
                                         row.commands ? std::to_string(*row.commands) : "");
    const std::string tail =
        fmt::format(",{},{},{}\n", row.report.survival, row.entropy, row.log_norm);
    for (const Predicted& one : row.predicted) {
      for (std::size_t v = 0; v < one.names.size(); ++v) {
        text += head +
                fmt::format("{},{},{},{}", field(one.of), field(one.names[v]), one.chances[v],
                            one.allowed[v] ? 1 : 0) +
                tail;
      }
    }
    if (row.predicted.empty()) text += head + ",,," + tail;
  }
  return text;
}

// Inverse inference: what all symbols together tell about the start.
Json smoothed_json(const BeliefInput& input) {
  const StateSpace& space = input.automaton.space();
  Json start = Json::object();
  const double log_evidence =
      smooth(input.automaton, input.word, [&](std::size_t t, const std::vector<double>& posterior) {
        if (t != 0) return;
        for (StateId q = 0; q < posterior.size(); ++q) {
          if (posterior[q] > 0) start[space.name(q)] = posterior[q];
        }
      });
  return {{"log_evidence", log_evidence}, {"start", start}};
}

Json path_json(const BeliefInput& input) {
  const Path path = most_likely_path(input.automaton, input.word);
  Json states = Json::array();
  for (StateId q : path.states) states.push_back(input.automaton.space().name(q));
  return {{"log_probability", path.log_probability}, {"states", states}};
}

std::string start_text(const Json& smoothed) {
  std::vector<std::pair<double, std::string>> states;
  for (const auto& [name, chance] : smoothed["start"].items())
    states.emplace_back(-chance.get<double>(), name);
  std::ranges::stable_sort(states, {}, [](const auto& entry) { return entry.first; });
  std::string text = "\nthe start, given all that was seen:\n";
  for (std::size_t i = 0; i < states.size() && i < 10; ++i)
    text +=
        fmt::format("  {}  {:.4f} {}\n", states[i].second, -states[i].first, bar(-states[i].first));
  if (states.size() > 10) text += fmt::format("  and {} more\n", states.size() - 10);
  return text;
}

void run_belief(const BeliefCommand& command) {
  if (command.print_automaton) {
    write_file(command.output, write_automaton(command.source->whole()));
    return;
  }
  const FilterOptions options = command.filter.options();
  if (command.format == "csv" && (command.smooth || command.path || command.next))
    wrong_use("--smooth, --path and --next need --format text or json, not csv");
  if (options.kind == FilterKind::kRational &&
      (options.precision != Precision::kFp64 || options.flush))
    wrong_use("the rational filter is exact: it takes no --precision and no --flush-subnormals");
  const auto inputs =
      command.source->read(options.hard_resets ? Prints::kWhole : Prints::kByVariable);
  if (command.smooth || command.path) {
    for (const BeliefInput& input : inputs) check_smoothing(input.automaton);
  }
  std::string text, stopped;
  Json traces = Json::array();
  if (command.format == "csv")
    text = "trace,step,command,of,value,probability,allowed,survival,entropy,log_norm\n";
  for (const BeliefInput& input : inputs) {
    Run run(input, options, command.belief);
    if (!run.run()) stopped = run.stopped;
    if (command.format == "csv") text += csv_of(input, run);
    if (command.format == "text") text += printable_lines(text_of(input, run));
    Json json = command.format == "json" ? json_of(input, run) : Json();
    if (command.smooth && stopped.empty()) {
      const Json smoothed = smoothed_json(input);
      if (command.format == "text") text += printable_lines(start_text(smoothed));
      if (command.format == "json") json["smoothed"] = smoothed;
    }
    if (command.next && stopped.empty()) {
      const Json next = run.next_symbols();
      if (command.format == "text") {
        text += "\nnext (its reveal holds; it is said):\n";
        for (const Json& one : next)
          text +=
              fmt::format("  {:.4f}  {:.4f}  {}\n", one["holds"].get<double>(),
                          one["said"].get<double>(), printable(one["symbol"].get<std::string>()));
      }
      if (command.format == "json") json["next"] = next;
    }
    if (command.path && stopped.empty()) {
      const Json path = path_json(input);
      if (command.format == "text") {
        text += "\nthe most likely path:\n ";
        for (const auto& state : path["states"]) text += " " + printable(state.get<std::string>());
        text += fmt::format("\n  log probability {:.6g}\n", path["log_probability"].get<double>());
      }
      if (command.format == "json") json["most_likely_path"] = path;
    }
    if (command.format == "json") traces.push_back(json);
    if (command.format == "text" && inputs.size() > 1) text += "\n";
    if (!stopped.empty()) break;
  }
  if (command.format == "json") {
    const Json report = {{"filter", command.filter.filter},
                         {"precision", command.filter.precision},
                         {"flush_subnormals", command.filter.flush},
                         {"hard_resets", command.filter.hard_resets},
                         {"traces", traces}};
    text = report.dump(2) + "\n";
  }
  write_file(command.output, text);
  if (!stopped.empty()) fail("{}", stopped);
}

}  // namespace

void add_belief(CLI::App& app) {
  auto options = std::make_shared<BeliefCommand>();
  auto* command = add_command(
      app, "belief",
      "What can be known: exact beliefs at every reveal, by filters from exact to linear, in any "
      "precision.",
      {"shellgame belief --group S3 --uncertainty branching --moves swaps --commands 6 --spacing 2",
       "shellgame belief --trace traces.jsonl --format csv --output beliefs.csv",
       "shellgame belief --example marginal-cycle --filter marginal --belief",
       "shellgame belief --automaton weather.toml --sample-word 20 --filter linear --precision "
       "fp16",
       "shellgame belief --uncertainty unknown-start --group S4 --commands 6 --smooth --path",
       "shellgame belief examples"});
  command->callback([options, command] {
    if (command->get_subcommands().empty()) run_belief(*options);
  });
  command->require_subcommand(0, 1);
  add_words(
      command, "--filter", options->filter.filter, filter_names(),
      "how the belief is held; gain fits a gain for each symbol to the survivals of the word");
  add_words(command, "--precision", options->filter.precision, precision_names(),
            "every operation is rounded to it");
  add_format_flags(command, options->filter);
  add_words(command, "--format", options->format, {"text", "json", "csv"},
            "the form of the output");
  command->add_option("-o,--output", options->output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
  command->add_flag("--belief", options->belief,
                    "also the whole belief after every step (marginals of the variables)");
  command->add_flag("--smooth", options->smooth,
                    "also the start given all evidence (forward-backward)");
  command->add_flag("--path", options->path, "also the most likely path of states");
  command->add_flag("--next", options->next, "also the chance of each symbol after the last one");
  command->add_flag("--print-automaton", options->print_automaton,
                    "print the automaton as TOML and stop (of a task: its whole alphabet)");
  options->source.emplace(command);
  add_belief_examples(*command);
  add_belief_stability(*command);
  add_belief_adversary(*command);
  add_belief_check(*command);
  add_belief_marginal_error(*command);
}

}  // namespace shellgame
