// Kinds of data by name. What [task] of an experiment and the options of `evaluate` and `probe` say
// is a DataSpec: a kind and some of its keys, as texts. Whoever trains, evaluates or probes makes
// Data from it and does not ask which kind it is. A new kind is a file with its Source, its Data
// and its DataKind (counters.cpp is the example), and a line in data_kinds.h; a plug-in calls
// register_data_kind().
//
//   const DataSpec spec{"counters", {{"counters", "3"}, {"length", "32"}}};
//   const auto source = spec.make()->source(nullptr, {.seed = 1});
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/text/error.h"
#include "shellgame/text/number.h"

namespace shellgame {

using DataSettings = std::map<std::string, std::string>;  // by the name of the key

struct DataKey {
  std::string name;  // with '-'; files may also write '_'
  std::string form;  // what a value looks like: "N", "right|left"
  std::string help;
  std::string usual;       // its value where none is given
  bool is_number = false;  // written in TOML and JSON without quotes, several as a list
  std::vector<DeclaredNumber> numbers = {};  // what is a number in it, with its bounds
  bool is_file = false;                      // a path, which a run keeps as an absolute one
};

struct DataKind {
  std::string name, summary;
  std::vector<DataKey> keys;
  // Keys of which evaluation and stages take several values, each a cell; the first says how long
  // an episode is. May be empty.
  std::vector<std::string> axes;
  // Throws UsageError, or DataKeyError where one key is wrong by itself. Unknown keys do not come
  // here.
  std::function<SharedData(const DataSettings&)> make;

  const DataKey* find(std::string_view key) const;  // null: there is none
};

// A value that its key does not take.
class DataKeyError : public UsageError {
 public:
  DataKeyError(std::string key, const std::string& sentence)
      : UsageError(sentence), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

// All kinds, in the order in which help lists them.
std::vector<std::string> data_kind_names();
// Throws UsageError, with the nearest name.
const DataKind& find_data_kind(const std::string& name);
// Throws UsageError if there is one of this name. What was found before stays where it is.
void register_data_kind(DataKind kind);

struct DataSpec {
  std::string kind = "traces";
  DataSettings settings = {};

  SharedData make() const;  // throws UsageError: an unknown kind or key, or what its kind says
  // What a key is, given or usual. The kind must have it.
  std::string value(const std::string& key) const;
  friend bool operator==(const DataSpec&, const DataSpec&) = default;
};

// "modulus=5,counters=2" as "modulus=5" and "counters=2". A part without '=' belongs to the value
// before it ("N=1,4,ending=c"), and a value that has a '=' of its own takes all that follows it
// ("file=M5.toml,set=N=8,ending=c").
std::vector<std::string> split_settings(std::string_view text);
// One of them as a key and its value. Throws UsageError if it is none.
std::pair<std::string, std::string> key_and_value(const std::string& setting);

// {"kind": "traces", "group": "S5", ...}: as files have it; with `all`, usual values too.
nlohmann::json spec_json(const DataSpec& spec, bool all);
// The other way. `base`: what is not given there; another kind starts from its own usual values.
// Throws UsageError, or DataKeyError for a key that the kind does not have.
DataSpec spec_of_json(const nlohmann::json& table, const DataSpec& base = {});
// A value of a TOML or JSON file as keys take it: lists with commas.
std::string setting_text(const nlohmann::json& value);

// The values of some axes; each of their combinations is a cell.
using DataAxes = std::map<std::string, std::vector<std::string>>;
struct DataCell {
  DataSpec spec;
  SharedData data;
};
// Every combination, those that ask nothing left out with a note. Throws UsageError if none is
// left.
std::vector<DataCell> data_grid(const DataSpec& spec, const DataAxes& axes,
                                std::vector<std::string>& notes);
// The same with all combinations.
std::vector<DataCell> data_combinations(const DataSpec& spec, const DataAxes& axes);

}  // namespace shellgame
