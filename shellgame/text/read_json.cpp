#include "shellgame/text/read_json.h"

#include <algorithm>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr int kNumberOutOfRange = 406;  // nlohmann's number for it

// "file:line:column" of a byte.
std::string place_of(std::string_view text, std::size_t byte, const std::string& file,
                     std::size_t first_line) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  return fmt::format("{}:{}:{}", file, first_line + lines, before.size() - start + 1);
}

// The first bracket that opens more than is allowed.
std::size_t too_deep_at(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return text.size();
}

// Builds the tree from the events of nlohmann's parser, which itself does not recurse.
template <class Tree>
class TreeBuilder final : public nlohmann::json_sax<Tree> {
 public:
  using Text = typename Tree::string_t;

  TreeBuilder(std::string_view text, const std::string& file, std::size_t first_line)
      : text_(text), file_(file), first_line_(first_line) {}
  Tree tree;

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(typename Tree::number_integer_t value) override {
    return add(value) != nullptr;
  }
  bool number_unsigned(typename Tree::number_unsigned_t value) override {
    return add(value) != nullptr;
  }
  bool number_float(typename Tree::number_float_t value, const Text&) override {
    return add(value) != nullptr;
  }
  bool string(Text& value) override { return add(std::move(value)) != nullptr; }
  bool binary(typename Tree::binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return open(Tree::object()); }
  bool key(Text& name) override {
    if (open_.back()->contains(name)) {
      throw InputError(fmt::format("{}:{}", file_, first_line_),
                       fmt::format("an object must name each key once, but one has {} twice",
                                   Tree(name).dump(-1, ' ', true)));
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Tree::array()); }
  bool end_array() override { return close(); }

  [[noreturn]] bool parse_error(std::size_t position, const std::string&,
                                const nlohmann::detail::exception& error) override {
    refuse(position == 0 ? 0 : position - 1,
           error.id == kNumberOutOfRange ? "a number must be one that 64 bits can hold"
                                         : "the text must be JSON in UTF-8, but here it is not");
  }
  [[noreturn]] void refuse(std::size_t byte, const std::string& sentence) const {
    throw InputError(place_of(text_, byte, file_, first_line_), sentence);
  }

 private:
  Tree* add(Tree value) {
    if (open_.empty()) {
      tree = std::move(value);
      return &tree;
    }
    Tree& around = *open_.back();
    if (around.is_object()) return &(around[key_] = std::move(value));
    around.push_back(std::move(value));
    return &around.back();
  }
  bool open(Tree container) {
    if (open_.size() == kMaxNesting)
      refuse(too_deep_at(text_),
             fmt::format("lists and objects must be nested at most {} deep", kMaxNesting));
    open_.push_back(add(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t first_line_;
  // What is around the place that is read. Each is the last entry of the one before it, so that
  // nothing is added beside it while it is open and the pointers stay valid.
  std::vector<Tree*> open_;
  Text key_;
};

template <class Tree>
Tree parse_tree(std::string_view text, const std::string& file, std::size_t first_line) {
  TreeBuilder<Tree> builder(text, file, first_line);
  // The parser takes a zero byte for the end, and would not see what follows it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    builder.refuse(zero, "the text must be JSON in UTF-8, but here it is not");
  Tree::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.tree);
}

std::int64_t step_of(const nlohmann::ordered_json& line, const std::string& where) {
  if (!line.is_object()) throw InputError(where, "a line of metrics must be a JSON object");
  const auto step = line.find("step");
  // A negative number is read as another type.
  if (step == line.end() || !step->is_number_unsigned() || step->get<std::uint64_t>() >> 63 != 0)
    throw InputError(where, "a line of metrics must have a whole number 'step', 0 or more");
  return step->get<std::int64_t>();
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file, std::size_t first_line) {
  return parse_tree<nlohmann::json>(text, file, first_line);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file,
                                          std::size_t first_line) {
  return parse_tree<nlohmann::ordered_json>(text, file, first_line);
}

void each_metrics_line(std::string_view text, const std::string& file,
                       const std::function<void(const MetricsLine&)>& visit,
                       const std::function<void(const std::string& sentence)>& damaged) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    MetricsLine line;
    line.text = text.substr(0, end);
    text.remove_prefix(end + 1);
    try {
      line.value = parse_ordered_json(line.text, file, number);
      line.step = step_of(line.value, fmt::format("{}:{}", file, number));
    } catch (const InputError& error) {
      damaged(error.what());
      continue;
    }
    visit(line);
  }
}

}  // namespace shellgame
