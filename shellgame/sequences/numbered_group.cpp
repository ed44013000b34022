#include "shellgame/sequences/numbered_group.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// The factors of a product, as text. Names hold no other x.
std::vector<std::string> split_factors(std::string_view name) {
  std::vector<std::string> factors;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('x', start), name.size());
    std::string_view factor = name.substr(start, end - start);
    factor.remove_prefix(std::min(factor.find_first_not_of(" _"), factor.size()));
    factor = factor.substr(0, factor.find_last_not_of(" _") + 1);
    factors.emplace_back(factor);
    start = end + 1;
  }
  return factors;
}

// n for a factor "Zn" that has more than 16 points, but prime powers that fit in 16; else 0.
int large_cyclic(const std::string& factor) {
  if (factor.size() < 2 || factor.size() > 5 || factor[0] != 'Z') return 0;
  if (factor.find_first_not_of("0123456789", 1) != factor.npos) return 0;
  const int n = std::stoi(factor.substr(1));
  const std::vector<int> powers = n > kMaxPoints ? prime_power_factors(n) : std::vector<int>();
  const int points = std::accumulate(powers.begin(), powers.end(), 0);
  return points > 0 && points <= kMaxPoints ? n : 0;
}

}  // namespace

NumberedGroup::NumberedGroup(Group group) : name_(group.name()), group_(std::move(group)) {
  if (group_.order() > std::numeric_limits<std::uint32_t>::max())
    wrong_use(
        "A group whose elements are tokens must have fewer than 2^32 elements, but {} has {}.",
        name_, group_.order());
}

NumberedGroup NumberedGroup::parse(std::string_view name) {
  std::string full_name, expanded;
  std::vector<Factor> factors;
  bool renumbered = false;
  for (const std::string& part : split_factors(name)) {
    const char* separator = full_name.empty() ? "" : "x";
    full_name += fmt::format("{}{}", separator, part);
    Factor factor;
    if (const int n = large_cyclic(part); n > 0) {
      renumbered = true;
      const std::vector<int> powers = prime_power_factors(n);
      for (const int power : powers) {
        expanded += fmt::format("{}Z{}", separator, power);
        separator = "x";
      }
      // By the Chinese remainder theorem, the power k of the generator is k modulo each factor.
      factor.order = static_cast<std::uint32_t>(n);
      factor.from_own.resize(factor.order);
      for (int k = 0; k < n; ++k) {
        int own = 0;
        for (const int power : powers) own = own * power + k % power;
        factor.to_own.push_back(static_cast<std::uint32_t>(own));
        factor.from_own[static_cast<std::size_t>(own)] = static_cast<std::uint32_t>(k);
      }
    } else {
      expanded += fmt::format("{}{}", separator, part);
    }
    factors.push_back(std::move(factor));
  }
  if (!renumbered) return NumberedGroup(parse_group(name));  // errors show the text as it was given

  NumberedGroup result(parse_group(expanded));
  result.name_ = full_name;
  const std::vector<std::string> parts = split_factors(name);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (factors[i].to_own.empty())
      factors[i].order = static_cast<std::uint32_t>(parse_group(parts[i]).order());
  result.factors_ = std::move(factors);
  return result;
}

std::uint32_t NumberedGroup::renumber(std::uint32_t index, Table table) const {
  std::uint32_t result = 0, scale = 1;
  for (auto factor = factors_.rbegin(); factor != factors_.rend(); ++factor) {
    const std::uint32_t digit = index % factor->order;
    index /= factor->order;
    const std::vector<std::uint32_t>& numbers = (*factor).*table;
    result += scale * (numbers.empty() ? digit : numbers[digit]);
    scale *= factor->order;
  }
  return result;
}

Permutation NumberedGroup::element(std::uint32_t index) const {
  if (factors_.empty() || index >= order()) return group_.element(index);  // which refuses
  return group_.element(renumber(index, &Factor::to_own));
}

std::uint32_t NumberedGroup::index_of(Permutation p) const {
  const auto own = static_cast<std::uint32_t>(group_.index_of(p));
  return factors_.empty() ? own : renumber(own, &Factor::from_own);
}

}  // namespace shellgame
