// The colours of all figures: Okabe and Ito's, which colour-blind readers tell apart. Their yellow
// is left out: it is too light for lines on white.
#pragma once

#include <array>
#include <cstddef>

namespace shellgame {

inline constexpr const char* kInk = "#222222";
inline constexpr const char* kGrey = "#777777";
inline constexpr const char* kLightGrey = "#dddddd";
inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kVermilion = "#d55e00";
inline constexpr const char* kGreen = "#009e73";
inline constexpr const char* kPurple = "#cc79a7";
inline constexpr const char* kSky = "#56b4e9";
inline constexpr const char* kOrange = "#e69f00";

inline constexpr std::array<const char*, 6> kColours = {kBlue,   kVermilion, kGreen,
                                                        kPurple, kSky,       kOrange};
inline constexpr std::array<const char*, 4> kDashes = {"", "6 3", "2 3", "8 3 2 3"};
inline const char* colour_of(std::size_t i) { return kColours[i % kColours.size()]; }
inline const char* dash_of(std::size_t i) { return kDashes[i % kDashes.size()]; }

}  // namespace shellgame
