#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/errors.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace bench::steps {
namespace {

TEST(Blas, IsKnownByWhatTheLibrarySaysAndByItsName) {
  struct Case {
    bool mkl;
    std::string library;
    std::optional<int> openblas_parallel;
    std::string name;
    bool advice;
  };
  const Case cases[] = {
      {true, "", std::nullopt, "mkl", false},
      {false, "/usr/lib/openblas-openmp/libblas.so.3", 2, "openblas-openmp", false},
      {false, "/usr/lib/openblas-openmp/libblas.so.3", 1, "openblas-pthread", true},
      {false, "/opt/openblas/libopenblas.so.0", 0, "openblas-serial", true},
      {false, "/usr/lib/blas/libblas.so.3.11.0", std::nullopt, "reference", true},
      {false, "/usr/lib/blis-openmp/libblas.so.3", std::nullopt, "blis", false},
      {false, "/opt/nvidia/libnvpl_blas_lp64_gomp.so.0", std::nullopt, "nvpl", false},
      {false, "", std::nullopt, "unknown", false},
  };
  for (const Case& c : cases) {
    const Blas blas = classify_blas(c.mkl, c.library, c.openblas_parallel);
    EXPECT_EQ(blas.name, c.name);
    EXPECT_EQ(!blas.advice.empty(), c.advice) << c.name;
  }
}

TEST(Blas, TakesBetterKernelsWhereTheProcessorIsNotKnown) {
  struct Choice {
    std::string kernels;
    VectorUnits processor;
    std::string better;
  };
  const VectorUnits avx2{.avx2 = true};
  const VectorUnits avx512{.avx2 = true, .avx512 = true};
  const Choice choices[] = {
      {"Prescott", avx512, "SkylakeX"},
      {"Prescott", avx2, "Haswell"},
      {"Prescott", {}, ""},
      {"Sandybridge", avx2, "Haswell"},
      {"SkylakeX", avx512, ""},
      {"Zen", avx512, ""},  // somebody's choice
      {"LaterThanThisTest", avx512, ""},
      {"", avx512, ""},  // not OpenBLAS
  };
  for (const Choice& c : choices)
    EXPECT_EQ(better_kernels(c.kernels, c.processor), c.better) << c.kernels;
}

TEST(Environment, CountsOnlyTheCpusThatThisProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_cpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Device, AutoIsTheGpuWhereThereIsOne) {
  EXPECT_EQ(select_device("auto").is_cuda(), torch::cuda::is_available());
  EXPECT_TRUE(select_device("cpu").is_cpu());
  EXPECT_FALSE(device_name(torch::Device(torch::kCPU)).empty());
}

TEST(Device, RefusesNamesThatAreNone) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:999", "cuda:0x0", "CPU",
                           "cuda:99999999999999999999"})
    EXPECT_THROW(select_device(name), UsageError) << name;
}

TEST(Device, ReportsTheMemoryOfThisProcess) {
  const auto bytes = peak_memory_bytes(torch::Device(torch::kCPU));
  ASSERT_TRUE(bytes);
  EXPECT_GT(*bytes, 10 << 20);
}

TEST(Device, SharesTheMemoryOfTheHostAmongProcesses) {
  const torch::Device cpu(torch::kCPU);
  const std::int64_t all = device_memory_bytes(cpu);
  EXPECT_GT(all, 0);
  EXPECT_LE(all, std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE));
  EXPECT_LE(device_memory_bytes(cpu, 4), all / 4 + 1);
}

TEST(Precision, KnowsItsNamesAndItsDevices) {
  EXPECT_EQ(parse_precision("bf16"), Precision::bf16);
  EXPECT_EQ(parse_precision("tf32"), Precision::tf32);
  EXPECT_THROW(parse_precision("fp8"), UsageError);
  EXPECT_THROW(check_precision(Precision::tf32, torch::Device(torch::kCPU)), UsageError);
  EXPECT_THROW(check_precision(Precision::fp16, torch::Device(torch::kCPU)), UsageError);
  EXPECT_NO_THROW(check_precision(Precision::fp16, torch::Device(torch::kCUDA, 0)));
  EXPECT_EQ(loss_scale(Precision::fp16), 128.0);
  EXPECT_EQ(loss_scale(Precision::bf16), 1.0);
}

TEST(Precision, IsRoundedToTf32OnlyWhereThatIsWanted) {
  const at::Context& context = at::globalContext();
  allow_rounding_to_tf32(Precision::tf32);
  EXPECT_TRUE(context.allowTF32CuBLAS() && context.allowTF32CuDNN());
  for (const Precision other : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    allow_rounding_to_tf32(other);
    EXPECT_FALSE(context.allowTF32CuBLAS() || context.allowTF32CuDNN());
  }
}

TEST(Precision, HoldsInsideTheScopeOnly) {
  const torch::Device cpu(torch::kCPU);
  const torch::Tensor a = torch::randn({4, 4});
  {
    const Autocast autocast(cpu, Precision::bf16);
    EXPECT_EQ(torch::matmul(a, a).scalar_type(), torch::kBFloat16);
  }
  EXPECT_EQ(torch::matmul(a, a).scalar_type(), torch::kFloat);
  const Autocast autocast(cpu, Precision::fp32);
  EXPECT_EQ(torch::matmul(a, a).scalar_type(), torch::kFloat);
}

TEST(Program, TellsOutOfMemoryFromOtherErrors) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(OutOfMemory("too large", "make it smaller")));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("CUDA out of memory. Tried to allocate 2 GiB")));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("CUBLAS_STATUS_ALLOC_FAILED when calling")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("CUDA error: invalid device ordinal")));
  try {
    torch::empty({std::int64_t{1} << 50});
    FAIL() << "four petabytes were allocated";
  } catch (const std::exception& error) {
    EXPECT_TRUE(is_out_of_memory(error)) << error.what();
  }
}

TEST(Program, TurnsExceptionsIntoExitCodesAndMessages) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program("p", [] { return 0; }), exit_ok);
  EXPECT_EQ(run_program("p", []() -> int { throw UsageError("wrong", "do this"); }), exit_usage);
  EXPECT_EQ(run_program("p", []() -> int { throw std::bad_alloc(); }), exit_out_of_memory);
  EXPECT_EQ(run_program("p", []() -> int { throw std::runtime_error("odd\ntrace"); }), exit_failed);
  EXPECT_EQ(run_program("p", []() -> int { throw HintedError("bad", "mend it"); }), exit_failed);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "result=oom\nresult=failed\nresult=failed\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "p: error: wrong\nhint: do this\n"
            "p: error: std::bad_alloc\nhint: a smaller batch needs less memory (--batch-size; of a "
            "language model --micro-batch-size)\n"
            "p: error: odd\n"
            "p: error: bad\nhint: mend it\n");
}

TEST(Program, SaysWhatToDoWithoutADeterministicAlgorithm) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const std::string text = "pool_backward does not have a deterministic implementation, but";
  run_program("p", [&]() -> int { throw std::runtime_error(text); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "result=failed\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "p: error: " + text +
                "\nhint: this network needs the operation: leave away --deterministic\n");
}

using testing::ElementsAre;
using Values = std::vector<double>;
using Numbers = std::optional<Values>;

TEST(LaggedNumbers, AreKnownAtOnceOnTheCpu) {
  LaggedNumbers numbers(torch::Device{torch::kCPU});
  EXPECT_EQ(numbers.add(torch::tensor({3.0F, 1.0F})), Numbers(Values{3, 1}));
  EXPECT_EQ(numbers.take(), std::nullopt);
}

TEST(LaggedNumbers, AreKnownSoManyStepsLater) {
  LaggedNumbers numbers(2);
  std::vector<Numbers> known;
  for (const float value : {1.0F, 2.0F, 3.0F, 4.0F})
    known.push_back(numbers.add(torch::tensor({value})));
  EXPECT_THAT(known,
              ElementsAre(std::nullopt, std::nullopt, Numbers(Values{1}), Numbers(Values{2})));
}

TEST(LaggedNumbers, AreAllTakenAtTheEnd) {
  LaggedNumbers numbers(2);
  numbers.add(torch::tensor({1}));
  numbers.add(torch::tensor({2}));
  EXPECT_EQ(numbers.take(), Numbers(Values{1}));
  EXPECT_EQ(numbers.take(), Numbers(Values{2}));
  EXPECT_EQ(numbers.take(), std::nullopt);
}

}  // namespace
}  // namespace bench::steps
