#include "shellgame/system/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <string>

#include "shellgame/system/threads.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

TEST(Cores, AreThoseOfTheAffinity) {
  EXPECT_GE(usable_cores(), 1);
  const pid_t child = fork_child([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) return 99;
    return count_cores();
  });
  EXPECT_EQ(WEXITSTATUS(wait_for(child)), 1);
}

TEST(Cores, OfAControlGroupAreRoundedUp) {
  EXPECT_EQ(cores_of_quota("max 100000"), 0);
  EXPECT_EQ(cores_of_quota("100000 100000"), 1);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("1000 100000"), 1);
  EXPECT_EQ(cores_of_quota("9223372036854775807 1"), 1 << 20);
  for (const char* nothing : {"", "max", "100000", "100000 ", "x 100000", "-1 100000", "100000 0"})
    EXPECT_EQ(cores_of_quota(nothing), 0) << nothing;
}

TEST(Cores, BoundWhatTheEnvironmentAsksFor) {
  const pid_t child = fork_child([] {
    ::setenv("OMP_NUM_THREADS", "1000000", 1);
    ::setenv("OPENBLAS_NUM_THREADS", "99999999999999999999", 1);
    ::setenv("MKL_NUM_THREADS", "1", 1);
    if (default_thread_count() > usable_cores()) return 1;
    bound_thread_variables();
    if (::getenv("OMP_NUM_THREADS") != std::to_string(usable_cores())) return 2;
    if (::getenv("OPENBLAS_NUM_THREADS") != std::to_string(usable_cores())) return 3;
    if (::getenv("MKL_NUM_THREADS") != std::string("1")) return 4;
    ::setenv("OMP_NUM_THREADS", "1", 1);
    return default_thread_count() == 1 ? 0 : 5;
  });
  EXPECT_EQ(wait_for(child), 0);
}

}  // namespace
}  // namespace shellgame
