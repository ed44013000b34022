#include "shellgame/report/render.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <librsvg/rsvg.h>

#include <memory>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Freed<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Freed<cairo_destroy>>;
using Handle = std::unique_ptr<RsvgHandle, Freed<g_object_unref>>;

cairo_status_t append(void* to, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

[[noreturn]] void fail_with(GError* error) {
  const std::string why = error != nullptr ? error->message : "no reason given";
  if (error != nullptr) g_error_free(error);
  fail("the figure's SVG cannot be drawn: {}", why);
}

void draw(RsvgHandle* handle, cairo_surface_t* surface, double width, double height) {
  const Context context(cairo_create(surface));
  // A rounded size may be larger than the page by a part of a dot, which would stay black.
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  const RsvgRectangle page{0, 0, width, height};
  GError* error = nullptr;
  if (!rsvg_handle_render_document(handle, context.get(), &page, &error)) fail_with(error);
  cairo_show_page(context.get());
}

void check(cairo_surface_t* surface) {
  const cairo_status_t status = cairo_surface_status(surface);
  if (status != CAIRO_STATUS_SUCCESS)
    fail("the figure cannot be drawn: {}", cairo_status_to_string(status));
}

}  // namespace

Rendered render_svg(const std::string& svg, const FigureMetadata& metadata, double dpi) {
  GError* error = nullptr;
  const Handle handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!handle) fail_with(error);
  gboolean has_width = 0, has_height = 0, has_box = 0;
  RsvgLength width_length, height_length;
  RsvgRectangle box;
  rsvg_handle_get_intrinsic_dimensions(handle.get(), &has_width, &width_length, &has_height,
                                       &height_length, &has_box, &box);
  if (!has_box) fail("a figure's SVG must have a viewBox");
  Rendered rendered;
  {
    const Surface surface(
        cairo_pdf_surface_create_for_stream(append, &rendered.pdf, box.width, box.height));
    const auto set = [&](cairo_pdf_metadata_t key, const std::string& text) {
      cairo_pdf_surface_set_metadata(surface.get(), key, text.c_str());
    };
    set(CAIRO_PDF_METADATA_TITLE, metadata.title);
    set(CAIRO_PDF_METADATA_SUBJECT, metadata.description);
    set(CAIRO_PDF_METADATA_KEYWORDS, metadata.command);
    set(CAIRO_PDF_METADATA_CREATOR, "shellgame");
    draw(handle.get(), surface.get(), box.width, box.height);
    cairo_surface_finish(surface.get());
    check(surface.get());
  }
  const double scale = dpi / 72;
  const int width = static_cast<int>(box.width * scale + 0.5),
            height = static_cast<int>(box.height * scale + 0.5);
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  draw(handle.get(), surface.get(), width, height);
  check(surface.get());
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS)
    fail("the figure cannot be written as PNG: {}", cairo_status_to_string(status));
  png = png_with_text(png, "Title", metadata.title);
  png = png_with_text(png, "Description", metadata.description);
  rendered.png = png_with_text(png, "Comment", metadata.command);
  return rendered;
}

}  // namespace shellgame

// The entry of the library that the tool loads.
extern "C" shellgame::RenderFunction shellgame_render() { return &shellgame::render_svg; }
