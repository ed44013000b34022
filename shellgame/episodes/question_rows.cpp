#include "shellgame/episodes/question_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/system/memory.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

// Rows at once: as many as have about a million tokens.
constexpr std::uint64_t kMostRows = 64, kTokensAtOnce = 1 << 20;
// Of a token with its share of questions, as a piece, as JSON and as text.
constexpr std::uint64_t kBytesOfToken = 64;

}  // namespace

std::string question_line(const Piece& piece, bool beliefs,
                          const std::optional<std::string>& made_by) {
  nlohmann::ordered_json questions = nlohmann::ordered_json::array();
  for (const Question& question : piece.questions) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (std::uint32_t v = 0; v < question.values->values(); ++v)
      values.push_back(question.values->tokens(v));
    nlohmann::ordered_json one = {{"at", question.after + 1},
                                  {"values", values},
                                  {"truth", question.value},
                                  {"step", question.command}};
    if (question.length == 0) one["shown"] = false;
    if (beliefs) {
      std::vector<double> belief = question.belief;
      if (belief.empty()) {
        belief.resize(question.values->values());
        belief[question.value] = 1;
      }
      one["belief"] = belief;
    }
    questions.push_back(std::move(one));
  }
  nlohmann::ordered_json line;
  if (made_by) line["tokenizer"] = nullptr;
  if (made_by && !made_by->empty()) line["tokenizer"] = *made_by;
  line["ids"] = piece.ids;
  line["questions"] = std::move(questions);
  return line.dump() + "\n";
}

std::uint64_t write_questions(
    const Source& source, const QuestionRows& rows,
    const std::function<void(std::uint64_t row, std::string_view line)>& take) {
  std::uint64_t count = rows.count;
  if (source.episodes() > 0)
    count = std::min(count, source.episodes() - std::min(source.episodes(), rows.first));
  const std::uint64_t tokens = std::max<std::uint64_t>(1, source.tokens()),
                      block = std::clamp<std::uint64_t>(kTokensAtOnce / tokens, 1, kMostRows);
  require_memory(
      saturating_multiply(block, tokens, kBytesOfToken),
      fmt::format("{} row{} of {} tokens at once", block, block == 1 ? "" : "s", tokens));
  const std::optional<std::string> made_by =
      rows.tokenizer != nullptr ? rows.tokenizer->name() : rows.made_by;
  Progress progress("writing questions", "rows", count);
  std::vector<std::string> lines(block);
  for (std::uint64_t done = 0; done < count; done += block) {
    const std::uint64_t size = std::min(block, count - done);
    parallel_for(size, [&](std::size_t i) {
      Piece piece;
      source.whole(rows.first + done + i, piece);
      lines[i] = question_line(piece, source.has_beliefs(), made_by);
    });
    for (std::uint64_t i = 0; i < size; ++i) take(rows.first + done + i, lines[i]);
    progress.advance(size);
  }
  return count;
}

std::uint64_t write_questions(
    std::span<const SharedData> data, std::uint64_t seed, const QuestionRows& rows,
    const std::function<void(const QuestionPlace& place, std::string_view line)>& take) {
  std::uint64_t written = 0, before = 0;  // `before`: rows of the data before these
  for (std::size_t d = 0; d < data.size() && written < rows.count; ++d) {
    const Tokenizer* tokenizer = data[d]->is_text() ? rows.tokenizer : nullptr;
    const auto source = data[d]->source(tokenizer, {.seed = seed});
    const std::uint64_t first = rows.first > before ? rows.first - before : 0;
    std::optional<std::string> made_by = data[d]->tokenizer();
    if (made_by->empty() && data[d]->ids_are_text()) made_by.reset();
    written += write_questions(
        *source,
        {.first = first, .count = rows.count - written, .tokenizer = tokenizer, .made_by = made_by},
        [&](std::uint64_t row, std::string_view line) {
          take({.data = d, .row = row, .index = before + row}, line);
        });
    if (source->episodes() == 0) break;
    before += source->episodes();
  }
  return written;
}

}  // namespace shellgame
