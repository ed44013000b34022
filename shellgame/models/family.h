// A family is a `model_type` of config.json: its keys with their defaults, the names of its parts,
// and how they become a ModelSpec. flash-linear-attention's families and Qwen3 have the keys and
// names that those libraries use; mixers without a family there get "shellgame_NAME".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shellgame/models/options.h"
#include "shellgame/models/spec.h"

namespace shellgame {

struct Family {
  std::string model_type;
  std::string architecture;  // of Hugging Face, e.g. DeltaNetForCausalLM
  Options::Json defaults;
  std::function<ModelSpec(const Options&)> spec;
};

// Throws InputError or UsageError with the known names.
const Family& find_family(const std::string& model_type);
std::vector<std::string> family_names();

// Throws InputError, with the nearest name, for a key that the family (or for hybrids a mixer) does
// not have. For configurations that people write: those of other programs may have keys of their
// own.
void check_known_keys(const Options::Json& given, const std::string& where);

// A complete configuration: the given keys (config.json, or a few keys of a TOML file) over the
// family's defaults. Unknown keys are kept. Throws InputError for what the family cannot do.
class ModelConfig {
 public:
  explicit ModelConfig(Options::Json given, const std::string& where = "config.json");

  const std::string& model_type() const { return family_->model_type; }
  const Options& options() const { return options_; }
  const ModelSpec& spec() const { return spec_; }
  // As it is written to config.json.
  Options::Json json() const;

 private:
  const Family* family_;
  Options options_;
  ModelSpec spec_;
};

}  // namespace shellgame
