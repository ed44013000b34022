// One shape of data for training, evaluation and probes: rows of tokens, piece by piece, with the
// places at which a value is asked for, the true value, and the exact belief about it where it is
// known. A new kind of data is a Source.
//
//   const TraceSource source(task, *tokenizer, {.seed = 1});
//   const auto episode = source.episode(7);
//   for (Piece piece; episode->next(piece, 512);)
//     for (const Question& question : piece.questions) ...
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/episodes/token_kinds.h"
#include "shellgame/episodes/value_tree.h"

namespace shellgame {

struct Question {
  std::uint64_t command = 0;    // steps executed before it (of a sequence: inputs read)
  std::uint32_t variable = 0;   // which one is asked for
  std::uint32_t value = 0;      // the true one, as ValueTree counts
  std::uint64_t after = 0;      // the token of the piece after which the value is predicted
  std::uint32_t length = 0;     // of the value, in tokens; 0 where it does not stand in the row
  std::uint32_t end_token = 0;  // the one after the value
  const ValueTree* values = nullptr;  // lives as long as the source
  std::vector<double> belief = {};    // of each value; empty where the true one is certain
};

// The exact probability of each branch of the node that the first `depth` tokens of the true value
// lead to, given that it was reached; empty where the true value is certain.
std::vector<double> branch_belief(const Question& question, std::size_t depth);

// What happens to the state at one step: for probes, which ask for it (SourceOptions::steps).
struct Step {
  // Tokens from the one after the line's prompt up to and with the prompt of the next line: what
  // is done one token late is still the step's.
  std::size_t from = 0, to = 0;
  // new[v] = old[sources[v]]; empty where it is not certain what the step does.
  std::vector<std::uint16_t> sources = {};
  std::vector<std::uint16_t> state = {};  // the true value of each variable after it
  std::vector<double> belief = {};        // n x n: of variable (row) and value, given the text
};

struct Piece {
  std::vector<std::uint32_t> ids;
  std::vector<Question> questions;  // by place
  std::vector<Step> steps;          // only where they were asked for, and so the kinds of tokens
  std::vector<TokenKind> kinds;
};

class Episode {
 public:
  virtual ~Episode() = default;
  // The next piece, which replaces what `piece` held: about `tokens` tokens; who needs so many asks
  // again, and a source that has its rows whole gives all. A piece never ends between a question's
  // place and the token after its value. False at the end.
  virtual bool next(Piece& piece, std::size_t tokens) = 0;
};

// One of the numbers by which sources of a kind differ: {"commands", "64"}, {"length", "40-256"}.
struct Coordinate {
  std::string name, value;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

// "64 commands, spacing 8"; "length 40-256".
std::string axes_words(const std::vector<Coordinate>& axes);
// A number where it is one, else the text.
nlohmann::ordered_json axis_json(const Coordinate& axis);

struct SourceOptions {
  std::uint64_t seed = 0;  // the generator's (evaluation_seed() of a person's, to evaluate)
  bool beliefs = true;     // of uncertain data: exact beliefs with the questions
  bool steps = false;      // steps and kinds of tokens with the pieces, where the source has them
  bool may_be_silent = false;  // episodes without a question are no error (in training)
};

// What can be asked for. An episode is a pure function of the source and the index.
class Source {
 public:
  virtual ~Source() = default;
  // Safe from several threads; the source must outlive the episode.
  virtual std::unique_ptr<Episode> episode(std::uint64_t index) const = 0;
  // How many different ones there are; 0: as many as there are indices.
  virtual std::uint64_t episodes() const { return 0; }
  // Whether another seed gives other tokens. If not, the episodes of two seeds are the same ones,
  // and who counts both counts each twice.
  virtual bool depends_on_seed() const { return true; }
  // All of an episode as one piece, which replaces what `piece` held, its memory used again.
  virtual void whole(std::uint64_t index, Piece& piece) const;
  // Of one episode: exact where all are equally long, else of a typical one.
  virtual std::uint64_t tokens() const = 0;
  // One more than the largest id that an episode may hold or ask for.
  virtual std::uint64_t vocabulary_size() const = 0;
  virtual std::string name() const = 0;  // for people: "S5 permutations"
  virtual std::vector<Coordinate> axes() const = 0;
  // Steps of an episode; 0 where they differ.
  virtual std::uint64_t length() const = 0;
  virtual double chance() const = 0;  // that a blind guess is right
  // Whether the belief about every question is known.
  virtual bool has_beliefs() const = 0;
  // Whether the text decides the state at every step.
  virtual bool is_certain() const = 0;
  // Of the state that steps change; 0 where this source has no steps.
  virtual std::size_t variables() const = 0;
  virtual std::string variable_name(std::uint32_t variable) const = 0;
  virtual std::string value_name(std::uint32_t value) const = 0;
};

}  // namespace shellgame
