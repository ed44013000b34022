// sympy as the judge of orders, classes, members, products, signs and ranks.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shellgame/groups/group.h"
#include "tests/groups/run_oracle.h"

namespace shellgame {
namespace {

using nlohmann::json;

json claim_of(const Group& group) {
  json claim{
      {"name", group.name()},          {"degree", group.degree()},    {"order", group.order()},
      {"abelian", group.is_abelian()}, {"generators", json::array()}, {"samples", json::array()},
      {"probes", json::array()},       {"class_sizes", nullptr},      {"elements", nullptr}};
  for (const Permutation g : group.generators())
    claim["generators"].push_back(g.images(group.degree()));
  RandomStream stream(11, 0);
  const Group all = Group::symmetric(group.degree());
  for (int i = 0; i < 5; ++i) {
    claim["samples"].push_back(group.sample(stream).images(group.degree()));
    const Permutation p = all.sample(stream);
    claim["probes"].push_back(json::array({p.images(group.degree()), group.contains(p)}));
  }
  if (group.order() <= 2520) {  // sympy lists classes slowly
    claim["class_sizes"] = json::array();
    for (const ConjugacyClass& c : group.conjugacy_classes())
      claim["class_sizes"].push_back(c.size);
    claim["elements"] = json::array();
    for (const Permutation p : group.elements())
      claim["elements"].push_back(p.images(group.degree()));
  }
  return claim;
}

json claim_of(int n, RandomStream& stream) {
  const Group all = Group::symmetric(n);
  const Permutation p = all.sample(stream), q = all.sample(stream);
  const int exponent = static_cast<int>(stream.below(41)) - 20;
  return {{"p", p.images(n)},
          {"q", q.images(n)},
          {"then", then(p, q).images(n)},
          {"after", after(p, q).images(n)},
          {"inverse", p.inverse().images(n)},
          {"exponent", exponent},
          {"power", p.power(exponent).images(n)},
          {"sign", p.sign()},
          {"order", p.order()},
          {"rank", p.rank(n)},
          {"cycles", p.to_cycles()}};
}

TEST(GroupOracle, SympyAgrees) {
  json claims{{"groups", json::array()}, {"permutations", json::array()}};
  std::size_t facts = 0;
  for (const char* name :
       {"S1",
        "S2",
        "S3",
        "S4",
        "S5",
        "S8",
        "S16",
        "A1",
        "A3",
        "A4",
        "A5",
        "A6",
        "A16",
        "Z1",
        "Z7",
        "Z16",
        "D3",
        "D6",
        "D16",
        "A4xZ5",
        "S3xZ2xZ2",
        "S3xZ10",
        "Z4xZ3xZ5",
        "D4xA4",
        "S8xS8",
        "<(2 3)>",
        "<(1 2), (1 2 3 4 5)>",
        "<(1 2 3 4 5 6 7), (2 3)(4 7)>",
        "<(1 2 3 4 5 6 7 8 9 10 11), (3 7 11 8)(4 10 5 6)>",
        "<(1 2 3 4 5 6 7 8 9 10 11), (3 7 11 8)(4 10 5 6), (1 12)(2 11)(3 6)(4 8)(5 9)(7 10)>"}) {
    claims["groups"].push_back(claim_of(parse_group(name)));
    facts += claims["groups"].back()["elements"].is_null() ? 12 : 14;
  }
  RandomStream stream(5, 0);
  for (int n = 1; n <= 16; ++n)
    for (int i = 0; i < 40; ++i) {
      claims["permutations"].push_back(claim_of(n, stream));
      facts += 8;
    }
  EXPECT_EQ(run_oracle("groups/group_oracle.py", claims.dump()),
            "agreed on " + std::to_string(facts) + " facts\n");
}

}  // namespace
}  // namespace shellgame
