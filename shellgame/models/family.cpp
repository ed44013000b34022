#include "shellgame/models/family.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/models/families.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> list = fla_families();
    for (Family& family : own_families()) list.push_back(std::move(family));
    list.push_back(qwen3_family());
    return list;
  }();
  return all;
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.model_type);
  return names;
}

const Family& find_family(const std::string& model_type) {
  const auto found = std::ranges::find(families(), model_type, &Family::model_type);
  if (found == families().end()) {
    wrong_use("'model_type' must be one of {}, not '{}'", fmt::join(family_names(), ", "),
              model_type);
  }
  return *found;
}

namespace {

const Family& family_of(const Options::Json& given, const std::string& where) {
  const std::string type = Options(given, where).word("model_type");
  try {
    return find_family(type);
  } catch (const UsageError& error) {
    throw InputError(where, error.what());
  }
}

Options complete(const Family& family, const Options::Json& given, const std::string& where) {
  Options::Json values = family.defaults;
  values.update(given);
  return Options(std::move(values), where);
}

}  // namespace

ModelConfig::ModelConfig(Options::Json given, const std::string& where)
    : family_(&family_of(given, where)),
      options_(complete(*family_, given, where)),
      spec_(family_->spec(options_)) {}

Options::Json ModelConfig::json() const {
  Options::Json values = options_.json();
  values["architectures"] = Options::Json::array({family_->architecture});
  return values;
}

}  // namespace shellgame
