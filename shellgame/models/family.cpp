#include "shellgame/models/family.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "shellgame/models/config_numbers.h"
#include "shellgame/models/families.h"
#include "shellgame/models/mixer.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"

namespace shellgame {
namespace {

// A deque, since families stay where they are when later ones come.
std::deque<Family>& families() {
  static std::deque<Family> all = [] {
    std::deque<Family> list;
    for (Family& family : fla_families()) list.push_back(std::move(family));
    for (Family& family : own_families()) list.push_back(std::move(family));
    list.push_back(qwen3_family());
    return list;
  }();
  return all;
}

const Family* known(const std::string& model_type) {
  const auto found = std::ranges::find(families(), model_type, &Family::model_type);
  return found == families().end() ? nullptr : &*found;
}

// The families of mixers that were registered after the first look.
void add_new_mixers() {
  for (Family& family : own_families()) {
    if (known(family.model_type) == nullptr) families().push_back(std::move(family));
  }
}

std::vector<std::string> names_of_all() {
  add_new_mixers();
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.model_type);
  return names;
}

std::mutex& families_lock() {
  static std::mutex lock;
  return lock;
}

}  // namespace

std::vector<std::string> family_names() {
  const std::lock_guard hold(families_lock());
  return names_of_all();
}

const Family& find_family(const std::string& model_type) {
  const std::lock_guard hold(families_lock());
  if (known(model_type) == nullptr) add_new_mixers();
  const Family* const family = known(model_type);
  if (family == nullptr) {
    wrong_use("'model_type' must be one of {}, not '{}'", fmt::join(names_of_all(), ", "),
              model_type);
  }
  return *family;
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
  check_config_numbers(given, where);
  Options::Json values = family.defaults;
  values.update(given);
  return Options(std::move(values), where);
}

}  // namespace

void check_known_keys(const Options::Json& given, const std::string& where) {
  const Family& family = family_of(given, where);
  Options::Json known = family.defaults;
  known["model_type"] = family.model_type;
  if (known.contains("layers")) {
    for (const std::string& mixer : mixer_names()) known.update(find_mixer(mixer).defaults);
  }
  // What every config.json has.
  for (const char* key : {"architectures", "transformers_version", "torch_dtype", "dtype"})
    known[key] = nullptr;
  std::vector<std::string> names;
  for (const auto& [name, value] : known.items()) names.push_back(name);
  for (const auto& [name, value] : given.items()) {
    if (known.contains(name)) continue;
    const std::string near = nearest_name(name, names);
    throw InputError(where, fmt::format("{} has no key '{}'{}", family.model_type, name,
                                        near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
}

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
