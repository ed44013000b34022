// `shellgame sequence`: the sequence-to-sequence tasks that the field compares on.
#include "shellgame/sequences/sequence.h"

#include <fmt/format.h>

#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/sequences/word_problem_csv.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

struct SequenceOptions {
  std::string language = "group", group = "S5", product = "right", lengths = "train",
              format = "jsonl", output = "-";
  std::string check;
  std::uint32_t length = 20;
  std::uint64_t count = 1, seed = 0, first_index = 0;
};

constexpr NumberBounds kSequenceLengths = NumberBounds::whole(1, kMaxSequenceLength);

LengthRange parse_lengths(const std::string& text) {
  if (text == "train") return kTrainLengths;
  if (text == "test") return kTestLengths;
  if (text.find('-', 1) == std::string::npos)
    wrong_use("--lengths must be train, test or MIN-MAX such as 3-40, not '{}'", text);
  const auto [min, max] = parse_span("--lengths", kSequenceLengths, text);
  return {static_cast<std::uint32_t>(min), static_cast<std::uint32_t>(max)};
}

std::unique_ptr<SequenceTask> make_task(const SequenceOptions& options) {
  if (options.language == "group") {
    return std::make_unique<WordProblem>(NumberedGroup::parse(options.group), options.length,
                                         parse_multiplication(options.product));
  }
  const Language language =
      options.language == "parity" ? Language::kParity : Language::kModularArithmetic;
  return std::make_unique<FormalLanguage>(language, parse_lengths(options.lengths));
}

void run(const SequenceOptions& options) {
  if (!options.check.empty()) {
    const NumberedGroup group = NumberedGroup::parse(options.group);
    const auto rows =
        read_word_problem_csv(read_input(options.check), options.check, group.order());
    check_running_products(rows, group, parse_multiplication(options.product), options.check);
    print_lines("{}: {} rows, every target is the running product in {} ({} multiplication)\n",
                options.check, rows.size(), options.group, options.product);
    return;
  }
  const auto task = make_task(options);
  OutputFile file(options.output);
  if (options.format == "csv") file.write(kSequenceCsvHeader);
  for (std::uint64_t i = 0; i < options.count; ++i) {
    const std::uint64_t index = options.first_index + i;
    const Sequence sequence = task->sample(options.seed, index);
    if (options.format == "csv") {
      file.write(csv_row(options.seed, sequence));
    } else if (options.format == "jsonl") {
      file.write(json_line(index, sequence));
    } else {
      std::string line;
      for (std::uint32_t id : sequence.input) line += task->token(id) + " ";
      line += "->";
      for (std::uint32_t id : sequence.target) line += " " + task->token(id);
      file.write(line + "\n");
    }
  }
  file.commit();
}

}  // namespace

void add_sequence(CLI::App& app) {
  auto options = std::make_shared<SequenceOptions>();
  CLI::App* command = add_command(
      app, "sequence",
      "Make sequence-to-sequence data: group words with running products, parity, modular "
      "arithmetic.",
      {"shellgame sequence --group S3 --length 8 --format text",
       "shellgame sequence --language parity --lengths test --count 1000 --output parity.jsonl",
       "shellgame sequence --language modular-arithmetic --lengths 3-40 --count 5 --format text",
       "shellgame sequence --group A5 --check A5=20.csv"},
      [options] { run(*options); });
  add_words(command, "--language", options->language, {"group", "parity", "modular-arithmetic"},
            "the task");
  command
      ->add_option("--group", options->group,
                   "the group of the words (also large cyclic ones such as Z60)")
      ->type_name("NAME")
      ->capture_default_str();
  add_number(command, "--length", options->length, kSequenceLengths, "elements in a word");
  add_words(command, "--product", options->product, {"right", "left"},
            "the side of the next element");
  CLI::Option* lengths = command->add_option_function<std::string>(
      "--lengths",
      [options](const std::string& text) {
        parse_lengths(text);
        options->lengths = text;
      },
      "of parity and modular arithmetic: train (3-40), test (40-256) or MIN-MAX");
  lengths->type_name("RANGE")->default_str(options->lengths);
  declare_numbers(lengths, {{"--lengths", kSequenceLengths, "{}-256"},
                            {"--lengths", kSequenceLengths, "1-{}"}});
  add_number(command, "--count", options->count, kCountBounds, "sequences to make");
  add_number(command, "--seed", options->seed, kSeedBounds, "the seed of all draws");
  add_number(command, "--first-index", options->first_index, kIndexBounds,
             "the index of the first sequence");
  add_words(command, "--format", options->format, {"jsonl", "csv", "text"},
            "the form of the output");
  command->add_option("-o,--output", options->output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
  command
      ->add_option("--check", options->check,
                   "instead: read this CSV and check its running products")
      ->type_name("FILE.csv");
}

}  // namespace shellgame
