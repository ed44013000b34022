// Small models for the contract that every mixer keeps: at least one for each mixer, more where a
// switch changes how it remembers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

struct ContractCase {
  std::string name;
  nlohmann::json config;
};

std::vector<ContractCase> contract_cases();

}  // namespace shellgame
