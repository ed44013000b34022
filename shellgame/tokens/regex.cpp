#include "shellgame/tokens/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};

constexpr std::size_t kMaxPattern = 10000;
constexpr std::uint32_t kHeapKibibytes = 256 * 1024;

// What a match needs besides the code; one for each thread, whatever the pattern.
struct Scratch {
  std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> data;
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> context;
  std::unique_ptr<pcre2_jit_stack, Free<pcre2_jit_stack_free>> stack;

  Scratch()
      : data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(32 * 1024, 1024 * 1024, nullptr)) {
    if (!data || !context) fail("PCRE2 has no memory left for a match");
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    pcre2_set_heap_limit(context.get(), kHeapKibibytes);
    // PCRE2 counts from anew at every place where a match may begin: the budget counts instead.
    pcre2_set_match_limit(context.get(), std::numeric_limits<std::uint32_t>::max());
  }
};

// PCRE2 calls before each part of a pattern (PCRE2_AUTO_CALLOUT).
struct StepCounter {
  RegexBudget& budget;
  std::uint64_t of_a_part;
  std::size_t last;  // where the part before was tried

  static int count(pcre2_callout_block* block, void* counter) {
    auto& self = *static_cast<StepCounter*>(counter);
    const std::size_t now = block->current_position;
    const std::size_t gone = now > self.last ? now - self.last : self.last - now;
    self.last = now;
    return self.budget.spend(self.of_a_part + gone) ? 0 : PCRE2_ERROR_CALLOUT;
  }
};

// The largest n of an x{n} or x{n,m}: so many bytes a part may go over before it fails, unseen.
std::uint64_t largest_least_count(std::string_view pattern) {
  std::uint64_t largest = 0;
  for (std::size_t i = 1; i < pattern.size(); ++i) {
    if (pattern[i] != '{' || pattern[i - 1] == '\\') continue;
    // \x{41}, \p{L}
    if (i >= 2 && pattern[i - 2] == '\\' &&
        std::string_view("xpP").find(pattern[i - 1]) != std::string_view::npos)
      continue;
    std::uint64_t least = 0;
    std::from_chars(pattern.data() + i + 1, pattern.data() + pattern.size(), least);
    largest = std::max(largest, least);
  }
  return largest;
}

std::string message_of(int code) {
  PCRE2_UCHAR8 buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::Code {
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> compiled;
  std::string pattern;
  std::uint64_t steps_of_a_part = 1;
};

Regex::Regex(std::string_view oniguruma) : code_(std::make_unique<Code>()) {
  if (oniguruma.size() > kMaxPattern)
    fail("a pattern must have at most {} bytes, not {}", kMaxPattern, oniguruma.size());
  code_->pattern = oniguruma;
  const std::string pattern = pcre2_pattern(oniguruma);
  int error = 0;
  std::size_t offset = 0;
  std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>> context(
      pcre2_compile_context_create(nullptr));
  if (!context) fail("PCRE2 has no memory left for a pattern");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  code_->compiled.reset(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
      &error, &offset, context.get()));
  code_->steps_of_a_part = 1 + largest_least_count(pattern);
  if (!code_->compiled)
    fail("the pattern \"{}\" must be a regular expression that PCRE2 understands, but: {}",
         oniguruma, message_of(error));
  // Where the system forbids generated code, matching goes on without it, only slower.
  pcre2_jit_compile(code_->compiled.get(), PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;

std::optional<Span> Regex::find(std::string_view text, std::size_t from,
                                RegexBudget& budget) const {
  thread_local const Scratch scratch;
  StepCounter counter{budget, code_->steps_of_a_part, from};
  pcre2_set_callout(scratch.context.get(), &StepCounter::count, &counter);
  const auto match = [&](std::uint32_t options) {
    return pcre2_match(code_->compiled.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                       text.size(), from, PCRE2_NO_UTF_CHECK | options, scratch.data.get(),
                       scratch.context.get());
  };
  int result = match(0);
  // The interpreter keeps its state on the heap and can go deeper than generated code.
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result == PCRE2_ERROR_CALLOUT)
    fail("the pattern \"{}\" must match a text of {} bytes within {} steps, and needs more",
         code_->pattern, budget.bytes(), budget.most());
  if (result < 0)
    fail("the pattern \"{}\" must match within {} KiB, but after byte {} of {}: {}", code_->pattern,
         kHeapKibibytes, from, text.size(), message_of(result));
  const std::size_t* ends = pcre2_get_ovector_pointer(scratch.data.get());
  // \K could make a match begin after its end; the rewriting refuses it, this only makes sure.
  return Span{std::min(ends[0], ends[1]), ends[1]};
}

}  // namespace shellgame
