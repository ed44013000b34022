// An episode on its way through a model: the tokens that are read ahead, and the questions that
// wait for an answer. No Torch.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shellgame/episodes/source.h"
#include "shellgame/evaluate/tally.h"

namespace shellgame {

// What the logits at one place say about the branches of a node.
struct Judgement {
  std::uint32_t best = 0;      // the branch of the largest logit (the first of equal ones)
  AnswerNumbers numbers = {};  // the values are the branches
};

// `logits` has a number for every token, `log_sum` is the log of the sum of their exponentials and
// `largest` the largest. `end` stands for ValueTree::kEnd. `belief` has the probability of each
// branch; empty: the true one is certain.
Judgement judge(const double* logits, double log_sum, double largest, const ValueTree::Node& node,
                std::uint32_t truth, std::uint32_t end, std::span<const double> belief = {});

// A question that waits. `after` counts tokens of the buffer.
struct WaitingQuestion {
  Question question;
  std::uint32_t node = ValueTree::kRoot;  // reached by the choices so far
  std::size_t depth = 0;                  // tokens below the root
  bool right = true;                      // the choices so far lead to the true value
  std::optional<std::uint32_t> chosen = {};
  AnswerNumbers numbers = {.strict = true};  // along the true value, as far as it was read

  // The place whose logits are needed next.
  std::uint64_t place() const { return question.after + depth; }
  std::uint32_t true_branch() const { return question.values->path(question.value)[depth]; }
  std::vector<double> branch_belief() const { return shellgame::branch_belief(question, depth); }
  bool at_true_end() const { return depth == question.values->path(question.value).size(); }

  // Takes what the logits at place() say, along the true value: the row holds its tokens. After the
  // last one at_true_end() holds.
  void take_along_truth(const Judgement& judgement);
  Answer answer() const;
};

class EpisodeBuffer {
 public:
  EpisodeBuffer(std::unique_ptr<Episode> episode, std::size_t index)
      : episode_(std::move(episode)), index_(index) {}

  std::size_t index() const { return index_; }
  // Reads ahead until at least `tokens` are there, or the row has ended.
  void fill(std::size_t tokens);
  bool ended() const { return ended_; }
  // Tokens that are still to be read by the model. Those after the last reveal need not be.
  std::size_t left() const;
  // Copies `count` tokens to `to` without reading past the end: the rest is 0.
  void copy(std::int64_t* to, std::size_t count) const;
  // The model has read so many.
  void advance(std::size_t count);

  std::deque<WaitingQuestion>& waiting() { return waiting_; }
  const std::deque<WaitingQuestion>& waiting() const { return waiting_; }
  // The place of the first waiting reveal's next token, counted from the next token to be read.
  std::optional<std::size_t> next_place() const;
  // Puts the tokens of another value in the place of the first waiting reveal's.
  void replace_first(std::uint32_t value);

 private:
  std::unique_ptr<Episode> episode_;
  std::size_t index_;
  Piece piece_;
  std::vector<std::uint32_t> ids_;
  std::size_t read_ = 0;  // tokens of ids_
  std::deque<WaitingQuestion> waiting_;
  bool ended_ = false;
};

}  // namespace shellgame
