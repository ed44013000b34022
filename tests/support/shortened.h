// How long a test runs under sanitizers, where a step costs ten times as much: what they look for
// shows in a tenth of it. The release build runs the whole.
#pragma once

namespace shellgame {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

constexpr int shortened(int whole, int under_sanitizers) {
  return kSanitized ? under_sanitizers : whole;
}

}  // namespace shellgame
