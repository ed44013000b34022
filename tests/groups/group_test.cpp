#include "shellgame/groups/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <thread>

#include "shellgame/groups/stabiliser_chain.h"
#include "shellgame/text/error.h"
#include "tests/support/check_group_laws.h"

namespace shellgame {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kM11 = "<(1 2 3 4 5 6 7 8 9 10 11), (3 7 11 8)(4 10 5 6)>";
constexpr const char* kM12 =
    "<(1 2 3 4 5 6 7 8 9 10 11), (3 7 11 8)(4 10 5 6), (1 12)(2 11)(3 6)(4 8)(5 9)(7 10)>";
constexpr const char* kPsl27 = "<(1 2 3 4 5 6 7), (2 3)(4 7)>";

TEST(Group, LawsHold) {
  for (const char* name : {"S1",
                           "S2",
                           "S3",
                           "S4",
                           "S5",
                           "S6",
                           "S12",
                           "S16",
                           "A1",
                           "A2",
                           "A3",
                           "A4",
                           "A5",
                           "A6",
                           "A15",
                           "A16",
                           "Z1",
                           "Z2",
                           "Z7",
                           "Z16",
                           "D3",
                           "D4",
                           "D5",
                           "D16",
                           "A4xZ5",
                           "S3xZ2xZ2",
                           "S3_x_Z10",
                           "Z3xZ4xZ5",
                           "S8xS8",
                           "D4xA4",
                           "<()>",
                           "<(2 3)>",
                           "<(1 2)(3 4), (1 3)(2 4)>",
                           "<(1 2), (1 2 3 4 5)>",
                           "Z3x<(1 2), (2 3)>",
                           kPsl27,
                           kM11,
                           kM12})
    check_group_laws(parse_group(name));
}

TEST(Group, OrdersAreThePublishedOnes) {
  const std::vector<std::pair<const char*, std::uint64_t>> published{
      {"S1", 1},
      {"S5", 120},
      {"S12", 479001600},
      {"S16", 20922789888000},
      {"A1", 1},
      {"A2", 1},
      {"A5", 60},
      {"A16", 10461394944000},
      {"Z1", 1},
      {"Z13", 13},
      {"D3", 6},
      {"D16", 32},
      {"A4xZ5", 60},
      {"S8xS8", 1625702400},
      {kPsl27, 168},  // PSL(2,7), Klein's group
      {kM11, 7920},   // Mathieu's groups
      {kM12, 95040},
      {"<(1 2 3 4 5 6 7 8), (1 3 2 6 4 5 8)>", 40320},  // generates S8
      {"<(1 2 3 4), (1 3)>", 8},                        // D4
      {"<(1 2 3)(4 5 6), (1 4)(2 5)(3 6)>", 6},         // abelian, of order 6
      {"<(1 2), (3 4), (1 3)(2 4)>", 8},                // the wreath product of Z2 by Z2
      {"<(1 2 3 4 5 6 7 8)(9 10 11 12 13 14 15 16), (1 9 5 13)(2 16 6 12)(3 15 7 11)(4 14 8 10)>",
       16}};  // the generalised quaternion group
  for (const auto& [name, order] : published) EXPECT_EQ(parse_group(name).order(), order) << name;
}

TEST(Group, MathieuGroupsAreSharplyTransitive) {
  // M11 is sharply 4-transitive and M12 sharply 5-transitive: fixing that many points leaves one.
  const Group m11 = parse_group(kM11), m12 = parse_group(kM12);
  EXPECT_EQ(m11.order(), 11u * 10 * 9 * 8);
  EXPECT_EQ(m12.order(), 12u * 11 * 10 * 9 * 8);
  EXPECT_TRUE(m11.is_subgroup_of(m12));
  EXPECT_TRUE(m12.is_subgroup_of(Group::alternating(12)));
  EXPECT_FALSE(m12.is_subgroup_of(m11));
  EXPECT_EQ(m11.conjugacy_classes().size(), 10u);
  EXPECT_EQ(m12.conjugacy_classes().size(), 15u);
}

TEST(Group, ElementsAreInLexicographicOrder) {
  const Group s5 = Group::symmetric(5), a5 = Group::alternating(5);
  for (std::uint64_t i = 0; i < 120; ++i) EXPECT_EQ(s5.element(i), Permutation::unrank(5, i));
  for (const char* name : {"S6", "A6", "D7", "A4xZ5", "Z3x<(1 2), (2 3)>", kM11, kPsl27, "S7xZ2"}) {
    const Group group = parse_group(name);
    const std::vector<Permutation>& elements = group.elements();
    ASSERT_EQ(elements.size(), group.order()) << name;
    EXPECT_TRUE(elements.front().is_identity());
    EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end())) << name;
    EXPECT_EQ(std::adjacent_find(elements.begin(), elements.end()), elements.end()) << name;
    const StabiliserChain chain(group.degree(), group.generators());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      ASSERT_EQ(group.index_of(elements[i]), i) << name;
      ASSERT_EQ(chain.element(i), elements[i]) << name;  // also where Group looks it up
    }
  }
}

// What the header promises of the numbers.
TEST(Group, IndicesFollowTheStructure) {
  const Group a7 = Group::alternating(7), z12 = Group::cyclic(12), product = parse_group("A4xZ5");
  for (std::uint64_t i = 0; i < a7.order(); ++i) EXPECT_EQ(a7.element(i).rank(7) / 2, i);
  for (std::uint64_t i = 0; i < 12; ++i)
    EXPECT_EQ(z12.element(i), z12.generators()[0].power(static_cast<std::int64_t>(i)));
  const Group a4 = Group::alternating(4), z5 = Group::cyclic(5);
  for (std::uint64_t i = 0; i < 60; ++i)
    EXPECT_EQ(product.element(i), then(a4.element(i / 5), z5.element(i % 5).shifted(4)));
}

// A group is what its generators reach: breadth-first search is the independent count.
TEST(Group, GeneratedGroupsAreWhatTheirGeneratorsReach) {
  EXPECT_TRUE(rc::check([] {
    const int n = *rc::gen::inRange(1, 8);
    std::vector<Permutation> generators;
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i)
      generators.push_back(
          Permutation::unrank(n, *rc::gen::inRange<std::uint64_t>(0, factorial(n))));
    std::set<Permutation> reached{Permutation()};
    std::vector<Permutation> waiting{Permutation()};
    while (!waiting.empty()) {
      const Permutation x = waiting.back();
      waiting.pop_back();
      for (const Permutation g : generators)
        if (reached.insert(then(x, g)).second) waiting.push_back(then(x, g));
    }
    const Group group = Group::generated(generators, n);
    RC_ASSERT(group.order() == reached.size());
    RC_ASSERT(group.elements() == std::vector<Permutation>(reached.begin(), reached.end()));
    const Permutation p = Permutation::unrank(n, *rc::gen::inRange<std::uint64_t>(0, factorial(n)));
    RC_ASSERT(group.contains(p) == (reached.count(p) == 1));
    RC_ASSERT(group.find(p).has_value() == (reached.count(p) == 1));
  }));
}

// Partitions of n (OEIS A000041) and classes of A_n (OEIS A000702).
TEST(Group, ConjugacyClassesNumberAsPublished) {
  const std::vector<std::size_t> symmetric{1, 2, 3, 5, 7, 11, 15, 22};
  const std::vector<std::size_t> alternating{1, 1, 3, 4, 5, 7, 9, 14};
  for (int n = 1; n <= 8; ++n) {
    EXPECT_EQ(Group::symmetric(n).conjugacy_classes().size(),
              symmetric[static_cast<std::size_t>(n - 1)]);
    EXPECT_EQ(Group::alternating(n).conjugacy_classes().size(),
              alternating[static_cast<std::size_t>(n - 1)]);
  }
  for (int n = 3; n <= 16; ++n)
    EXPECT_EQ(Group::dihedral(n).conjugacy_classes().size(),
              static_cast<std::size_t>(n % 2 == 1 ? (n + 3) / 2 : n / 2 + 3));
  EXPECT_EQ(parse_group(kPsl27).conjugacy_classes().size(), 6u);
}

TEST(Group, ClassesOfS5HaveThePublishedSizes) {
  std::vector<std::pair<std::vector<int>, std::uint64_t>> sizes;
  for (const ConjugacyClass& c : Group::symmetric(5).conjugacy_classes())
    sizes.emplace_back(c.representative.cycle_type(5), c.size);
  std::sort(sizes.begin(), sizes.end());
  const std::vector<std::pair<std::vector<int>, std::uint64_t>> published{
      {{1, 1, 1, 1, 1}, 1}, {{2, 1, 1, 1}, 10}, {{2, 2, 1}, 15}, {{3, 1, 1}, 20},
      {{3, 2}, 20},         {{4, 1}, 30},       {{5}, 24}};
  EXPECT_EQ(sizes, published);
}

// The number of words of length k whose letters are transpositions and whose product is the
// identity is, by Frobenius, (1/n!) sum over partitions of f^2 c^k, with f the dimension and c the
// sum of contents. For S_5: f, c = 1,10  4,5  5,2  6,0  5,-2  4,-5  1,-10.
TEST(Group, WordsEqualToTheIdentityNumberAsCharactersSay) {
  const Group s5 = Group::symmetric(5);
  std::vector<Permutation> letters;
  for (const Permutation p : s5.elements())
    if (p.cycle_type(5) == std::vector<int>{2, 1, 1, 1}) letters.push_back(p);
  ASSERT_EQ(letters.size(), 10u);
  std::vector<std::int64_t> ways(120);
  ways[0] = 1;
  const std::vector<std::pair<std::int64_t, std::int64_t>> characters{
      {1, 10}, {4, 5}, {5, 2}, {6, 0}, {5, -2}, {4, -5}, {1, -10}};
  for (int k = 1; k <= 14; ++k) {
    std::vector<std::int64_t> next(120);
    for (std::size_t i = 0; i < 120; ++i)
      for (const Permutation g : letters)
        next[s5.index_of(product(s5.element(i), g, Multiplication::kRight))] += ways[i];
    ways = next;
    std::int64_t theory = 0;
    for (const auto& [dimension, content] : characters) {
      std::int64_t term = dimension * dimension;
      for (int i = 0; i < k; ++i) term *= content;
      theory += term;
    }
    EXPECT_EQ(ways[0], theory / 120) << "length " << k;
  }
}

TEST(Group, SamplesAreUniform) {
  // 120 cells of 500: chi-squared with 119 degrees of freedom passes 200 with probability 5e-6.
  for (const char* name : {"S5", "<(1 2), (1 2 3 4 5)>", "S3xZ10xZ2"}) {
    const Group group = parse_group(name);
    ASSERT_EQ(group.order(), 120u);
    RandomStream stream(3, 5);
    std::vector<double> cells(120);
    for (int i = 0; i < 60000; ++i) cells[group.index_of(group.sample(stream))] += 1;
    double chi_squared = 0;
    for (const double count : cells) chi_squared += (count - 500) * (count - 500) / 500;
    EXPECT_LT(chi_squared, 200) << name;
    EXPECT_GT(chi_squared, 60) << name;
  }
}

TEST(Group, SamplesOfLargeGroupsAreUniformInEachPoint) {
  // The image of each point of S16 is uniform: 15 degrees of freedom, 60 has probability 2e-7.
  const Group s16 = Group::symmetric(16);
  RandomStream stream(4, 4);
  std::vector<std::vector<double>> cells(16, std::vector<double>(16));
  for (int i = 0; i < 16000; ++i) {
    const Permutation p = s16.sample(stream);
    for (std::size_t x = 0; x < 16; ++x)
      cells[x][static_cast<std::size_t>(p(static_cast<int>(x)))] += 1;
  }
  for (const auto& row : cells) {
    double chi_squared = 0;
    for (const double count : row) chi_squared += (count - 1000) * (count - 1000) / 1000;
    EXPECT_LT(chi_squared, 60);
    EXPECT_GT(chi_squared, 1);
  }
}

TEST(Group, LargeGroupsAreNotListedButStillWork) {
  const Group s13 = Group::symmetric(13);
  try {
    s13.elements();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "The group S13 has 6227020800 elements; only groups of at most 50000000 can be "
              "listed.");
  }
  EXPECT_THROW(s13.conjugacy_classes(), UsageError);
  const Permutation p = s13.element(6227020799);
  EXPECT_EQ(p.rank(13), 6227020799u);
  EXPECT_EQ(s13.index_of(p), 6227020799u);
}

TEST(Group, WrongElementsAreRefused) {
  const Group a4 = Group::alternating(4);
  EXPECT_FALSE(a4.contains(Permutation::from_cycles("(1 2)")));
  EXPECT_FALSE(a4.contains(Permutation::from_cycles("(1 2)(4 5)")));
  EXPECT_FALSE(a4.contains(Permutation::from_cycles("(14 15 16)")));
  EXPECT_FALSE(a4.find(Permutation::from_cycles("(14 15 16)")));
  EXPECT_THROW(a4.index_of(Permutation::from_cycles("(1 2)")), UsageError);
  EXPECT_THROW(a4.element(12), UsageError);
  EXPECT_TRUE(a4.is_subgroup_of(Group::symmetric(4)));
  EXPECT_TRUE(a4.is_subgroup_of(Group::symmetric(16)));
  EXPECT_FALSE(Group::symmetric(4).is_subgroup_of(a4));
  EXPECT_FALSE(Group::cyclic(4).is_subgroup_of(a4));  // a 4-cycle is odd
  EXPECT_THROW(Group::generated({Permutation::from_cycles("(1 5)")}, 4), UsageError);
  EXPECT_THROW(Group::generated({}, 17), UsageError);
  EXPECT_THROW(Group::generated(std::vector<Permutation>(257)), UsageError);
  EXPECT_THROW(Group::symmetric(0), UsageError);
  EXPECT_THROW(Group::cyclic(17), UsageError);
  EXPECT_THROW(Group::dihedral(2), UsageError);
  EXPECT_THROW(Group::direct_product(Group::cyclic(10), Group::cyclic(7)), UsageError);
}

TEST(Group, ThreadsShareOneList) {
  const Group s8 = Group::symmetric(8);
  std::vector<const std::vector<Permutation>*> lists(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { lists[i] = &Group(s8).elements(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto* list : lists) EXPECT_EQ(list, lists[0]);
  EXPECT_EQ(lists[0]->size(), 40320u);
}

TEST(ParseGroup, ReadsTheNames) {
  EXPECT_EQ(parse_group("S5").name(), "S5");
  EXPECT_EQ(parse_group("A4_x_Z5").name(), "A4xZ5");
  EXPECT_EQ(parse_group(" A4 x Z5 ").name(), "A4xZ5");
  EXPECT_EQ(parse_group("S3xZ2xZ2").degree(), 7);
  EXPECT_EQ(parse_group("<(2,1) , (1 2 3 4 5)>").name(), "<(1 2), (1 2 3 4 5)>");
  EXPECT_EQ(parse_group("<(2 3)>").degree(), 3);
  EXPECT_EQ(parse_group("<()>").order(), 1u);
  const Group again = parse_group(parse_group("Z3x<(1 2), (2 3)>").name());
  EXPECT_EQ(again.name(), "Z3x<(1 2), (2 3)>");
  EXPECT_EQ(again.order(), 18u);
  EXPECT_THAT(parse_group("D5").generators(), ElementsAre(Permutation::from_cycles("(1 2 3 4 5)"),
                                                          Permutation::from_cycles("(2 5)(3 4)")));
}

TEST(ParseGroup, ErrorsNameTheTextThePlaceAndWhatIsAllowed) {
  const auto refusal = [](const char* text) -> std::string {
    try {
      parse_group(text);
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fmt::format("In the group \"{}\"", text)));
      EXPECT_THAT(error.what(), HasSubstr("Groups are S5, A5, Z7, D4, products such as A4xZ5"));
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal(""), HasSubstr("at character 1: a group must start with S, A, Z, D or <"));
  EXPECT_THAT(refusal("Q8"), HasSubstr("at character 1: a group must start with"));
  EXPECT_THAT(refusal("S"), HasSubstr("at character 2: a number must follow S"));
  EXPECT_THAT(refusal("S0"), HasSubstr("at character 2: the number after S must be between 1"));
  EXPECT_THAT(refusal("A4xS17"), HasSubstr("at character 5: the number after S must be between"));
  EXPECT_THAT(refusal("S99999999999999999999999"), HasSubstr("at character 2: the number after S"));
  EXPECT_THAT(refusal("D2"), HasSubstr("write Z2xZ2"));
  EXPECT_THAT(refusal("D1"), HasSubstr("write Z2"));
  EXPECT_THAT(refusal("Z60"), HasSubstr("the same group on fewer points is Z4xZ3xZ5"));
  EXPECT_THAT(refusal("Z17"), HasSubstr("between 1 and 16. Groups"));
  EXPECT_THAT(refusal("S5x"), HasSubstr("at character 4: a group must start"));
  EXPECT_THAT(refusal("S5 S3"),
              HasSubstr("at character 4: only x and a further factor may follow"));
  EXPECT_THAT(refusal("S5_S3"), HasSubstr("at character 3: only x"));
  EXPECT_THAT(refusal("S9xS8"), HasSubstr("at character 4: all factors together may have at most "
                                          "16 points, and this one makes 17"));
  EXPECT_THAT(refusal("<>"), HasSubstr("at character 2: a generator such as (1 2 3)"));
  EXPECT_THAT(refusal("<(1 2)"), HasSubstr("at character 7: a list of generators must end"));
  EXPECT_THAT(refusal("<(1 2), (3 3)>"), HasSubstr("at character 9: a generator must be a"));
  EXPECT_THAT(refusal("<(1 2),>"), HasSubstr("at character 8: a generator"));
}

TEST(PrimePowerFactors, MultiplyToTheNumber) {
  EXPECT_THAT(prime_power_factors(60), ElementsAre(4, 3, 5));
  EXPECT_THAT(prime_power_factors(6), ElementsAre(2, 3));
  EXPECT_THAT(prime_power_factors(1), ElementsAre());
  EXPECT_THAT(prime_power_factors(97), ElementsAre(97));
  EXPECT_THAT(prime_power_factors(1024), ElementsAre(1024));
  EXPECT_THAT(prime_power_factors(2147483647), ElementsAre(2147483647));
}

}  // namespace
}  // namespace shellgame
