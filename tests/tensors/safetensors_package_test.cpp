// The safetensors package itself reads what is written here. It is not in Debian: the test runs
// where SHELLGAME_SAFETENSORS_PYTHON names a Python that has safetensors and torch.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "shellgame/system/files.h"
#include "shellgame/tensors/tensor_directory.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

TEST(Safetensors, ThePackageReadsWhatIsWrittenAndWritesTheSame) {
  const char* python = std::getenv("SHELLGAME_SAFETENSORS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "SHELLGAME_SAFETENSORS_PYTHON is not set";
  const ScratchFolder scratch;
  std::vector<double> values(24);
  std::vector<std::int64_t> integers(24);
  for (int i = 0; i < 24; ++i)
    values[static_cast<std::size_t>(i)] =
        static_cast<double>(integers[static_cast<std::size_t>(i)] = i - 3);
  std::vector<TensorSource> sources;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0}, Shape{5}, Shape{2, 3, 4}}) {
    for (const Dtype dtype : {Dtype::kF64, Dtype::kF32, Dtype::kBf16, Dtype::kF16}) {
      sources.push_back({fmt::format("\xc3\xa9 \"{}\" {}", dtype_name(dtype), shape_text(shape)),
                         Dtype::kF64, shape, values.data(), dtype});
    }
    sources.push_back(
        {"I64 " + shape_text(shape), Dtype::kI64, shape, integers.data(), std::nullopt});
  }
  write_safetensors(scratch / "one.safetensors", sources);
  write_safetensors(scratch / "none.safetensors", {});
  write_tensor_directory(scratch / "several", sources, 100);
  EXPECT_GT(TensorDirectory::open(scratch / "several").files().size(), 3u);

  const std::string command = std::string(python) +
                              " '" SHELLGAME_SOURCE_DIR "/tests/tensors/safetensors_package.py' '" +
                              scratch.path() + "' > '" + scratch.path() + "/said' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_file(scratch / "said"), "25 tensors, 25 in several files\n");
}

}  // namespace
}  // namespace shellgame
