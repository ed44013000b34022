// `shellgame model ...`: models as Hugging Face directories.
#include "shellgame/tool/command.h"

namespace shellgame {

void add_model(CLI::App& app) {
  CLI::App* model = add_command(app, "model", "Models as Hugging Face directories.",
                                {"shellgame model exact --group S5 --output exact-s5"});
  model->require_subcommand(1);
  add_model_exact(*model);
}

}  // namespace shellgame
