#include "shellgame/tensors/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tensors/sentence_of.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

TEST(Safetensors, AFileOfThePackageIsWrittenAgainByteForByte) {
  const ScratchFolder scratch;
  for (const char* model : {"delta_net", "mamba2"}) {
    const std::string path =
        std::string(SHELLGAME_TEST_DATA "/models/") + model + "/model.safetensors";
    const SafetensorsFile file(path);
    EXPECT_GT(file.tensors().size(), 10u);
    EXPECT_EQ(file.metadata(), kPyTorchMetadata);
    std::vector<TensorSource> sources;
    for (const StoredTensor& tensor : file.tensors())
      sources.push_back({tensor.name, tensor.dtype, tensor.shape, file.view(tensor).data(), {}});
    std::ranges::reverse(sources);  // the writer has an order of its own
    write_safetensors(scratch / "again", sources, file.metadata());
    EXPECT_EQ(read_file(scratch / "again"), read_file(path));
  }
}

// What safetensors 0.8.0 wrote for these tensors of PyTorch: zeros, of every type that it has in
// common with us, one of each.
TEST(Safetensors, TypesStandInThePackagesOrder) {
  const std::string package_header =
      R"({"t08":{"dtype":"U64","shape":[0],"data_offsets":[0,0]},"t07":{"dtype":"I64","shape":[0],"data_offsets":[0,0]},)"
      R"("t11":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},"t15":{"dtype":"C64","shape":[0],"data_offsets":[0,0]},)"
      R"("t10":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"t06":{"dtype":"U32","shape":[0],"data_offsets":[0,0]},)"
      R"("t05":{"dtype":"I32","shape":[0],"data_offsets":[0,0]},"t12":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]},)"
      R"("t09":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},"t04":{"dtype":"U16","shape":[0],"data_offsets":[0,0]},)"
      R"("t03":{"dtype":"I16","shape":[0],"data_offsets":[0,0]},"t13":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]},)"
      R"("t14":{"dtype":"F8_E5M2","shape":[0],"data_offsets":[0,0]},"t02":{"dtype":"I8","shape":[0],"data_offsets":[0,0]},)"
      R"("t01":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"t00":{"dtype":"BOOL","shape":[0],"data_offsets":[0,0]}})";
  std::vector<TensorSource> sources;
  for (const StoredTensor& tensor : parse_safetensors_header(package_header, 0, "recorded").tensors)
    sources.push_back({tensor.name, tensor.dtype, tensor.shape, nullptr, {}});
  ASSERT_EQ(sources.size(), 16u);
  std::ranges::sort(sources, {}, &TensorSource::name);
  const ScratchFolder scratch;
  write_safetensors(scratch / "x", sources, {});
  EXPECT_THAT(read_file(scratch / "x"), HasSubstr(package_header));
}

TEST(Safetensors, AScalarAndOddNamesAreWrittenAsThePackageDoes) {
  const float one = 1;
  const ScratchFolder scratch;
  const std::vector<TensorSource> sources = {{"x", Dtype::kF32, {}, &one, {}}};
  write_safetensors(scratch / "x", sources, {{"c", "\xc3\xa9\x7f\x01/\n\""}});
  using namespace std::string_literals;
  EXPECT_EQ(read_file(scratch / "x"),
            "\x60\0\0\0\0\0\0\0"s
            "{\"__metadata__\":{\"c\":\"\xc3\xa9\x7f\\u0001/\\n\\\"\"},"
            "\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}     \0\0\x80?"s);
}

// A text of up to eight characters of one to four bytes, control characters among them.
rc::Gen<std::string> any_name() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "a", "Z", ".", "_", "/", "\"", "\\", "\n", std::string(1, '\0'), "\x7f",
                          "\xc3\xa9", "\xe2\x82\xac", "\xef\xbf\xbf", "\xf0\x9f\x90\x9a")),
                      [](const std::vector<std::string>& parts) {
                        std::string name;
                        for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 8); ++i)
                          name += parts[i];
                        return name;
                      });
}

TEST(Safetensors, WhatWasWrittenIsReadBack) {
  const ScratchFolder scratch;
  const auto holds = rc::check([&] {
    const auto names = *rc::gen::container<std::set<std::string>>(any_name());
    const Metadata metadata = *rc::gen::container<Metadata>(any_name(), any_name());
    std::vector<TensorSource> sources;
    std::vector<std::string> numbers;
    numbers.reserve(names.size());
    for (const std::string& name : names) {
      const auto axes = *rc::gen::inRange<std::size_t>(0, 4);
      Shape shape;
      for (std::size_t i = 0; i < axes; ++i) shape.push_back(*rc::gen::inRange(0, 4));
      const auto dtype = static_cast<Dtype>(*rc::gen::inRange(0, 16));
      std::string bytes(*element_count(shape) * dtype_size(dtype), '\0');
      for (char& c : bytes) c = *rc::gen::arbitrary<char>();
      numbers.push_back(bytes);
      sources.push_back({name, dtype, shape, numbers.back().data(), {}});
    }
    write_safetensors(scratch / "x", sources, metadata);
    const SafetensorsFile file(scratch / "x");
    RC_ASSERT(file.metadata() == metadata);
    RC_ASSERT(file.tensors().size() == sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const StoredTensor& tensor = file.at(sources[i].name);
      RC_ASSERT(tensor.dtype == sources[i].dtype);
      RC_ASSERT(tensor.shape == sources[i].shape);
      std::string read(tensor.bytes(), '?');
      file.read(tensor, tensor.dtype, read.data());
      RC_ASSERT(read == numbers[i]);
      const auto view = file.view(tensor);
      RC_ASSERT(std::string(reinterpret_cast<const char*>(view.data()), view.size()) == numbers[i]);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(Safetensors, NumbersAreConvertedOnWritingAndOnReading) {
  std::vector<float> values(200'001);  // more than one piece
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(std::sin(static_cast<float>(i)), static_cast<int>(i % 20) - 10);
  const ScratchFolder scratch;
  for (const Dtype stored : {Dtype::kF64, Dtype::kF32, Dtype::kBf16, Dtype::kF16}) {
    const std::vector<TensorSource> sources = {
        {"x", Dtype::kF32, {200'001}, values.data(), stored}};
    write_safetensors(scratch / "x", sources);
    const SafetensorsFile file(scratch / "x");
    EXPECT_EQ(file.at("x").dtype, stored);
    EXPECT_EQ(file.at("x").bytes(), values.size() * dtype_size(stored));
    const std::vector<float> back = file.floats("x");
    std::vector<double> wide(values.size());
    file.read(file.at("x"), Dtype::kF64, wide.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      float expected = values[i];
      if (stored == Dtype::kBf16) expected = float_from_bf16(bf16_from_float(expected));
      if (stored == Dtype::kF16) expected = float_from_f16(f16_from_float(expected));
      ASSERT_EQ(back[i], expected) << i;
      ASSERT_EQ(wide[i], static_cast<double>(expected)) << i;
    }
  }
}

TEST(Safetensors, ViewsAreTypedAndChecked) {
  const std::vector<float> values = {1, 2, 3};
  const ScratchFolder scratch;
  const std::vector<TensorSource> sources = {{"x", Dtype::kF32, {3}, values.data(), {}}};
  write_safetensors(scratch / "x", sources);
  const SafetensorsFile file(scratch / "x");
  const auto view = file.view_as<float>(file.at("x"));
  EXPECT_EQ(std::vector<float>(view.begin(), view.end()), values);
  EXPECT_EQ(sentence_of(scratch.path(), [&] { file.view_as<double>(file.at("x")); }),
            "x: tensor 'x' must hold F64, not F32");
  EXPECT_EQ(sentence_of(scratch.path(), [&] { file.at("y"); }),
            "x: the file must hold the tensor 'y'");
  EXPECT_EQ(file.find("y"), nullptr);
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header +
         std::string(data_bytes, '\1');
}

// An old package did not pad its headers: the numbers then stand anywhere.
TEST(Safetensors, NumbersThatAreNotAlignedAreReadButNotViewed) {
  const ScratchFolder scratch;
  const std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_NE(header.size() % 4, 0u);
  write_file(scratch / "x", file_of(header, 8));
  const SafetensorsFile file(scratch / "x");
  EXPECT_EQ(file.floats("x"), (std::vector<float>(2, std::bit_cast<float>(0x01010101u))));
  EXPECT_EQ(sentence_of(scratch.path(), [&] { file.view_as<float>(file.at("x")); }),
            "x: tensor 'x' must stand at a multiple of 4 bytes to be viewed");
}

TEST(Safetensors, AFileThatIsCutWhileOpenGivesAnError) {
  const std::vector<float> values(10'000, 1.5f);
  const ScratchFolder scratch;
  for (const Dtype stored : {Dtype::kF32, Dtype::kBf16}) {
    const std::vector<TensorSource> sources = {{"x", Dtype::kF32, {10'000}, values.data(), stored}};
    write_safetensors(scratch / "x", sources);
    const SafetensorsFile file(scratch / "x");
    std::filesystem::resize_file(scratch / "x", 5'000);
    EXPECT_THAT(sentence_of(scratch.path(), [&] { file.floats("x"); }),
                HasSubstr("as it did when it was opened, but it ends at byte 5000"));
  }
}

TEST(Safetensors, ManyThreadsReadOneFile) {
  const SafetensorsFile file(SHELLGAME_TEST_DATA "/models/delta_net/model.safetensors");
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (double& sum : sums) {
    threads.emplace_back([&] {
      for (const StoredTensor& tensor : file.tensors()) {
        for (const float x : file.view_as<float>(tensor)) sum += std::abs(x);
        for (const float x : file.floats(tensor.name)) sum += std::abs(x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(sums[0], 100);
  for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
}

TEST(Safetensors, EveryBeginningOfAFileIsRefused) {
  const ScratchFolder scratch;
  const std::string whole = file_of(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  write_file(scratch / "x", whole);
  EXPECT_EQ(SafetensorsFile(scratch / "x").tensors().size(), 1u);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(scratch / "x", whole.substr(0, length));
    EXPECT_THROW(SafetensorsFile{scratch / "x"}, InputError) << length;
  }
  write_file(scratch / "x", whole + "\1");
  EXPECT_EQ(sentence_of(scratch.path(), [&] { SafetensorsFile{scratch / "x"}; }),
            "x: the tensors must fill the data, but they end at byte 8 of its 9 bytes");
}

TEST(Safetensors, WrongHeadersAreRefusedWithASentence) {
  const auto sentence = [](const std::string& header, std::uint64_t data_bytes = 8) {
    return sentence_of("", [&] { parse_safetensors_header(header, data_bytes, "f"); });
  };
  const auto tensor = [&](const std::string& dtype, const std::string& shape,
                          const std::string& offsets, std::uint64_t data_bytes = 8) {
    return sentence(R"({"x":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
                        offsets + "}}",
                    data_bytes);
  };
  const std::string form =
      "f: tensor 'x' must be an object of a dtype (text), a shape and data_offsets (lists of whole "
      "numbers from 0 on) and nothing else";
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[0,8]"), "no error");
  EXPECT_EQ(tensor("\"F32\"", "[2,1]", "[0,8]"), "no error");
  EXPECT_EQ(tensor("\"F4\"", "[2]", "[0,8]"),
            "f: tensor 'x' has the dtype 'F4', which is not known here");
  EXPECT_EQ(tensor("32", "[2]", "[0,8]"), form + ", but see 'dtype'");
  EXPECT_EQ(tensor("\"F32\"", "[-2]", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "[2.0]", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "[[2]]", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "{\"[]\":2}", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "2", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "[99999999999999999999]", "[0,8]"), form + ", but see 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "[18446744073709551615]", "[0,8]"),
            "f: tensor 'x' must have axes below 2^63, not 18446744073709551615");
  EXPECT_EQ(tensor("\"F32\"", "[4294967296,4294967296]", "[0,8]"),
            "f: tensor 'x' must be smaller than 2^63 bytes, but has the shape [4294967296, "
            "4294967296]");
  EXPECT_EQ(tensor("\"F32\"", "[4611686018427387904]", "[0,0]", 0),
            "f: tensor 'x' must be smaller than 2^63 bytes, but has the shape "
            "[4611686018427387904]");
  EXPECT_EQ(tensor("\"F32\"", "[0,9223372036854775807,9223372036854775807]", "[0,0]", 0),
            "f: tensor 'x' must be smaller than 2^63 bytes, but has the shape [0, "
            "9223372036854775807, 9223372036854775807]");
  std::string axes = "[1";
  for (int i = 0; i < 64; ++i) axes += ",1";
  EXPECT_EQ(tensor("\"F64\"", axes + "]", "[0,8]"), "f: tensor 'x' must have at most 64 axes");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[8,0]"),
            "f: tensor 'x' must have data_offsets that rise, not 8 and then 0");
  EXPECT_EQ(tensor("\"F32\"", "[1]", "[4,8]"),
            "f: tensor 'x' must begin at byte 0 of the data, where the one before it ends, not at "
            "byte 4");
  EXPECT_EQ(tensor("\"F32\"", "[3]", "[0,8]"),
            "f: tensor 'x' of the shape [3] and the dtype F32 must have 12 bytes, not 8");
  EXPECT_EQ(tensor("\"F32\"", "[3]", "[0,12]"),
            "f: tensor 'x' must end within the 8 bytes of the data, not at byte 12");
  EXPECT_EQ(tensor("\"F32\"", "[1]", "[0,4]"),
            "f: the tensors must fill the data, but they end at byte 4 of its 8 bytes");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[0,8,8]"),
            "f: tensor 'x' must have two data_offsets, not more");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[0]"),
            "f: tensor 'x' must have two data_offsets, its begin and its end");
  EXPECT_EQ(tensor("\"F32\",\"dtype\":\"F32\"", "[2]", "[0,8]"),
            "f: the header must name each key once, but has 'dtype' twice");
  EXPECT_EQ(tensor("\"F32\",\"strides\":[1]", "[2]", "[0,8]"), form + ", but see 'strides'");
  EXPECT_EQ(sentence(R"({"x":{"shape":[2],"data_offsets":[0,8]}})"),
            "f: tensor 'x' must have a dtype");
  EXPECT_EQ(sentence(R"({"x":{"dtype":"F32","data_offsets":[0,8]}})"),
            "f: tensor 'x' must have a shape");
  EXPECT_EQ(sentence(R"({"x":[]})"), form);
  EXPECT_EQ(sentence(R"({"x":null})"), form);
  const std::string y = R"("dtype":"F32","shape":[1],"data_offsets":)";
  EXPECT_EQ(sentence("{\"x\":{" + y + "[0,4]},\"y\":{" + y + "[4,8]}}"), "no error");
  EXPECT_EQ(sentence("{\"x\":{" + y + "[4,8]},\"y\":{" + y + "[0,4]}}"), "no error");
  EXPECT_EQ(sentence("{\"x\":{" + y + "[0,4]},\"x\":{" + y + "[4,8]}}"),
            "f: the header must name each key once, but has 'x' twice");
  EXPECT_EQ(sentence("{\"x\":{" + y + "[0,4]},\"\\u0078\":{" + y + "[4,8]}}"),
            "f: the header must name each key once, but has 'x' twice");
  EXPECT_EQ(sentence("{\"x\":{" + y + "[0,4]},\"y\":{" + y + "[0,4]}}"),
            "f: tensor 'y' must begin at byte 4 of the data, where the one before it ends, not at "
            "byte 0");
  EXPECT_EQ(sentence(R"({"__metadata__":{"a":1}})", 0),
            "f: '__metadata__' must be an object of texts");
  EXPECT_EQ(sentence(R"({"__metadata__":"a"})", 0), "f: '__metadata__' must be an object of texts");
  EXPECT_EQ(sentence(R"({"__metadata__":{"a":{"b":"c"}}})", 0),
            "f: '__metadata__' must be an object of texts");
  EXPECT_EQ(sentence("{}   ", 0), "no error");
  EXPECT_EQ(sentence(" {}", 0), "f: the header must begin with '{'");
  EXPECT_EQ(sentence("[]", 0), "f: the header must begin with '{'");
  EXPECT_EQ(sentence("", 0), "f: the header must begin with '{'");
  EXPECT_EQ(sentence(std::string("{}\0", 3), 0),
            "f: the header must be valid JSON in UTF-8, but is not from byte 2 on");
  EXPECT_EQ(sentence("{\"\xff\":{}}", 0),
            "f: the header must be valid JSON in UTF-8, but is not from byte 2 on");
  EXPECT_EQ(sentence(R"({"\ud800":{}})", 0).substr(0, 47),
            "f: the header must be valid JSON in UTF-8, but ");
  EXPECT_EQ(sentence("{\"" + std::string(200, 'n') + "\":7}", 0).substr(0, 120),
            "f: tensor '" + std::string(100, 'n') + "...' must");
}

TEST(Safetensors, DeepNestingIsRefusedAtOnce) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(sentence_of("", [&] { parse_safetensors_header("{\"x\":" + deep, 0, "f"); }),
              HasSubstr("tensor 'x' must be an object"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"x\":";
  EXPECT_THAT(sentence_of("", [&] { parse_safetensors_header(objects, 0, "f"); }),
              HasSubstr("tensor 'x' must be an object"));
}

TEST(Safetensors, LengthsOfHeadersAreChecked) {
  const auto sentence = [](std::uint64_t length, std::uint64_t size) {
    const std::string first(reinterpret_cast<const char*>(&length), 8);
    return sentence_of("", [&] { safetensors_header_length(first, size, "f"); });
  };
  EXPECT_EQ(sentence(2, 10), "no error");
  EXPECT_EQ(sentence(3, 10),
            "f: the header must end within the file, but it has 3 bytes and the file 10");
  EXPECT_EQ(sentence(100'000'000, 200'000'000), "no error");
  EXPECT_EQ(sentence(100'000'001, 200'000'000),
            "f: the header must have at most 100000000 bytes, not 100000001");
  EXPECT_EQ(sentence(UINT64_MAX, 200'000'000),
            "f: the header must have at most 100000000 bytes, not 18446744073709551615");
}

TEST(Safetensors, OnlyRegularFilesAreOpened) {
  const ScratchFolder scratch;
  EXPECT_EQ(sentence_of(scratch.path(), [&] { SafetensorsFile{scratch / "none"}; }),
            "cannot read 'none': No such file or directory");
  std::filesystem::create_directory(scratch / "folder");
  EXPECT_EQ(sentence_of(scratch.path(), [&] { SafetensorsFile{scratch / "folder"}; }),
            "cannot read 'folder': it must be a regular file");
  ASSERT_EQ(std::system(("mkfifo " + scratch / "pipe").c_str()), 0);
  EXPECT_EQ(sentence_of(scratch.path(), [&] { SafetensorsFile{scratch / "pipe"}; }),
            "cannot read 'pipe': it must be a regular file");
}

TEST(Safetensors, WrongSourcesAreRefusedAndLeaveNoFile) {
  const ScratchFolder scratch;
  const float x = 0;
  const auto sentence = [&](std::vector<TensorSource> sources) {
    return sentence_of(scratch.path(), [&] { write_safetensors(scratch / "x", sources); });
  };
  EXPECT_EQ(sentence({{"a", Dtype::kF32, {}, &x, {}}, {"a", Dtype::kF32, {}, &x, {}}}),
            "each tensor must have a name of its own, but 'a' is there twice");
  EXPECT_EQ(sentence({{"__metadata__", Dtype::kF32, {}, &x, {}}}),
            "no tensor may have the name '__metadata__'");
  EXPECT_EQ(sentence({{"a\xff", Dtype::kF32, {}, &x, {}}}),
            "names and metadata of tensors must be UTF-8, but 'a\xef\xbf\xbd' is not");
  EXPECT_EQ(sentence({{"a", Dtype::kF32, {-1}, &x, {}}}),
            "tensor 'a' must have at most 64 axes and 2^60 elements, not the shape [-1]");
  EXPECT_EQ(sentence({{"a", Dtype::kF32, {1}, nullptr, {}}}), "tensor 'a' must have numbers");
  EXPECT_EQ(sentence({{"a", Dtype::kI64, {}, &x, Dtype::kF32}}),
            "tensor 'a' cannot be stored as F32: it holds I64");
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace shellgame
