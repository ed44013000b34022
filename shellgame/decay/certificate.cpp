// Certificates to and from JSON, and from an attack.
#include "shellgame/decay/certificate.h"

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "shellgame decay certificate";
constexpr int kVersion = 1;

// Always p/q, also where a decimal would do.
std::string fraction(const Rational& x) { return x.get_str(); }

// Numbers from 1 in the file, from 0 here.
std::vector<int> counted_from(const std::vector<int>& list, int change) {
  std::vector<int> result(list);
  for (int& x : result) x += change;
  return result;
}

std::vector<int> images(Permutation p, int n) { return p.images(n); }

std::vector<int> order_from(const Json& json, int n, const char* what) {
  std::vector<int> order = counted_from(json.get<std::vector<int>>(), -1);
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (int x : order) {
    if (x < 0 || x >= n || seen[static_cast<std::size_t>(x)])
      wrong_use("{} must have each number from 1 to {} once, not {}", what, n, json.dump());
    seen[static_cast<std::size_t>(x)] = true;
  }
  if (order.size() != static_cast<std::size_t>(n))
    wrong_use("{} must have {} numbers, not {}", what, n, order.size());
  return order;
}

int number_from(const Json& json, int n, const char* what) {
  const int x = json.get<int>();
  if (x < 1 || x > n) wrong_use("{} must be from 1 to {}, not {}", what, n, x);
  return x - 1;
}

Certificate::Meaning meaning_from(const Json& json, int n) {
  Certificate::Meaning meaning;
  if (json.contains("reveal")) {
    meaning.variable = number_from(json["reveal"].at("variable"), n, "a variable");
    meaning.value = number_from(json["reveal"].at("value"), n, "a value");
    return meaning;
  }
  for (const Json& outcome : json.at("mixture")) {
    meaning.mixture.push_back({parse_rational(outcome.at("probability").get<std::string>()),
                               order_from(outcome.at("from"), n, "'from'")});
  }
  if (meaning.mixture.empty()) wrong_use("a mixture must have an outcome, not none");
  return meaning;
}

Certificate read(const Json& json) {
  if (json.at("format") != kFormat || json.at("version") != kVersion) {
    wrong_use("a certificate must be of format '{}' and version {}, not {} and {}", kFormat,
              kVersion, json.at("format").dump(), json.at("version").dump());
  }
  Certificate result;
  result.n = json.at("n").get<int>();
  if (result.n < 1 || result.n > AttackGame::kMostVariables)
    wrong_use("n must be from 1 to {}, not {}", AttackGame::kMostVariables, result.n);
  result.representation = parse_representation(json.at("representation").get<std::string>());
  result.task = json.value("task", "");
  for (const Json& entry : json.at("start")) {
    result.start.emplace_back(order_from(entry.at("order"), result.n, "an order of the start"),
                              parse_rational(entry.at("probability").get<std::string>()));
  }
  for (const auto& [name, meaning] : json.at("symbols").items())
    result.symbols.emplace(name, meaning_from(meaning, result.n));
  result.before = json.at("before").get<std::vector<std::string>>();
  result.cycle = json.at("cycle").get<std::vector<std::string>>();
  for (const auto& list : {result.before, result.cycle}) {
    for (const std::string& name : list) {
      if (!result.symbols.contains(name))
        wrong_use("the word must be of the symbols that 'symbols' lists, not '{}'", name);
    }
  }
  const Json& claims = json.at("claims");
  for (const Json& norm : claims.at("norms"))
    result.norms.push_back(parse_rational(norm.get<std::string>()));
  if (result.norms.size() < 2 || result.cycle.empty())
    wrong_use("a certificate must repeat a word of at least one symbol at least once");
  if (claims.at("repetitions") != result.norms.size() - 1)
    wrong_use("'repetitions' must be one less than the number of norms, {}, not {}",
              result.norms.size() - 1, claims.at("repetitions").dump());
  result.factor = parse_rational(claims.at("factor_per_cycle").get<std::string>());
  return result;
}

}  // namespace

Certificate make_certificate(const Automaton& automaton, Representation representation,
                             const Attack& attack, const std::string& task) {
  Certificate result;
  result.n = static_cast<int>(automaton.space().degree());
  result.representation = representation;
  result.task = task;
  for (const auto& [state, weight] : expand(automaton.space(), automaton.start()))
    result.start.emplace_back(images(Permutation::unrank(result.n, state), result.n), weight);
  const auto say = [&](SymbolId id, std::vector<std::string>& word) {
    const Symbol& symbol = automaton.symbol(id);
    Certificate::Meaning meaning;
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k)
        meaning.mixture.push_back(
            {shuffle->weights[k], images(to_permutation(shuffle->outcomes[k]), result.n)});
    } else {
      const Cell& cell = std::get<Cells>(symbol.reveal).cells.at(0);
      meaning.variable = cell.variable;
      meaning.value = cell.values.at(0);
    }
    // A print is two lines in a trace; one is enough to name it.
    std::string name = symbol.name;
    std::ranges::replace(name, '\n', ' ');
    result.symbols.emplace(name, std::move(meaning));
    word.push_back(name);
  };
  for (SymbolId id : attack.before) say(id, result.before);
  for (SymbolId id : attack.cycle) say(id, result.cycle);
  result.norms = attack.norms;
  result.factor = attack.factor;
  return result;
}

std::string write_certificate(const Certificate& certificate) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["n"] = certificate.n;
  json["representation"] = to_string(certificate.representation);
  json["task"] = certificate.task;
  for (const auto& [order, probability] : certificate.start)
    json["start"].push_back(
        {{"order", counted_from(order, 1)}, {"probability", fraction(probability)}});
  for (const auto& [name, meaning] : certificate.symbols) {
    Json& entry = json["symbols"][name];
    for (const auto& outcome : meaning.mixture)
      entry["mixture"].push_back({{"probability", fraction(outcome.probability)},
                                  {"from", counted_from(outcome.from, 1)}});
    if (meaning.mixture.empty())
      entry["reveal"] = {{"variable", meaning.variable + 1}, {"value", meaning.value + 1}};
  }
  json["before"] = certificate.before;
  json["cycle"] = certificate.cycle;
  json["claims"]["repetitions"] = certificate.norms.size() - 1;
  json["claims"]["factor_per_cycle"] = fraction(certificate.factor);
  for (const Rational& norm : certificate.norms) json["claims"]["norms"].push_back(fraction(norm));
  return json.dump(2) + "\n";
}

Certificate parse_certificate(std::string_view text, const std::string& file) {
  try {
    return read(parse_ordered_json(text, file));
  } catch (const Json::exception& error) {
    throw InputError(file, fmt::format("a certificate must be JSON with the keys of "
                                       "docs/adversary.md; {}",
                                       error.what()));
  } catch (const UsageError& error) {
    throw InputError(file, error.what());
  }
}

}  // namespace shellgame
