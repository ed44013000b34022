// `shellgame group NAME`: what is known about a group.
#include "shellgame/groups/group.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shellgame/system/messages.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

struct GroupOptions {
  std::string name, within, format = "text";
  bool elements = false;
};

void describe(const GroupOptions& options) {
  const Group group = parse_group(options.name);
  nlohmann::ordered_json json;
  json["name"] = group.name();
  json["degree"] = group.degree();
  json["order"] = group.order();
  json["abelian"] = group.is_abelian();
  for (const Permutation& generator : group.generators())
    json["generators"].push_back(generator.to_cycles());
  if (group.order() <= 1'000'000) {
    for (const ConjugacyClass& c : group.conjugacy_classes()) {
      json["conjugacy_classes"].push_back(
          {{"representative", c.representative.to_cycles()}, {"size", c.size}});
    }
  }
  if (!options.within.empty()) {
    json["within"] = options.within;
    json["is_subgroup"] = group.is_subgroup_of(parse_group(options.within));
  }
  if (options.elements) {
    for (const Permutation& element : group.elements())
      json["elements"].push_back(element.to_cycles());
  }
  if (options.format == "json") {
    print_data(json.dump(2) + "\n");
    return;
  }
  print_lines("{}: {} elements on {} points, {}\n", group.name(), group.order(), group.degree(),
              group.is_abelian() ? "abelian" : "not abelian");
  print_lines("generators:");
  for (const Permutation& generator : group.generators()) print_lines(" {}", generator.to_cycles());
  print_lines("\n");
  if (json.contains("conjugacy_classes")) {
    print_lines("conjugacy classes: {}\n", json["conjugacy_classes"].size());
    for (const auto& c : json["conjugacy_classes"]) {
      print_lines("  {:>8}  {}\n", c["size"].get<std::uint64_t>(),
                  c["representative"].get<std::string>());
    }
  }
  if (!options.within.empty()) {
    print_lines("{} of {}\n", json["is_subgroup"].get<bool>() ? "a subgroup" : "not a subgroup",
                options.within);
  }
  if (options.elements) {
    std::uint64_t index = 0;
    for (const Permutation& element : group.elements())
      print_lines("{:>8}  {}\n", index++, element.to_cycles());
  }
}

}  // namespace

void add_group(CLI::App& app) {
  auto options = std::make_shared<GroupOptions>();
  CLI::App* command = add_command(
      app, "group", "Describe a group: order, generators, conjugacy classes, elements.",
      {"shellgame group S5", "shellgame group A4xZ5 --format json",
       "shellgame group A5 --within S5", "shellgame group '<(1 2 3 4 5), (2 5)(3 4)>' --elements"},
      [options] { describe(*options); });
  command->add_option("name", options->name, "the group: S5, A5, Z7, D4, A4xZ5, '<(1 2), (1 2 3)>'")
      ->type_name("NAME")
      ->required();
  command
      ->add_option("--within", options->within, "also say whether it is a subgroup of this group")
      ->type_name("NAME");
  command->add_flag("--elements", options->elements, "list all elements with their indices");
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
}

}  // namespace shellgame
