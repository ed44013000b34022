#include "shellgame/tool/kind_questions.h"

#include <algorithm>

#include "shellgame/episodes/data_kind.h"
#include "shellgame/episodes/file_source.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/threads.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

void write_kind_questions(const KindQuestions& options) {
  DataSpec spec{.kind = options.kind};
  for (const std::string& setting : options.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      wrong_use("--set must be KEY=VALUE, not '{}'", setting);
    spec.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  const SharedData data = spec.make();
  const std::string silence = data->silence();
  if (!silence.empty()) wrong_use("{}", silence);
  const auto tokenizer = data->is_text() ? open_tokenizer(options.tokenizer) : nullptr;
  const auto source = data->source(tokenizer.get(), {.seed = options.seed, .beliefs = true});
  OutputFile file(options.output);
  Progress progress("writing questions", "rows", options.count);
  // Rows are made side by side and written in their order.
  constexpr std::uint64_t kBlock = 64;
  std::vector<std::string> lines(kBlock);
  for (std::uint64_t done = 0; done < options.count; done += kBlock) {
    const std::uint64_t size = std::min(kBlock, options.count - done);
    parallel_for(size, [&](std::size_t i) {
      Piece piece;
      source->whole(options.first_index + done + i, piece);
      lines[i] = question_line(piece, source->has_beliefs());
    });
    for (std::uint64_t i = 0; i < size; ++i) file.write(lines[i]);
    progress.advance(size);
  }
  file.commit();
}

}  // namespace shellgame
