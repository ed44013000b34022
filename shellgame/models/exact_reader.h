// The first layer of the exact models, which reads a trace: what kind of line this is, the place in
// it, which variables stood one, two and three tokens ago. Also the head of the model, which says
// what comes next.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "shellgame/models/exact_weights.h"

namespace shellgame {

// Tokens that play a part of their own; all that are no variable, no value and not named here are
// kInert.
enum class ReaderWord {
  kInert,
  kPrompt,
  kComma,
  kEquals,
  kSpace,  // also " == ": a value follows
  kNewline,
  kQuote,
  kPrintOne,  // print('
  kPrintAll,  // print(
  kIf,
  kOther,   // begins a line that moves nothing: assert, def
  kColon,   // `: `, of a reader that knows probabilities
  kRandom,  // the same: `random()`
};

// What a line is, as far as it has been read.
enum class Line {
  kCommand,  // after the prompt
  kRight,    // slots only: after the `=` of a command
  kMaybe,    // after `if`
  kAll,      // a print of all variables and its output
  kOther,
};

// Counts variables in a line: two reflections in a plane, one at each variable (or value) and one
// at each `, `, ` = ` (or space), make a rotation by pi/n. Newline and prompt set it to the start.
// All that follows from it are unit vectors that head 1 gives back.
struct Counter {
  explicit Counter(int variables);

  using Direction = std::array<double, 2>;
  Direction first_key, second_key;  // of variables and values; of separators
  std::vector<Direction> places;    // at the p-th variable of a line, p < 2n
  std::vector<Direction> values;    // at the k-th value that a print of all variables shows
  std::vector<Direction> spaces;    // at the space before it; [0] is not used
  // Inputs that pass `threshold` at directions[k] only, by `margin`.
  struct Test {
    Terms inputs;
    double threshold, margin;
  };
  static Test test(const std::vector<Direction>& directions, std::size_t k, std::size_t first,
                   const std::vector<int>& channels);
};

inline constexpr int kExactHeads = 4;  // that the reader needs

struct ReaderPlan {
  int variables;
  int heads = kExactHeads;         // of a layer; those beyond kExactHeads are free (exact_recall.h)
  bool equals_is_a_side = false;   // ` = ` changes the line's kind to kRight
  bool knows_maybe = false;        // `if` makes a line of its own kind
  bool knows_probability = false;  // digits that are no values, `: ` and `random()` have channels
  bool looks_back_three = false;   // back3
  // Channels say also where no variable stood, so that as many hold 1 at every token.
  bool constant_length = false;
  std::vector<ReaderWord> previous_words;  // of which it is told whether the last token was one
};

class TraceReader {
 public:
  explicit TraceReader(const ReaderPlan& plan);

  // Channels. `constant` is 0.
  int constant;
  std::vector<int> variable, value;  // the current token
  std::vector<int> digit;            // 0 to 9; a value's is the value's (knows_probability)
  std::map<ReaderWord, int> word;
  std::map<Line, int> line;
  std::vector<int> phase;  // of the counter
  std::vector<int> back1, back2, back3;
  std::map<ReaderWord, int> after;  // the last token was this word
  int next_comma, next_equals, next_newline;
  std::vector<int> asked;   // a full print asks for this variable now
  std::vector<int> answer;  // what the second layer found, by value

  const Counter& counter() const { return counter_; }
  // For the channels of the second layer.
  Channels& channels() { return channels_; }
  int heads() const { return plan_.heads; }
  // Of all tokens: the channels that say which one it is.
  std::vector<int> tokens() const;
  // How many channels hold 1 after the first mixer.
  double active() const { return plan_.constant_length ? 7 : 6; }
  // The smallest width with such heads that holds all channels, and heads of at least `head_width`.
  int width(int head_width) const;

  // Holds where all inputs hold and the counter stands at directions[k], of those from `first` on.
  Rule rule(const Terms& inputs, const std::vector<Counter::Direction>& directions, std::size_t k,
            std::size_t first, const Terms& outputs) const;
  // The same, and one of `choices`.
  Rule any_of(const std::vector<int>& choices, const Terms& inputs,
              const std::vector<Counter::Direction>& directions, std::size_t k,
              const Terms& outputs) const;
  // A print of all variables: which one it asks for at the newline before its output and at each
  // space, and where it goes on.
  void add_full_print(std::vector<Rule>& rules) const;

  // Embeddings and the first four heads of the first mixer (DeltaNet).
  void write(HandWritten& model) const;
  // lm_head: values by `answer`, and what the form of the language determines.
  void write_head(HandWritten& model) const;

 private:
  void write_embeddings(HandWritten& model) const;
  void write_line(HandWritten& model) const;
  void write_counter(HandWritten& model) const;
  struct Look {
    int tokens;
    const std::vector<int>* variables;
    const std::map<ReaderWord, int>* words;
    int nothing;
  };
  // Head `head` gives back what stood some tokens ago; all its groups together.
  void write_look_back(HandWritten& model, int head, const std::vector<Look>& looks) const;

  ReaderPlan plan_;
  Counter counter_;
  Channels channels_;
  int nothing1_ = -1, nothing2_ = -1, nothing3_ = -1;  // no variable stood there
};

}  // namespace shellgame
