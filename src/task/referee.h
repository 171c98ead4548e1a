// Referee: the part of the pragma_torch server that holds everything a candidate is judged
// on, in the device's memory (docs/gpu.md): secret input sets, their truth, the areas that measured
// processes compute in, and the passes over their outputs. What it returns are figures; what they
// mean is decided by verify/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "core/error_pass.h"
#include "task/torch_server.h"

namespace pragma {

// One output held against its truth.
struct OutputFigures {
  ErrorPass pass;
  // "got 1.5, expected 2" at pass.worst, at pass.first_mismatch and at pass.first_odd
  std::string worst;
  std::string first;
  std::string odd;
};

// Torch's own result of a set held against the fp64 truth.
struct TruthFigures {
  struct Output {
    OutputFigures torch;
    bool finite = true;            // the truth and Torch's own result
    bool finite_somewhere = true;  // the truth
    double peak_over_rms = 1;      // of the truth
    bool exact = false;            // integers that fp32 holds exactly, and Torch gets each of them
  };
  std::string refused;  // why the reference gives no result for it; empty: it does
  std::vector<Output> outputs;
};

// What one measured process left in one slot.
struct SlotFigures {
  std::string outside;    // an output round which something was written
  std::string written;    // an argument that was written
  bool as_kept = false;   // the same bits as the outputs that were kept
  bool official = false;  // KernelBench's rule; only where Torch's own result is there
  std::vector<OutputFigures> outputs;
};

// The same with the conditioning of each element (verify/conditioning.h says the rule).
struct ConditionedFigures {
  struct Small {
    std::size_t wrong = 0;  // elements
    std::size_t first = 0;
    std::string values;
  };
  SlotFigures slot;
  std::vector<Small> small;  // by output
};

// Where in its two parts the tensors of an area lie: offsets by set, then by tensor.
struct AreaLayout {
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;  // 0: an area without outputs
  std::vector<std::vector<std::size_t>> arguments;
  std::vector<std::vector<std::size_t>> outputs;
};

class Referee final {
 public:
  // `server` outlives the referee, and knows one at a time.
  explicit Referee(TorchServer& server) : server_(&server) {}

  // Forgets all sets and areas. Slots are numbered 0 to sets - 1, drawn sets 0 to draws - 1.
  [[nodiscard]] Result<void> Open(std::size_t sets, std::size_t draws);
  // get_inputs() and a fresh Model under `seed`; into the slot, with truth and Torch's own result.
  [[nodiscard]] Result<TruthFigures> Draw(std::uint64_t seed, std::size_t draw, std::size_t slot);
  // The drawn set once more.
  [[nodiscard]] Result<TruthFigures> Restore(std::size_t draw, std::size_t slot);
  // Rewrites the drawn set.
  [[nodiscard]] Result<TruthFigures> Apply(const BatteryRequest& battery, std::size_t draw,
                                           std::size_t slot);
  // Fresh values for timed calls, with Torch's own result (fp64 where an output is an integer).
  [[nodiscard]] Result<void> Renew(std::span<const std::uint32_t> slots, std::uint64_t seed);
  // What rounding does to the inputs of a set, and how much of what the truth then moves an element
  // may be off.
  struct Rounding {
    double size = 0;  // relative error of each floating argument
    std::uint64_t seed = 0;
    int rounds = 1;     // changed copies
    double factor = 1;  // of the largest movement
    int further = 0;    // more changed copies
    double further_factor = 1;
    bool adds_up = true;  // elements are sums of several terms
    bool flush = false;   // one more copy, with zeros for denormals; its movement counts once
  };
  // The outputs in an area held against the fp64 truth, each element's error less what its
  // conditioning explains. The slot's expected values are the fp64 truth afterwards.
  [[nodiscard]] Result<ConditionedFigures> CompareConditioned(std::size_t area, std::size_t slot,
                                                              const Rounding& rounding);

  enum class AreaKind : std::uint8_t {
    kModule,  // arguments that can only be read, and outputs
    kTorch,   // arguments, which forward may write
    kTriton,  // as kModule; one set begins at a multiple of 16 bytes, and of no more
  };
  // The area of one side. All processes of a side share one area, one after the other.
  struct SharedArea {
    UniqueFd end;       // of a socket through which a measured process gets the memory itself
    AreaLayout layout;  // as the socket says it as well
  };
  [[nodiscard]] Result<SharedArea> Share(std::size_t area, AreaKind kind);
  [[nodiscard]] Result<void> Drop(std::size_t area);
  // Copies the slots' arguments into the area and poisons its outputs; returns when the device is
  // done.
  enum class Outputs : std::uint8_t { kFilled, kLeft };
  [[nodiscard]] Result<void> Put(std::size_t area, std::span<const std::uint32_t> slots,
                                 std::uint64_t seed, Outputs outputs = Outputs::kFilled);
  [[nodiscard]] Result<std::vector<SlotFigures>> Compare(std::size_t area,
                                                         std::span<const std::uint32_t> slots);
  // Remembers the slot's outputs for as_kept.
  [[nodiscard]] Result<void> Keep(std::size_t area, std::size_t slot);

 private:
  TorchServer* server_;
};

}  // namespace pragma
