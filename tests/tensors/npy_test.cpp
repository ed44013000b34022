#include "shellgame/tensors/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <limits>

#include "tests/groups/run_oracle.h"
#include "tests/system/scratch.h"
#include "tests/tensors/sentence_of.h"

namespace shellgame {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

TEST(Npy, AFileOfNumPyIsWrittenAgainByteForByte) {
  const ScratchFolder scratch;
  for (const std::string model : {"delta_net", "mamba2"}) {
    const std::string path = SHELLGAME_TEST_DATA "/models/" + model + "/logits.npy";
    const NpyFile file(path);
    ASSERT_EQ(file.dtype(), Dtype::kF32);
    ASSERT_EQ(file.shape().size(), 3u);
    const std::vector<float> values = file.floats();
    const std::string again = scratch / (model + ".npy");
    NpyWriter writer(again, Dtype::kF32, file.shape());
    const auto row = static_cast<std::size_t>(file.shape()[2]);
    for (std::size_t i = 0; i < values.size(); i += row)
      writer.append(std::span(values).subspan(i, row));
    EXPECT_FALSE(std::filesystem::exists(again));
    writer.commit();
    EXPECT_EQ(read_file(again), read_file(path));
  }
}

// Headers that numpy.save of NumPy 2.4.6 wrote.
TEST(Npy, HeadersAreThoseOfNumPy) {
  EXPECT_EQ(npy_header(Dtype::kF64, {}),
            "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (), }"s +
                std::string(62, ' ') + "\n");
  EXPECT_EQ(npy_header(Dtype::kI64, Shape{7}),
            "\x93NUMPY\1\0v\0{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }"s +
                std::string(60, ' ') + "\n");
  for (const Shape& shape : {Shape{}, Shape{1, 2, 3}, Shape{123456789, 987654321}, Shape{0}})
    EXPECT_EQ(npy_header(Dtype::kF32, shape).size() % 64, 0u);
}

// NumPy reads what the writer wrote, and would have written the same bytes.
TEST(Npy, NumPyReadsWhatIsWrittenAndWritesTheSame) {
  const ScratchFolder scratch;
  std::string request;
  int files = 0;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kI64, Dtype::kF16}) {
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{0}, Shape{5}, Shape{2, 3}, Shape{3, 0, 2}, Shape{1000},
          Shape{2, 3, 4, 5}, Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}}) {
      const std::string path = scratch / (std::to_string(files++) + ".npy");
      const std::size_t count = *element_count(shape);
      NpyWriter writer(path, dtype, shape);
      if (dtype == Dtype::kI64) {
        std::vector<std::int64_t> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i) - 3;
        writer.append(std::span<const std::int64_t>(values));
      } else {
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) - 3;
        writer.append(std::span<const double>(values));
      }
      writer.commit();
      request += path + "\n";
    }
  }
  EXPECT_EQ(run_oracle("tensors/npy_oracle.py", request), std::to_string(files) + " equal\n");
}

TEST(Npy, WhatWasWrittenIsReadBack) {
  const ScratchFolder scratch;
  const auto holds = rc::check([&] {
    Shape shape;
    const auto axes = *rc::gen::inRange<std::size_t>(0, 5);
    for (std::size_t i = 0; i < axes; ++i) shape.push_back(*rc::gen::inRange(0, 4));
    const auto dtype = *rc::gen::element(Dtype::kF32, Dtype::kF64, Dtype::kI64);
    std::string bytes(*element_count(shape) * dtype_size(dtype), '\0');
    for (char& c : bytes) c = *rc::gen::arbitrary<char>();
    NpyWriter writer(scratch / "x.npy", dtype, shape);
    writer.append(dtype, bytes.data(), bytes.size() / dtype_size(dtype));
    writer.commit();
    const NpyFile file(scratch / "x.npy");
    RC_ASSERT(file.dtype() == dtype);
    RC_ASSERT(file.shape() == shape);
    std::string back(bytes.size(), '?');
    file.read(0, file.elements(), back.data());
    RC_ASSERT(back == bytes);
  });
  EXPECT_TRUE(holds);
}

TEST(Npy, AnArrayMustBeComplete) {
  const ScratchFolder scratch;
  const std::vector<float> row = {1, 2, 3};
  NpyWriter writer(scratch / "x.npy", Dtype::kF32, {2, 3});
  writer.append(std::span<const float>(row));
  EXPECT_EQ(sentence_of("", [&] { writer.commit(); }),
            "an array of the shape [2, 3] must be complete, but 3 numbers are missing");
  writer.append(std::span<const float>(row));
  EXPECT_EQ(sentence_of("", [&] { writer.append(std::span<const float>(row)); }),
            "an array of the shape [2, 3] has room for 0 numbers more, not for 3");
  writer.commit();
  EXPECT_EQ(NpyFile(scratch / "x.npy").floats(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(sentence_of("", [&] { NpyWriter(scratch / "y.npy", Dtype::kBf16, {1}); }),
            "NumPy has no type for BF16");
  EXPECT_FALSE(std::filesystem::exists(scratch / "y.npy"));
}

std::string sentence_for(const std::string& text, std::uint64_t data_bytes) {
  const auto length = static_cast<std::uint16_t>(text.size());
  const std::string file = "\x93NUMPY\1\0"s +
                           std::string(reinterpret_cast<const char*>(&length), 2) + text +
                           std::string(data_bytes, '\0');
  return sentence_of("", [&] { parse_npy_header(file, file.size(), "f"); });
}

TEST(Npy, WrongHeadersAreRefusedWithASentence) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return sentence_for(text, 24);
  };
  EXPECT_EQ(sentence_for(good, 24), "no error");
  EXPECT_EQ(changed("(2, 3), }", "(2,3)}  "), "no error");
  EXPECT_EQ(changed("'descr'", "\"descr\""), "no error");
  EXPECT_EQ(changed("(2, 3)", "(6,)"), "no error");
  EXPECT_EQ(changed("<f4", ">f4"),
            "f: the header must name a little-endian number type such as '<f4', not '>f4'");
  EXPECT_EQ(changed("<f4", "O"),
            "f: the header must name a little-endian number type such as '<f4', not 'O'");
  EXPECT_EQ(changed("False", "True"),
            "f: the header must have the array in C order, not in Fortran's");
  EXPECT_EQ(changed("False", "0"), "f: the header must have True or False as fortran_order");
  EXPECT_EQ(changed("(2, 3)", "(6)"),
            "f: the header must have a shape that is a tuple, such as (3,)");
  EXPECT_EQ(changed("(2, 3)", "(-2, 3)"),
            "f: the header must have a shape of whole numbers from 0 on");
  EXPECT_EQ(changed("(2, 3)", "[2, 3]"),
            "f: the header must be a dictionary as numpy.save writes it, with '(' before '[2, 3], "
            "}?'");
  EXPECT_EQ(changed("(2, 3)", "(9999999999999999999, 3)"),
            "f: the header must have axes below 10^18");
  EXPECT_THAT(changed("(2, 3)", "(999999999999999999, 999999999999999999)"),
              HasSubstr("must fill the 24 bytes after the header"));
  EXPECT_EQ(changed("(2, 3)", "(2, 4)"),
            "f: an array of the shape [2, 4] and the type F32 must fill the 24 bytes after the "
            "header");
  EXPECT_EQ(changed("'shape'", "'shapes'"),
            "f: the header must have the keys descr, fortran_order and shape, each once, not "
            "'shapes'");
  EXPECT_EQ(changed("'shape': (2, 3)", "'descr': '<f4'"),
            "f: the header must have the keys descr, fortran_order and shape, each once, not "
            "'descr'");
  EXPECT_EQ(changed("'shape': (2, 3), ", ""),
            "f: the header must have descr, fortran_order and shape");
  EXPECT_EQ(changed("}", "} x"), "f: the header must end after the dictionary");
  EXPECT_EQ(changed("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "'descr"),
            "f: the header must have an end for each text");
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += "1, ";
  EXPECT_EQ(changed("(2, 3)", "(" + axes + ")"), "f: the header must have at most 64 axes");
  EXPECT_THAT(sentence_for("", 0), HasSubstr("must be a dictionary"));
}

TEST(Npy, EveryBeginningOfAFileIsRefused) {
  const std::string whole = npy_header(Dtype::kF32, Shape{2}) + std::string(8, '\0');
  EXPECT_EQ(parse_npy_header(whole, whole.size(), "f").shape, (Shape{2}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse_npy_header(whole.substr(0, length), length, "f"), InputError) << length;
  std::string version = whole;
  version[6] = 4;
  EXPECT_EQ(sentence_of("", [&] { parse_npy_header(version, version.size(), "f"); }),
            "f: the version of a .npy file must be 1.0, 2.0 or 3.0, not 4.0");
  version[6] = 2;  // its length has four bytes, the last two of them "{'"
  EXPECT_THAT(sentence_of("", [&] { parse_npy_header(version, version.size(), "f"); }),
              HasSubstr("the header must end within the file"));
}

TEST(Npy, LaterVersionsAreRead) {
  const std::string text = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n";
  for (const char version : {'\2', '\3'}) {
    const std::string file = "\x93NUMPY"s + version + "\0"s + static_cast<char>(text.size()) +
                             "\0\0\0"s + text + std::string(8, '\0');
    const NpyHeader header = parse_npy_header(file, file.size(), "f");
    EXPECT_EQ(header.dtype, Dtype::kI64);
    EXPECT_EQ(header.data_begin, 12 + text.size());
  }
}

}  // namespace
}  // namespace shellgame
