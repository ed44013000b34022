// `shellgame tokens encode|decode|export`: JSON lines of text to JSON lines of ids, and back.
#include <fmt/format.h>

#include "shellgame/system/files.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct TokenOptions {
  std::string tokenizer = "lexeme", input = "-", output = "-";
};

std::vector<std::string_view> lines_of(std::string_view content) {
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    lines.push_back(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return lines;
}

// Each line is an object; `convert` changes it in place. All other keys stay as they are.
template <class Convert>
void each_line(const TokenOptions& options, const Convert& convert) {
  const std::string content = read_input(options.input);
  const std::vector<std::string_view> lines = lines_of(content);
  std::vector<std::string> results(lines.size());
  parallel_for(lines.size(), [&](std::size_t i) {
    if (lines[i].find_first_not_of(" \t\r") == std::string_view::npos) return;
    const std::string where = fmt::format("{}:{}", options.input, i + 1);
    Json object = parse_ordered_json(lines[i], options.input, i + 1);
    if (!object.is_object()) throw InputError(where, "a line must be one JSON object");
    try {
      convert(object, where);
    } catch (const InputError&) {
      throw;
    } catch (const Error& error) {
      throw InputError(where, error.what());
    }
    try {
      results[i] = object.dump() + "\n";
    } catch (const Json::exception&) {
      throw InputError(where,
                       "the text of the ids must be UTF-8 to be written as JSON, and it is not");
    }
  });
  OutputFile file(options.output);
  for (const std::string& line : results) file.write(line);
  file.commit();
}

void encode(const TokenOptions& options) {
  const auto tokenizer = open_tokenizer(options.tokenizer);
  each_line(options, [&](Json& object, const std::string& where) {
    const auto text = object.find("text");
    if (text == object.end() || !text->is_string())
      throw InputError(where, "a line must have a string 'text'");
    std::vector<std::uint32_t> ids;
    tokenizer->encode(text->get_ref<const std::string&>(), ids);
    object.erase("text");
    object["ids"] = ids;
  });
}

void decode(const TokenOptions& options) {
  const auto tokenizer = open_tokenizer(options.tokenizer);
  each_line(options, [&](Json& object, const std::string& where) {
    const auto ids = object.find("ids");
    if (ids == object.end() || !ids->is_array())
      throw InputError(where, "a line must have a list 'ids'");
    std::vector<std::uint32_t> numbers;
    for (const Json& id : *ids) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() > UINT32_MAX) {
        throw InputError(where,
                         fmt::format("an id must be a whole number below 2^32, not {}", id.dump()));
      }
      numbers.push_back(id.get<std::uint32_t>());
    }
    const std::string text = tokenizer->decode(numbers.data(), numbers.size());
    object.erase("ids");
    object["text"] = text;
  });
}

void add_files(CLI::App* command, const std::shared_ptr<TokenOptions>& options) {
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "lexeme, bytes, or a Hugging Face tokenizer.json")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--input", options->input, "JSON lines; - for standard input")
      ->type_name("FILE.jsonl")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "JSON lines; - for standard output")
      ->type_name("FILE.jsonl")
      ->capture_default_str();
}

}  // namespace

void add_tokens(CLI::App& app) {
  CLI::App* tokens = add_command(app, "tokens", "Turn text into token ids and back.", {});
  tokens->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();
  add_files(add_command(*tokens, "encode",
                        "JSON lines with 'text' in, with 'ids' out; other keys are kept.",
                        {"shellgame tokens encode --input traces.jsonl --output ids.jsonl",
                         "shellgame tokens encode --tokenizer tokenizer.json --input texts.jsonl"},
                        [options] { encode(*options); }),
            options);
  add_files(add_command(*tokens, "decode",
                        "JSON lines with 'ids' in, with 'text' out; other keys are kept.",
                        {"shellgame tokens decode --input ids.jsonl --output texts.jsonl"},
                        [options] { decode(*options); }),
            options);
  auto output = std::make_shared<std::string>("-");
  CLI::App* write = add_command(
      *tokens, "export",
      "Write the lexeme vocabulary as a tokenizer.json that Hugging Face's library loads.",
      {"shellgame tokens export --output tokenizer.json"},
      [output] { write_file(*output, lexeme_tokenizer_json()); });
  write->add_option("-o,--output", *output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
}

}  // namespace shellgame
