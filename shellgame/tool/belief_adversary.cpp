// `shellgame belief adversary` and `shellgame belief check`: the fastest decay that reveals can
// force on a linear recurrence, with a certificate, and the check of such a certificate.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shellgame/automata/from_program.h"
#include "shellgame/decay/certificate.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct AdversaryCommand {
  std::string representation = "marginal", pace = "symbol", format = "text", certificate;
  AdversaryOptions search;
};

Json to_json(const Attack& attack, const Certificate& certificate, const Confirmation& confirmed,
             const AdversaryCommand& options) {
  Json json;
  json["n"] = certificate.n;
  json["representation"] = options.representation;
  json["per"] = options.pace;
  json["depth"] = options.search.depth;
  json["width"] = options.search.width;
  json["most_orders"] = options.search.most_orders;
  json["situations"] = attack.situations;
  json["symmetries"] = attack.symmetries;
  json["complete"] = attack.complete;
  json["before"] = certificate.before;
  json["cycle"] = certificate.cycle;
  json["rounds"] = attack.rounds;
  json["mixings"] = attack.mixings;
  json["factor_per_cycle"] = attack.factor.get_str();
  json["constant"] = attack.constant;
  json["for_ever"] = confirmed.for_ever;
  json["factor_per_symbol"] = attack.per_symbol();
  json["factor_per_mixing"] = attack.per_mixing();
  json["bound_per_mixing"] = attack.bound_per_mixing.get_str();
  if (attack.bound_per_symbol) json["bound_per_symbol"] = *attack.bound_per_symbol;
  return json;
}

void print_text(const Attack& attack, const Certificate& certificate, const Confirmation& confirmed,
                const AdversaryCommand& options) {
  print_lines("{} representation of {} variables, the fastest decay per {}\n",
              options.representation, certificate.n,
              options.pace == "symbol" ? "symbol" : "mixing command");
  print_lines("searched    {} situations up to {} renamings, {} symbols from the start{}\n",
              attack.situations, attack.symmetries, options.search.depth,
              attack.complete ? ", all of them" : ", the most promising ones");
  if (!certificate.before.empty()) print_lines("before\n");
  for (const std::string& symbol : certificate.before) print_lines("  {}\n", symbol);
  print_lines("cycle       {} symbols, {} of them mixings{}\n", attack.cycle.size(), attack.mixings,
              attack.rounds == 1 ? ""
                                 : fmt::format("; {} rounds of {} up to names", attack.rounds,
                                               attack.cycle.size() / attack.rounds));
  for (const std::string& symbol : certificate.cycle) print_lines("  {}\n", symbol);
  print_lines("per cycle   {}{}\n", attack.factor.get_str(),
              attack.constant ? "" : " (the last of 8 repetitions; it still changes)");
  print_lines("per symbol  {:.6f}{}\n", attack.per_symbol(),
              attack.bound_per_symbol ? fmt::format(", and no word does it in less than {:.6f}",
                                                    *attack.bound_per_symbol)
                                      : "");
  print_lines("per mixing  {:.6f}, and no word does it in less than {}\n", attack.per_mixing(),
              attack.bound_per_mixing.get_str());
  for (const std::string& sentence : confirmed.sentences) print_lines("checked: {}\n", sentence);
}

void run_adversary(AdversaryCommand options, const TaskOptions& tasks) {
  options.search.representation = parse_representation(options.representation);
  options.search.pace = options.pace == "symbol" ? Pace::kSymbol : Pace::kMixing;
  const Task task = tasks.resolve();
  const Sampler sampler(task);
  const Automaton automaton = automaton_of(sampler);
  const Attack attack = find_attack(automaton, options.search);
  // What is printed and checked is what a reader of the file gets.
  const std::string text = write_certificate(
      make_certificate(automaton, options.search.representation, attack, write_task(task)));
  const Certificate certificate = parse_certificate(text, "the certificate");
  const Confirmation confirmed = check_certificate(certificate);
  if (!options.certificate.empty()) write_file(options.certificate, text);
  if (options.format == "json") {
    print_data(to_json(attack, certificate, confirmed, options).dump(2) + "\n");
  } else {
    print_text(attack, certificate, confirmed, options);
  }
}

struct CheckCommand {
  std::string file, format = "text";
};

void run_check(const CheckCommand& options) {
  const Certificate certificate = parse_certificate(read_input(options.file), options.file);
  const Confirmation confirmed = check_certificate(certificate);
  if (options.format == "json") {
    const Json json = {{"reveals", confirmed.reveals},
                       {"rarest_reveal", confirmed.rarest.get_str()},
                       {"factor_per_cycle", certificate.factor.get_str()},
                       {"constant_from", confirmed.constant_from + 1},
                       {"for_ever", confirmed.for_ever}};
    print_data(json.dump(2) + "\n");
    return;
  }
  for (const std::string& sentence : confirmed.sentences) print_lines("{}\n", sentence);
}

}  // namespace

void add_belief_adversary(CLI::App& belief) {
  auto options = std::make_shared<AdversaryCommand>();
  auto tasks = std::make_shared<std::unique_ptr<TaskOptions>>();
  CLI::App* command = add_command(
      belief, "adversary",
      "Search the mixings and reveals that shrink a linear recurrence fastest, and certify them.",
      {"shellgame belief adversary --group S3 --moves swaps --uncertainty branching",
       "shellgame belief adversary --representation joint --group S4 --moves swaps --uncertainty "
       "branching --certificate decay.json"},
      [options, tasks] { run_adversary(*options, **tasks); });
  add_words(command, "--representation", options->representation, {"joint", "marginal"},
            "what the recurrence holds");
  add_words(command, "--per", options->pace, {"symbol", "mixing"},
            "whether reveals count as time, or mixing commands alone");
  add_number(command, "--longest-cycle", options->search.depth, NumberBounds::whole(1, 1000),
             "symbols from the start within which situations are met; a cycle has no more of them "
             "than that between two known states");
  add_number(command, "--width", options->search.width, NumberBounds::whole(1, 100'000'000),
             "situations kept after each symbol");
  add_number(command, "--most-orders", options->search.most_orders,
             NumberBounds::whole(1, 1'000'000),
             "situations with more possible orders are left out");
  command->add_option("--certificate", options->certificate, "also write the certificate here")
      ->type_name("FILE.json");
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
  *tasks = std::make_unique<TaskOptions>(command);
}

void add_belief_check(CLI::App& belief) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command =
      add_command(belief, "check",
                  "Replay a certificate of a decay in exact fractions, with no code of the search.",
                  {"shellgame belief check decay.json"}, [options] { run_check(*options); });
  command->add_option("file", options->file, "what 'belief adversary --certificate' wrote")
      ->type_name("FILE.json")
      ->required();
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
}

}  // namespace shellgame
