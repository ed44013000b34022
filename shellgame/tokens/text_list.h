// Many short texts in one allocation: the tokens of a vocabulary, the parts of merges.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

class TextList {
 public:
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace shellgame
