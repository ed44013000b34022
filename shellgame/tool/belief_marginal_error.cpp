// `shellgame belief marginal-error`: the marginal decoder against the exact belief, over a grid of
// tasks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shellgame/decay/marginal_error.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/traces/trace_size.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct MarginalErrorCommand {
  std::vector<std::string> groups = {"S3", "S4", "S5"};
  std::vector<std::string> moves = {"swaps", "permutations"};
  std::vector<std::string> starts = {"known"};
  std::vector<double> probabilities = {0.1, 0.3, 0.5};
  std::vector<std::uint64_t> spacings = {1, 2, 4, 8, 16};
  std::uint64_t commands = 64;
  MarginalErrorOptions study;
  std::string format = "text";
};

// One row of the table, in its columns' order.
Json row(const Task& task, const MarginalError& e) {
  return {{"group", task.group},
          {"moves", task.moves == Moves::kSwaps ? "swaps" : "permutations"},
          {"start", task.unknown_start ? "unknown" : "known"},
          {"probability", task.probabilities.front()},
          {"spacing", task.spacing},
          {"commands", task.commands},
          {"traces", e.traces},
          {"reveals", e.reveals},
          {"tv", e.total_variation.value},
          {"tv_error", e.total_variation.error},
          {"tv_largest", e.largest_variation},
          {"kl", e.divergence.value},
          {"kl_error", e.divergence.error},
          {"kl_largest", e.largest_divergence},
          {"kl_infinite", e.infinite},
          {"other_guess", e.other_guess.value},
          {"other_guess_error", e.other_guess.error},
          {"exact_loss", e.exact_loss.value},
          {"decoder_loss", e.decoder_loss.value},
          {"tv_all", e.variation_of_all.value},
          {"tv_all_error", e.variation_of_all.error},
          {"unconverged", e.unconverged},
          {"vanished", e.vanished}};
}

std::string cell(const Json& x) {
  if (x.is_string()) return x.get<std::string>();
  if (x.is_number_float()) return fmt::format("{:.6g}", x.get<double>());
  return x.dump();
}

void print_csv(const Json& row, bool first) {
  std::string head, line;
  for (const auto& [name, value] : row.items()) {
    head += (head.empty() ? "" : ",") + name;
    line += (line.empty() ? "" : ",") + cell(value);
  }
  if (first) print_lines("{}\n", head);
  print_lines("{}\n", line);
}

void print_text(const Json& r, bool first) {
  if (first) {
    print_lines(
        "{:5} {:12} {:7} {:>4} {:>7} {:>8} {:>7} {:>7} {:>8} {:>7} {:>7} {:>8} {:>8} {:>6} {:>6}\n",
        "group", "moves", "start", "p", "spacing", "reveals", "tv", "+-", "largest", "kl", "argmax",
        "exact", "decoder", "unconv", "vanish");
  }
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  print_lines(
      "{:5} {:12} {:7} {:>4} {:>7} {:>8} {:>7.4f} {:>7.4f} {:>8.4f} {:>7.4f} {:>7.4f} {:>8.4f} "
      "{:>8.4f} {:>6} {:>6}\n",
      r["group"].get<std::string>(), r["moves"].get<std::string>(), r["start"].get<std::string>(),
      number("probability"), r["spacing"].get<std::uint64_t>(), r["reveals"].get<std::uint64_t>(),
      number("tv"), number("tv_error"), number("tv_largest"), number("kl"), number("other_guess"),
      number("exact_loss"), number("decoder_loss"), r["unconverged"].get<std::uint64_t>(),
      r["vanished"].get<std::uint64_t>());
}

std::vector<Task> grid(const MarginalErrorCommand& options) {
  std::vector<Task> tasks;
  for (const std::string& group : options.groups) {
    for (const std::string& moves : options.moves) {
      for (const std::string& start : options.starts) {
        for (double probability : options.probabilities) {
          for (std::uint64_t spacing : options.spacings) {
            Task& task = tasks.emplace_back();
            task.group = group;
            task.moves = moves == "swaps" ? Moves::kSwaps : Moves::kPermutations;
            task.unknown_start = start == "unknown";
            task.branching = true;
            task.probabilities = {probability};
            task.spacing = spacing;
            task.commands = options.commands;
            check_task(task);
          }
        }
      }
    }
  }
  return tasks;
}

// Each thread makes a trace whole, and what is counted of every trace stays.
void require_study_in_memory(const Task& task, std::uint64_t traces) {
  constexpr std::uint64_t kCountedBytes = 128;
  const std::uint64_t at_once =
      std::min<std::uint64_t>(traces, static_cast<std::uint64_t>(std::max(1, thread_count())));
  const std::uint64_t made =
      saturating_multiply(task.commands, at_once, trace_bytes_per_command(Sampler(task)));
  require_memory(saturating_add(made, saturating_multiply(traces, kCountedBytes)),
                 fmt::format("{} traces of {} commands", traces, task.commands));
}

void run_study(const MarginalErrorCommand& options) {
  Json all = Json::array();
  for (const Task& task : grid(options)) {
    require_study_in_memory(task, options.study.traces);
    const Json one = row(task, marginal_error(task, options.study));
    if (options.format == "csv") print_csv(one, all.empty());
    if (options.format == "text") print_text(one, all.empty());
    all.push_back(one);
  }
  if (options.format == "json") print_data(all.dump(2) + "\n");
}

CLI::Option* add_list(CLI::App* command, const std::string& name, std::vector<std::string>& list,
                      const char* type, const std::string& help) {
  return command->add_option(name, list, help)
      ->type_name(type)
      ->delimiter(',')
      ->capture_default_str();
}

CLI::Option* check_words(CLI::Option* option, std::vector<std::string> words) {
  return option->check([words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("must be {} or {}, not '{}'", words[0], words[1], text);
  });
}

}  // namespace

void add_belief_marginal_error(CLI::App& belief) {
  auto options = std::make_shared<MarginalErrorCommand>();
  CLI::App* command = add_command(
      belief, "marginal-error",
      "Compare the marginal recurrence and its Sinkhorn decoder with the exact belief.",
      {"shellgame belief marginal-error --groups S3,S4 --spacings 1,4 --probabilities 0.5",
       "shellgame belief marginal-error --starts unknown --format csv"},
      [options] { run_study(*options); });
  add_list(command, "--groups", options->groups, "NAME,...", "groups: S3 to S8");
  check_words(add_list(command, "--moves", options->moves, "NAME,...", "swaps, permutations"),
              {"swaps", "permutations"});
  check_words(add_list(command, "--starts", options->starts, "NAME,...", "known, unknown"),
              {"known", "unknown"});
  add_numbers(command, "--probabilities", options->probabilities, kShareBounds,
              "the chance that a hidden branch is taken")
      ->type_name("P,...");
  add_numbers(command, "--spacings", options->spacings, kCommandBounds, "commands between reveals");
  add_number(command, "--traces", options->study.traces, NumberBounds::whole(1, 1'000'000'000),
             "traces for each row");
  add_number(command, "--commands", options->commands, kCommandBounds, "commands in each trace");
  add_number(command, "--seed", options->study.seed, kSeedBounds, "the seed of the traces");
  add_number(command, "--sinkhorn-rounds", options->study.rounds,
             NumberBounds::whole(1, 1'000'000'000),
             "how long the decoder may try to come within 1e-9");
  add_words(command, "--format", options->format, {"text", "json", "csv"}, "the form of the table");
}

}  // namespace shellgame
