// The exact allow-list of nvcc's flags, like flags.cc. pragma alone decides on the target, on how
// host code is compiled and on what is linked.
#include <span>
#include <string_view>

#include "build/flag_forms.h"

namespace pragma {
namespace {

constexpr std::string_view kCuda[] = {"-O0",
                                      "-O1",
                                      "-O2",
                                      "-O3",
                                      "-std=c++17",
                                      "-std=c++20",
                                      "-w",
                                      "-lineinfo",
                                      "-restrict",
                                      "--restrict",
                                      "-use_fast_math",
                                      "--use_fast_math",
                                      "-ftz=true",
                                      "-ftz=false",
                                      "-prec-div=true",
                                      "-prec-div=false",
                                      "-prec-sqrt=true",
                                      "-prec-sqrt=false",
                                      "-fmad=true",
                                      "-fmad=false",
                                      "-extra-device-vectorization",
                                      "--extra-device-vectorization",
                                      "-extended-lambda",
                                      "--extended-lambda",
                                      "-expt-relaxed-constexpr",
                                      "--expt-relaxed-constexpr",
                                      "-Xptxas=-O1",
                                      "-Xptxas=-O2",
                                      "-Xptxas=-O3",
                                      "-Xptxas=-dlcm=ca",
                                      "-Xptxas=-dlcm=cg",
                                      "-Xptxas=-allow-expensive-optimizations=true",
                                      "-Xptxas=-allow-expensive-optimizations=false",
                                      "-maxrregcount=32",
                                      "-maxrregcount=40",
                                      "-maxrregcount=48",
                                      "-maxrregcount=56",
                                      "-maxrregcount=64",
                                      "-maxrregcount=80",
                                      "-maxrregcount=96",
                                      "-maxrregcount=128",
                                      "-maxrregcount=168",
                                      "-maxrregcount=192",
                                      "-maxrregcount=255"};

}  // namespace

std::span<const std::string_view> CudaFlags() { return kCuda; }

}  // namespace pragma
