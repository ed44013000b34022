#include "shellgame/decay/adversary.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "shellgame/decay/fastest_cycle.h"
#include "shellgame/numbers/number_kinds.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::uint32_t kRoot = static_cast<std::uint32_t>(-1);

struct Edge {
  std::uint32_t from = 0, to = 0, action = 0;
  double log_factor = 0;
  Relabelling names;  // from those after the action to those of `to`
};

struct Node {
  Situation situation;
  std::uint32_t reached_by = kRoot;  // an edge
  std::size_t depth = 0;
  double loss = 0;  // the log of all factors on the way here
};

struct Successor {
  std::uint32_t action = 0;
  double log_factor = 0, promise = 0;
  Relabelling names;
  Situation situation;
  std::string key;
};

class Search {
 public:
  Search(const AttackGame& game, const AdversaryOptions& options) : game_(game), options_(options) {
    std::vector<std::uint32_t> layer;
    for (Situation start : game.starts()) {
      game.canonicalise(start);
      const std::string key = game.key(start);
      if (add(key, {std::move(start), kRoot, 0, 0}))
        layer.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
    }
    for (std::size_t depth = 1; depth <= options.depth + 1 && !layer.empty(); ++depth)
      layer = expand(layer, depth);
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  bool complete() const { return complete_; }

 private:
  bool add(const std::string& key, Node node) {
    const bool is_new = ids_.emplace(key, static_cast<std::uint32_t>(nodes_.size())).second;
    if (is_new) nodes_.push_back(std::move(node));
    return is_new;
  }

  std::vector<Successor> successors(const Node& node, bool last) const {
    std::vector<Successor> all;
    for (std::uint32_t a = 0; a < game_.actions().size(); ++a) {
      auto played = game_.play(node.situation, game_.actions()[a]);
      if (!played) continue;
      Successor next{a, played->log_factor, 0, {}, std::move(played->to), {}};
      if (next.situation.orders.size() > options_.most_orders) {
        next.situation = {};
        all.push_back(std::move(next));  // without a key: left out
        continue;
      }
      next.names = game_.canonicalise(next.situation);
      next.key = game_.key(next.situation);
      if (!last && !ids_.contains(next.key))
        next.promise = node.loss + next.log_factor + game_.best_reveal(next.situation);
      all.push_back(std::move(next));
    }
    return all;
  }

  // The new situations one symbol after the layer; after the last symbol only edges are added.
  std::vector<std::uint32_t> expand(const std::vector<std::uint32_t>& layer, std::size_t depth) {
    const bool last = depth > options_.depth;
    std::vector<std::vector<Successor>> found(layer.size());
    parallel_for(layer.size(),
                 [&](std::size_t i) { found[i] = successors(nodes_[layer[i]], last); });
    // The most promising new ones stay.
    std::unordered_map<std::string, double> promise;
    for (const auto& list : found) {
      for (const Successor& next : list) {
        if (next.key.empty()) complete_ = false;
        if (last || next.key.empty() || ids_.contains(next.key)) continue;
        const auto [place, is_new] = promise.emplace(next.key, next.promise);
        place->second = std::min(place->second, next.promise);
      }
    }
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& [key, value] : promise) ranked.emplace_back(value, key);
    std::ranges::sort(ranked);
    if (ranked.size() > options_.width) {
      complete_ = false;
      ranked.resize(options_.width);
    }
    promise.clear();
    for (const auto& [value, key] : ranked) promise.emplace(key, value);
    std::vector<std::uint32_t> next_layer;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      for (Successor& next : found[i]) {
        auto known = ids_.find(next.key);
        if (known == ids_.end()) {
          if (last || !promise.contains(next.key)) continue;
          next_layer.push_back(static_cast<std::uint32_t>(nodes_.size()));
          add(next.key, {std::move(next.situation), static_cast<std::uint32_t>(edges_.size()),
                         depth, nodes_[layer[i]].loss + next.log_factor});
          known = ids_.find(next.key);
        }
        edges_.push_back({layer[i], known->second, next.action, next.log_factor, next.names});
      }
    }
    return next_layer;
  }

  const AttackGame& game_;
  const AdversaryOptions& options_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  bool complete_ = true;
};

// Says the actions of a path under the automaton's own names.
class Speaker {
 public:
  Speaker(const AttackGame& game, Situation start) : game_(game), now_(std::move(start)) {
    Situation canonical = now_;
    const Relabelling names = game.canonicalise(canonical);
    back_ = {names.positions.inverse(), names.values.inverse()};
  }

  SymbolId say(const Edge& edge) {
    const AttackAction& action = game_.renamed(game_.actions()[edge.action], back_);
    now_ = game_.play(now_, action).value().to;
    back_.positions = after(back_.positions, edge.names.positions.inverse());
    back_.values = after(back_.values, edge.names.values.inverse());
    return action.symbol;
  }
  std::string key() const { return game_.key(now_); }

 private:
  const AttackGame& game_;
  Situation now_;
  Relabelling back_;  // from the graph's names to the automaton's
};

constexpr std::size_t kMostRounds = 1000, kMostCycles = 2000;

// Fills before, cycle and rounds: the cycle is gone round until its names come back too.
void spell_out(const AttackGame& game, const Search& search, std::vector<std::uint32_t> cycle,
               Attack& attack) {
  const auto depth = [&](std::uint32_t e) { return search.nodes()[search.edges()[e].from].depth; };
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, depth), cycle.end());
  std::vector<std::uint32_t> path;
  std::uint32_t at = search.edges()[cycle[0]].from;
  for (; search.nodes()[at].reached_by != kRoot; at = search.edges()[path.back()].from)
    path.push_back(search.nodes()[at].reached_by);
  std::ranges::reverse(path);
  // The start whose canonical form the path begins with.
  for (const Situation& start : game.starts()) {
    Situation canonical = start;
    game.canonicalise(canonical);
    if (game.key(canonical) != game.key(search.nodes()[at].situation)) continue;
    Speaker speaker(game, start);
    for (std::uint32_t e : path) attack.before.push_back(speaker.say(search.edges()[e]));
    const std::string begin = speaker.key();
    do {
      for (std::uint32_t e : cycle) attack.cycle.push_back(speaker.say(search.edges()[e]));
      ++attack.rounds;
    } while (speaker.key() != begin && attack.rounds < kMostRounds);
    return;
  }
}

}  // namespace

double Attack::per_symbol() const {
  return std::exp(NumberTraits<Rational>::log(factor) / static_cast<double>(cycle.size()));
}

double Attack::per_mixing() const {
  return std::exp(NumberTraits<Rational>::log(factor) / static_cast<double>(mixings));
}

Attack find_attack(const Automaton& automaton, const AdversaryOptions& options) {
  const AttackGame game(automaton, options.representation, options.resolution);
  const Search search(game, options);
  std::vector<TimedEdge> edges;
  for (const Edge& edge : search.edges()) {
    const bool counts = options.pace == Pace::kSymbol || game.actions()[edge.action].is_mixing();
    edges.push_back({edge.from, edge.to, edge.log_factor, counts ? 1.0 : 0.0});
  }
  const auto cycles = fastest_cycles(search.nodes().size(), edges, kMostCycles);
  if (cycles.empty())
    fail("no word within {} symbols of the start shrinks the {} representation forever",
         options.depth, to_string(options.representation));
  // Of equally fast ones, the one that is shortest (with what leads there) under the automaton's
  // own names.
  Attack attack;
  for (const auto& cycle : cycles) {
    Attack candidate;
    spell_out(game, search, cycle, candidate);
    const auto length = [](const Attack& a) {
      return std::pair(a.before.size() + a.cycle.size(), a.before.size());
    };
    if (attack.cycle.empty() || length(candidate) < length(attack)) attack = std::move(candidate);
  }
  for (SymbolId symbol : attack.cycle) attack.mixings += !automaton.symbol(symbol).is_reveal_only();
  attack.situations = search.nodes().size();
  attack.symmetries = game.symmetries();
  attack.complete = search.complete();
  attack.bound_per_mixing = game.bound_per_mixing();
  const bool two = std::ranges::all_of(
      game.actions(), [](const AttackAction& action) { return action.outcomes.size() <= 2; });
  if (options.representation == Representation::kMarginal && two)
    attack.bound_per_symbol = std::sqrt(to_double(attack.bound_per_mixing));
  constexpr std::size_t kRepetitions = 8;
  attack.norms =
      exact_norms(automaton, options.representation, attack.before, attack.cycle, kRepetitions);
  attack.factor = attack.norms[kRepetitions] / attack.norms[kRepetitions - 1];
  attack.constant = true;
  for (std::size_t k = kRepetitions / 2; k < kRepetitions; ++k)
    attack.constant = attack.constant && attack.norms[k + 1] == attack.norms[k] * attack.factor;
  return attack;
}

}  // namespace shellgame
