#include "profile/rule_vocabulary.h"

#include <string>
#include <vector>

namespace pragma {

const std::vector<std::string>& CpuBottlenecks() {
  static const std::vector<std::string> kClasses{
      "not_vectorised", "dependency_chain",  "port_pressure",
      "div_sqrt",       "libm_calls",        "l1_bound",
      "l1_splits",      "aliasing_4k",       "l2_l3_bound",
      "dram_bandwidth", "dram_latency",      "tlb",
      "store_bound",    "false_sharing",     "atomics_contention",
      "imbalance",      "not_parallel",      "over_parallel",
      "page_faults",    "branch_mispredict", "front_end",
      "spills",         "type_conversion",   "shuffles",
      "gather",         "strided_access",    "at_bound"};
  return kClasses;
}

const std::vector<std::string>& GpuBottlenecks() {
  static const std::vector<std::string> kClasses{"compute_pipe",
                                                 "memory_throughput",
                                                 "latency_bound",
                                                 "grid_too_small",
                                                 "low_occupancy_registers",
                                                 "low_occupancy_shared",
                                                 "tail_effect",
                                                 "uncoalesced",
                                                 "bank_conflicts",
                                                 "memory_stalls",
                                                 "barrier_stalls",
                                                 "divergence",
                                                 "not_fused_fp",
                                                 "tensor_cores_unused",
                                                 "spills",
                                                 "atomics_contention",
                                                 "l2_misses",
                                                 "launch_overhead",
                                                 "unfused_kernels",
                                                 "at_bound"};
  return kClasses;
}

const std::vector<std::string>& EvidenceFormats() {
  static const std::vector<std::string> kFormats{"number", "percent", "count", "ms", "us", "bytes"};
  return kFormats;
}

}  // namespace pragma
