// The interface that a plug-in is built for, in words: C++ libraries fit together only if these are
// the same. Compiled into plug-ins and into the library that loads them.
#pragma once

#include "shellgame/system/version.h"
#if __has_include(<torch/version.h>)
#include <torch/version.h>
#endif

#define SHELLGAME_TEXT_OF(x) #x
#define SHELLGAME_TEXT(x) SHELLGAME_TEXT_OF(x)

#if defined(__clang__)
#define SHELLGAME_COMPILER "clang " SHELLGAME_TEXT(__clang_major__)
#else
#define SHELLGAME_COMPILER "GCC " SHELLGAME_TEXT(__GNUC__)
#endif
// libstdc++ has two forms of std::string.
#ifdef _GLIBCXX_USE_CXX11_ABI
#define SHELLGAME_ABI ", C++ ABI " SHELLGAME_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define SHELLGAME_ABI ""
#endif

#define SHELLGAME_INTERFACE_WITHOUT_TORCH \
  "shellgame " SHELLGAME_VERSION_TEXT ", " SHELLGAME_COMPILER SHELLGAME_ABI
#ifdef TORCH_VERSION
#define SHELLGAME_INTERFACE SHELLGAME_INTERFACE_WITHOUT_TORCH ", LibTorch " TORCH_VERSION
#else
#define SHELLGAME_INTERFACE SHELLGAME_INTERFACE_WITHOUT_TORCH
#endif

namespace shellgame {

inline constexpr char kPluginInterface[] = SHELLGAME_INTERFACE;
inline constexpr char kPluginInterfaceWithoutTorch[] = SHELLGAME_INTERFACE_WITHOUT_TORCH;

}  // namespace shellgame
