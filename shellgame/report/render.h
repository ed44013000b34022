// SVG as PDF and PNG, by librsvg and cairo. The tool loads this as a library of its own when it
// makes figures: linking librsvg would double the time that every command takes to start.
#pragma once

#include <string>
#include <string_view>

#include "shellgame/report/canvas.h"

namespace shellgame {

struct Rendered {
  std::string pdf, png;  // whole files
};

// The PNG has `dpi` dots an inch. Throws Error where the SVG cannot be read.
Rendered render_svg(const std::string& svg, const FigureMetadata& metadata, double dpi = 300);

// A PNG with text chunks ("Title", "Comment", ...) put in before its end. Letters beyond Latin-1
// make an iTXt chunk. Throws Error if it is not a PNG.
std::string png_with_text(const std::string& png, std::string_view key, std::string_view text);

// What the loaded library gives.
using RenderFunction = Rendered (*)(const std::string&, const FigureMetadata&, double);

}  // namespace shellgame
