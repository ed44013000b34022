// Families of our own: one for each mixer that has none elsewhere, and hybrids.
#include "shellgame/models/families.h"
#include "shellgame/models/mixer.h"

namespace shellgame {
namespace {

using Json = Options::Json;

// "layers": a list with an entry for each layer, a mixer's name or an object {"mixer": NAME, ...}
// whose other keys win over those of the configuration.
ModelSpec hybrid_spec(const Options& options) {
  const Json& list = options.json().at("layers");
  if (!list.is_array() || list.empty()) {
    options.refuse("'layers' must be a list that names the mixer of each layer");
  }
  const Options counted = options.with({{"num_hidden_layers", list.size()}});
  ModelSpec spec;
  bool first = true;
  std::vector<LayerSpec> layers;
  for (const Json& entry : list) {
    const Json object = entry.is_string() ? Json{{"mixer", entry}} : entry;
    if (!object.is_object()) {
      options.refuse(fmt::format("'layers' must hold names or objects, not {}", entry.dump()));
    }
    const std::string mixer =
        Options(object, options.where() + ", 'layers'").word("mixer", mixer_names());
    const ModelSpec own = fla_spec(counted.with(object), mixer);
    if (first) spec = own;
    first = false;
    layers.push_back(own.layers.front());
  }
  spec.layers = std::move(layers);
  return spec;
}

}  // namespace

std::vector<Family> own_families() {
  std::vector<Family> families;
  for (const std::string& mixer : mixer_names()) {
    Json defaults = fla_common_keys();
    defaults.update(find_mixer(mixer).defaults);
    const std::string type = "shellgame_" + mixer;
    defaults["model_type"] = type;
    families.push_back(
        {.model_type = type,
         .architecture = "ShellgameForCausalLM",
         .defaults = defaults,
         .spec = [mixer](const Options& options) { return fla_spec(options, mixer); }});
  }
  Json hybrid = fla_common_keys();
  hybrid["model_type"] = "shellgame_hybrid";
  hybrid["layers"] = Json::array();
  families.push_back({.model_type = "shellgame_hybrid",
                      .architecture = "ShellgameForCausalLM",
                      .defaults = hybrid,
                      .spec = hybrid_spec});
  return families;
}

}  // namespace shellgame
