#include "shellgame/tokens/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "shellgame/text/error.h"
#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

using Form = Normalizer::Form;

// ICU makes its engines at the first use; here that is once for all threads, in a way that the
// thread sanitizer sees.
const icu::Normalizer2& engine_of(Form form) {
  struct Engines {
    std::array<const icu::Normalizer2*, 4> of;  // in the order of Form
    Engines() {
      UErrorCode status = U_ZERO_ERROR;
      of = {icu::Normalizer2::getNFCInstance(status), icu::Normalizer2::getNFDInstance(status),
            icu::Normalizer2::getNFKCInstance(status), icu::Normalizer2::getNFKDInstance(status)};
      if (U_FAILURE(status)) fail("ICU must have its normalisation data: {}", u_errorName(status));
    }
  };
  static const Engines engines;
  return *engines.of[static_cast<std::size_t>(form)];
}

// ICU's sizes are signed 32-bit numbers, and a normalised text may be eleven times as long.
constexpr std::size_t kIcuLimit = 0x7FFFFFFF / 12;

// Hugging Face's library normalises by the data of Unicode 9: what came later is to it a character
// of no class, which nothing composes with or moves across. (Found by trying all marks.)
bool is_later(char32_t code_point) {
  if (code_point < 0x300) return false;
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(code_point), age);
  return age[0] > 9;
}

icu::StringPiece piece(std::string_view text) {
  return {text.data(), static_cast<std::int32_t>(text.size())};
}

// Marks in canonical order. ICU sorts by insertion, which takes quadratic time on a long run of
// marks; sorting first changes nothing in the result.
std::string with_sorted_marks(std::string_view text) {
  std::string sorted;
  std::vector<char32_t> marks;
  const auto flush = [&] {
    std::stable_sort(marks.begin(), marks.end(), [](char32_t a, char32_t b) {
      return u_getCombiningClass(static_cast<UChar32>(a)) <
             u_getCombiningClass(static_cast<UChar32>(b));
    });
    for (const char32_t mark : marks) append_utf8(sorted, mark);
    marks.clear();
  };
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint point = code_point_at(text, position);
    if (u_getCombiningClass(static_cast<UChar32>(point.value)) != 0) {
      marks.push_back(point.value);
    } else {
      flush();
      append_utf8(sorted, point.value);
    }
    position += point.length;
  }
  flush();
  return sorted;
}

std::string normalized_part(const icu::Normalizer2& engine, std::string_view part) {
  constexpr std::size_t kLong = 256;
  std::string sorted;
  if (part.size() > kIcuLimit)
    fail("a run of combining marks must be shorter than {} bytes to be normalised, not {}",
         kIcuLimit, part.size());
  if (part.size() > kLong) {
    sorted = with_sorted_marks(part);
    part = sorted;
  }
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  UErrorCode status = U_ZERO_ERROR;
  engine.normalizeUTF8(0, piece(part), sink, nullptr, status);
  if (U_FAILURE(status)) fail("ICU could not normalise a text: {}", u_errorName(status));
  return result;
}

// Appends bytes that all come from the one at `origin`, or each from its own place.
struct Builder {
  NormalizedText result;
  bool with_origins;
  void changed(std::string_view text, std::size_t origin) {
    result.text += text;
    if (with_origins) result.origins.resize(result.text.size(), static_cast<std::uint32_t>(origin));
  }
  void unchanged(std::string_view text, std::size_t origin) {
    result.text += text;
    if (with_origins)
      for (std::size_t i = 0; i < text.size(); ++i)
        result.origins.push_back(static_cast<std::uint32_t>(origin + i));
  }
};

// Cuts the text where normalisation cannot look across, and normalises part by part. A character
// that the library does not know is a part of its own.
void apply_form(Form form, std::string_view text, Builder& builder) {
  const icu::Normalizer2& engine = engine_of(form);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const CodePoint first = code_point_at(text, begin);
    std::size_t end = begin + first.length;
    if (is_later(first.value)) {
      builder.unchanged(text.substr(begin, first.length), begin);
      begin = end;
      continue;
    }
    while (end < text.size()) {
      const CodePoint next = code_point_at(text, end);
      if (engine.hasBoundaryBefore(static_cast<UChar32>(next.value)) || is_later(next.value)) break;
      end += next.length;
    }
    const std::string_view part = text.substr(begin, end - begin);
    const std::string result = normalized_part(engine, part);
    if (result == part) {
      builder.unchanged(part, begin);
    } else {
      builder.changed(result, begin);
    }
    begin = end;
  }
}

// Character by character, as Hugging Face's library does: no final sigma, and one character whose
// lowercase is two.
void apply_lowercase(std::string_view text, Builder& builder) {
  std::string lower;
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint point = code_point_at(text, position);
    lower.clear();
    if (point.value == 0x130) {
      lower = "i\xCC\x87";
    } else {
      append_utf8(lower, static_cast<char32_t>(u_tolower(static_cast<UChar32>(point.value))));
    }
    const std::string_view part = text.substr(position, point.length);
    if (lower == part) {
      builder.unchanged(part, position);
    } else {
      builder.changed(lower, position);
    }
    position += point.length;
  }
}

// Whether all marks stand in the order that every form asks for (ICU finds this out by sorting),
// and no character does anything in a form that the library does not know.
bool marks_are_plain(const icu::Normalizer2& engine, std::string_view text) {
  unsigned before = 0;
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint point = code_point_at(text, position);
    const auto c = static_cast<UChar32>(point.value);
    const unsigned order = point.value < 0x300 ? 0 : u_getCombiningClass(c);
    if (order != 0 && order < before) return false;
    if (is_later(point.value) && !engine.isInert(c)) return false;
    before = order;
    position += point.length;
  }
  return true;
}

bool form_leaves(Form form, std::string_view text) {
  if (form == Form::kLowercase)
    return std::all_of(text.begin(), text.end(), [](char byte) {
      return static_cast<unsigned char>(byte) < 0x80 && (byte < 'A' || byte > 'Z');
    });
  if (is_ascii(text)) return true;
  if (text.size() > kIcuLimit || !marks_are_plain(engine_of(form), text)) return false;
  UErrorCode status = U_ZERO_ERROR;
  return engine_of(form).isNormalizedUTF8(piece(text), status) && U_SUCCESS(status);
}

}  // namespace

bool Normalizer::leaves(std::string_view text) const {
  return std::all_of(forms_.begin(), forms_.end(),
                     [&](Form form) { return form_leaves(form, text); });
}

NormalizedText Normalizer::apply(std::string_view text, bool with_origins) const {
  Builder start{{}, with_origins};
  start.unchanged(text, 0);
  NormalizedText current = std::move(start.result);
  if (with_origins) current.origins.push_back(static_cast<std::uint32_t>(text.size()));
  for (const Form form : forms_) {
    if (form_leaves(form, current.text)) continue;
    Builder builder{{}, with_origins};
    if (form == Form::kLowercase) {
      apply_lowercase(current.text, builder);
    } else {
      apply_form(form, current.text, builder);
    }
    if (with_origins) {
      builder.result.origins.push_back(static_cast<std::uint32_t>(current.text.size()));
      for (std::uint32_t& origin : builder.result.origins) origin = current.origins[origin];
    }
    current = std::move(builder.result);
  }
  return current;
}

}  // namespace shellgame
