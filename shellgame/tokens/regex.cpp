#include "shellgame/tokens/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <limits>

#include "shellgame/system/error.h"

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
  }
};

std::string message_of(int code) {
  PCRE2_UCHAR8 buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::Code {
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> compiled;
  std::string pattern;
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
  code_->compiled.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
                    &offset, context.get()));
  if (!code_->compiled)
    fail("the pattern \"{}\" must be a regular expression that PCRE2 understands, but: {}",
         oniguruma, message_of(error));
  // Where the system forbids generated code, matching goes on without it, only slower.
  pcre2_jit_compile(code_->compiled.get(), PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;

std::optional<Span> Regex::find(std::string_view text, std::size_t from) const {
  thread_local const Scratch scratch;
  // Enough for any pattern that goes over the text a few times, too little for one that explodes.
  const std::size_t limit =
      std::min<std::size_t>(100000 + 32 * text.size(), std::numeric_limits<std::uint32_t>::max());
  pcre2_set_match_limit(scratch.context.get(), static_cast<std::uint32_t>(limit));
  const auto match = [&](std::uint32_t options) {
    return pcre2_match(code_->compiled.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                       text.size(), from, PCRE2_NO_UTF_CHECK | options, scratch.data.get(),
                       scratch.context.get());
  };
  int result = match(0);
  // The interpreter keeps its state on the heap and can go deeper than generated code.
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0)
    fail("the pattern \"{}\" must match within {} steps and {} KiB, but after byte {} of {}: {}",
         code_->pattern, limit, kHeapKibibytes, from, text.size(), message_of(result));
  const std::size_t* ends = pcre2_get_ovector_pointer(scratch.data.get());
  // \K could make a match begin after its end; the rewriting refuses it, this only makes sure.
  return Span{std::min(ends[0], ends[1]), ends[1]};
}

}  // namespace shellgame
