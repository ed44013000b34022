#include "shellgame/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "shellgame/report/parts.h"
#include "shellgame/text/error.h"
#include "tests/figures/fake_sources.h"

namespace shellgame {
namespace {

// Numbers of the column `name` of rows that `keep` takes.
std::vector<double> numbers_of(const CsvTable& table, std::size_t column, const std::string& kind) {
  std::vector<double> numbers;
  for (const auto& row : table.rows()) {
    if (std::get<std::string>(row[0]) == kind) numbers.push_back(std::get<double>(row[column]));
  }
  return numbers;
}

std::size_t count_of(const Canvas& canvas, const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(canvas.texts(), text, &PlacedText::text));
}

std::string plain(std::string text) {
  for (const char* mark : {"^{", "_{", "}"}) {
    for (std::size_t at = 0; (at = text.find(mark)) != std::string::npos;)
      text.erase(at, std::string(mark).size());
  }
  return text;
}

struct Shape {
  int layers, heads, seeds;
};
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.layers << "_" << shape.heads << "_" << shape.seeds;
}

// Every figure, with models of several sizes.
class EveryFigure : public testing::TestWithParam<Shape> {};

TEST_P(EveryFigure, HasAllTextsOnThePageAndNoneOnAnother) {
  FakeSources sources(GetParam().layers, GetParam().heads, GetParam().seeds);
  for (const FigureEntry& entry : all_figures()) {
    const Figure figure = entry.make(sources);
    for (const PlacedText& text : figure.canvas.cut_off())
      ADD_FAILURE() << entry.name << ": '" << text.text << "' is cut off";
    for (const auto& [one, other] : figure.canvas.overlaps())
      ADD_FAILURE() << entry.name << ": '" << one << "' lies on '" << other << "'";
    EXPECT_FALSE(figure.table.rows().empty()) << entry.name;
    EXPECT_FALSE(figure.caption.empty()) << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryFigure,
                         testing::Values(Shape{1, 1, 1}, Shape{2, 2, 5}, Shape{18, 8, 2}));

TEST(Figure, NamesAreDifferentAndUnknownOnesAreRefused) {
  std::set<std::string> names;
  for (const FigureEntry& entry : all_figures()) names.insert(entry.name);
  EXPECT_EQ(names.size(), all_figures().size());
  EXPECT_EQ(find_figure("betas").name, "betas");
  try {
    find_figure("beta");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'betas'?"));
  }
}

TEST(Figure, WhatIsFoundIsNotTrainedAndWhatIsMissingIs) {
  FakeSources sources(2, 2, 3);
  for (const char* name : {"overview", "hierarchy", "reveals", "extrapolation"})
    find_figure(name).make(sources);
  EXPECT_EQ(sources.trainings, 0);
  find_figure("spacing").make(sources);
  EXPECT_EQ(sources.trainings, 1);
}

TEST(Figure, TheHierarchysVerdictIsWhatItsRowsShow) {
  FakeSources sources(2, 2, 3);
  const Figure figure = find_figure("hierarchy").make(sources);
  std::set<std::string> broken, whole;
  for (const auto& row : figure.table.rows()) {
    if (std::get<std::string>(row[0]) != "probabilistic") continue;
    const auto& name = std::get<std::string>(row[1]);
    (std::get<std::string>(row[4]) == "holds" ? whole : broken).insert(name);
  }
  EXPECT_THAT(broken, testing::SizeIs(2));  // joint and marginal, without a gain
  EXPECT_THAT(whole, testing::SizeIs(2));   // with a gain from the input alone, and renormalised
  EXPECT_EQ(count_of(figure.canvas,
                     "on these cycles plain linear recurrences break; a gain from the input alone "
                     "and renormalisation do not"),
            1u);
}

TEST(Figure, TheHierarchySaysTheVerdictOnTrainedModelsOrThatThereIsNone) {
  const std::string trained = "trained linear against non-linear RNNs on such cycles: ";
  FakeSources judged(2, 2, 3), not_judged(2, 2, 1);
  EXPECT_EQ(count_of(find_figure("hierarchy").make(judged).canvas,
                     trained + "supported in U alone: absent once it is trained on, coverage"),
            1u);
  EXPECT_EQ(count_of(find_figure("hierarchy").make(not_judged).canvas, trained + "not measured"),
            1u);
}

TEST(Figure, TheOverviewShowsEverySeedAndTheLongestTrainedStream) {
  FakeSources sources(2, 2, 3);
  const Figure figure = find_figure("overview").make(sources);
  // Three architectures, three seeds, four lengths at the trained spacing.
  EXPECT_THAT(numbers_of(figure.table, 4, "accuracy"), testing::SizeIs(3 * 3 * 4));
  EXPECT_EQ(count_of(figure.canvas, "training traces"), 1u);
  EXPECT_EQ(count_of(figure.canvas, "DeltaNet's longest training stream"), 1u);
  EXPECT_THAT(figure.canvas.svg({}),
              testing::HasSubstr("<title>DeltaNet [-1,1], seed 2: 128, 0.962</title>"));
}

TEST(Figure, AModelOfSeveralSpacingsIsACurveByItself) {
  FakeSources sources(2, 2, 2);
  sources.add_of_all_spacings();
  const Figure figure = find_figure("spacing").make(sources);
  EXPECT_EQ(sources.trainings, 0);
  // Two seeds at the spacings 8 and 16, which it was trained with, not at 32.
  EXPECT_THAT(numbers_of(figure.table, 2, "Transformer"), testing::ElementsAre(8, 8, 16, 16));
  EXPECT_THAT(numbers_of(figure.table, 4, "Transformer"),
              testing::Pointwise(testing::DoubleNear(1e-12), {0.792, 0.782, 0.784, 0.774}));
  EXPECT_THAT(figure.caption, testing::HasSubstr("each trained with all of these spacings"));
}

TEST(Figure, MarginalDecayDrawsTheNumbersOfItsTable) {
  FakeSources sources(1, 1, 1);
  const Figure figure = marginal_decay_figure(sources);
  const std::vector<double> drawn = numbers_of(figure.table, 5, "matrix");
  ASSERT_EQ(drawn.size(), 6 * 9u);
  std::set<double> different(drawn.begin(), drawn.end());
  EXPECT_EQ(different, (std::set<double>{0, 0.125, 0.25, 0.5, 1}));  // the paper's
  for (const double number : {0.125, 0.25}) {
    EXPECT_EQ(count_of(figure.canvas, plain(cell_number(number))),
              static_cast<std::size_t>(std::ranges::count(drawn, number)))
        << number;
  }
  // docs/stability.md: the mix that halves the last subnormal away.
  EXPECT_THAT(figure.caption, testing::HasSubstr("fp32 299, bf16 267, fp16 49"));
}

TEST(Figure, JointInstabilityEndsWhereTheFiltersEnd) {
  FakeSources sources(1, 1, 1);
  const Figure figure = joint_instability_figure(sources);
  EXPECT_THAT(figure.caption,
              testing::HasSubstr("fp32 298, bf16 266, fp16 48, fp8-e5m2 32, fp8-e4m3 18"));
  const std::vector<double> vectors = numbers_of(figure.table, 5, "vector");
  ASSERT_EQ(vectors.size(), 2 * 5 * 3u);
  // h after two cycles, and b.
  EXPECT_THAT(std::vector(vectors.begin() + 12, vectors.begin() + 15),
              testing::ElementsAre(0, 0.125, 0.125));
  EXPECT_THAT(std::vector(vectors.begin() + 27, vectors.end()), testing::ElementsAre(0, 0.5, 0.5));
}

TEST(Figure, MarginalUpdatesAreTheProductsThatAreDrawn) {
  FakeSources sources(1, 1, 1);
  const Figure figure = marginal_updates_figure(sources);
  const std::vector<double> mixing = numbers_of(figure.table, 4, "mixing");
  const std::vector<double> reveal = numbers_of(figure.table, 4, "reveal");
  ASSERT_EQ(mixing.size(), 4 * 16u);
  ASSERT_EQ(reveal.size(), 5 * 16u);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      double mixed = 0, kept = reveal[64 + i * 4 + j];  // B
      for (std::size_t k = 0; k < 4; ++k) {
        mixed +=
            (0.7 * mixing[16 + i * 4 + k] + 0.3 * mixing[32 + i * 4 + k]) * mixing[48 + k * 4 + j];
        for (std::size_t l = 0; l < 4; ++l)
          kept += reveal[16 + i * 4 + k] * reveal[32 + k * 4 + l] * reveal[48 + l * 4 + j];
      }
      EXPECT_NEAR(mixing[i * 4 + j], mixed, 1e-12);
      EXPECT_NEAR(reveal[i * 4 + j], kept, 1e-12);
    }
  }
}

TEST(Figure, BeliefsOfTheThreeSourcesAreDistributions) {
  FakeSources sources(1, 1, 1);
  const Figure figure = uncertainty_figure(sources);
  for (const char* source : {"Unobserved branching", "Approximation", "Inverse inference"}) {
    const std::vector<double> numbers = numbers_of(figure.table, 5, source);
    ASSERT_EQ(numbers.size() % 9, 0u);
    for (std::size_t i = 0; i < numbers.size(); i += 3)
      EXPECT_NEAR(numbers[i] + numbers[i + 1] + numbers[i + 2], 1, 1e-12) << source;
  }
}

TEST(Figure, RepresentationsShowThePapersTrace) {
  FakeSources sources(1, 1, 1);
  const Figure figure = representations_figure(sources);
  std::string text;
  for (const auto& row : figure.table.rows()) text += std::get<std::string>(row[2]) + "\n";
  EXPECT_EQ(text,
            ">>> a = 1\n>>> b = 2\n>>> c = 3\n>>> print('a', a)\na 1\n>>> a, b = b, a\n"
            ">>> print('a', a)\na 2\n>>> b, c = c, b\n>>> print('c', c)\nc 1\n>>> a, c = c, a\n"
            ">>> print('a', a)\na 1\n");
}

TEST(Figure, CurvesOverSeedsAreMeansWithBands) {
  FakeSources sources(2, 2, 3);
  const Figure figure = reveals_figure(sources);
  // 8 reveals of (128,16), three seeds, three architectures.
  EXPECT_EQ(figure.table.rows().size(), 8 * 3 * 3u);
  const std::string svg = figure.canvas.svg({});
  // 0.99 - 0.016, and 0.01 and 0.02 less.
  EXPECT_THAT(svg, testing::HasSubstr("<title>DeltaNet [-1,1]: 1, 0.964</title>"));
}

}  // namespace
}  // namespace shellgame
