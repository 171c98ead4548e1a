// Referee: the part of the pragma_torch server that holds everything a candidate is judged on, in
// the device's memory (docs/gpu.md). This is the secret input sets, their fp64 references (the
// truth), the areas that measured processes compute in, and the passes over their outputs. It
// returns figures. verify/ decides what they mean.
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

// OutputFigures: the comparison of one output with its truth.
struct OutputFigures {
  ErrorPass pass;
  // Texts such as "got 1.5, expected 2" at pass.worst, at pass.first_mismatch and at
  // pass.first_odd.
  std::string worst;
  std::string first;
  std::string odd;
};

// TruthFigures: the comparison of PyTorch's own result of an input set with the fp64 truth.
struct TruthFigures {
  struct Output {
    OutputFigures torch;
    bool finite = true;            // true: the truth and PyTorch's own result are finite everywhere
    bool finite_somewhere = true;  // true: the truth is finite somewhere
    double peak_over_rms = 1;      // peak of the truth over its rms
    bool exact = false;            // integers that fp32 holds exactly, and PyTorch computes each of
                                   // them exactly
  };
  std::string refused;  // reason why the reference gives no result for the set; empty: it gives one
  std::vector<Output> outputs;
};

// SlotFigures: what one measured process left in one slot.
struct SlotFigures {
  std::string outside;    // an output outside of which something was written
  std::string written;    // an argument that was written
  bool as_kept = false;   // true: the outputs have the same bits as the outputs that were kept
  bool official = false;  // verdict of KernelBench's rule; only where PyTorch's own result is
                          // available
  std::vector<OutputFigures> outputs;
};

// ConditionedFigures: SlotFigures that also take the conditioning of each element into account
// (values/conditioning.h states the rule).
struct ConditionedFigures {
  struct Small {
    std::size_t wrong = 0;  // number of elements
    std::size_t first = 0;
    std::string values;
  };
  SlotFigures slot;
  std::vector<Small> small;  // by output
};

// AreaLayout: offsets of the tensors in the two parts of an area, by set and then by tensor.
struct AreaLayout {
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;  // 0: the area has no outputs
  std::vector<std::vector<std::size_t>> arguments;
  std::vector<std::vector<std::size_t>> outputs;
};

class Referee final {
 public:
  // `server` must outlive the referee. A server supports one referee at a time.
  explicit Referee(TorchServer& server) : server_(&server) {}

  // Forgets all sets and areas. Slots are numbered 0 to sets - 1, drawn sets 0 to draws - 1.
  [[nodiscard]] Result<void> Open(std::size_t sets, std::size_t draws);
  // Runs get_inputs() and a fresh Model under `seed`. Writes the input set into the slot, with its
  // truth and PyTorch's own result.
  [[nodiscard]] Result<TruthFigures> Draw(std::uint64_t seed, std::size_t draw, std::size_t slot);
  // Writes the drawn set into the slot again.
  [[nodiscard]] Result<TruthFigures> Restore(std::size_t draw, std::size_t slot);
  // Rewrites the drawn set with the battery's values.
  [[nodiscard]] Result<TruthFigures> Apply(const BatteryRequest& battery, std::size_t draw,
                                           std::size_t slot);
  // Writes fresh values for timed calls, with PyTorch's own result (fp64 where an output is an
  // integer).
  [[nodiscard]] Result<void> Renew(std::span<const std::uint32_t> slots, std::uint64_t seed);
  // Rounding: how the inputs of a set are rounded, and how much of the resulting movement of the
  // truth an element's error may be.
  struct Rounding {
    double size = 0;  // relative error of each floating argument
    std::uint64_t seed = 0;
    int rounds = 1;     // number of changed copies
    double factor = 1;  // factor of the largest movement
    int further = 0;    // number of further changed copies
    double further_factor = 1;
    bool adds_up = true;  // true: elements are sums of several terms
    bool ties = false;    // true: an integer may be any that it is for a changed copy
    bool flush = false;   // true: one more copy with zeros for denormals; its movement counts once
  };
  // Compares the outputs in an area with the fp64 truth. The part of each element's error that its
  // conditioning explains is subtracted. Afterwards the slot's expected values are the fp64 truth.
  [[nodiscard]] Result<ConditionedFigures> CompareConditioned(std::size_t area, std::size_t slot,
                                                              const Rounding& rounding);

  // Returns Torch's own error on each changed copy of a set.
  [[nodiscard]] Result<std::vector<TruthFigures>> JudgeNearby(std::size_t slot,
                                                              const Rounding& rounding);

  enum class AreaKind : std::uint8_t {
    kModule,  // read-only arguments, and outputs
    kTorch,   // arguments, which forward may write
    kTriton,  // like kModule; one set begins at a multiple of 16 bytes, but of no higher power of
              // two
  };
  // SharedArea: the area of one side. All processes of a side share one area, one after the other.
  struct SharedArea {
    UniqueFd end;       // end of a socket through which a measured process gets the memory itself
    AreaLayout layout;  // the same layout that the socket reports
  };
  [[nodiscard]] Result<SharedArea> Share(std::size_t area, AreaKind kind);
  [[nodiscard]] Result<void> Drop(std::size_t area);
  // Copies the slots' arguments into the area and fills its outputs with poison. Returns when the
  // device has finished.
  enum class Outputs : std::uint8_t { kFilled, kLeft };
  [[nodiscard]] Result<void> Put(std::size_t area, std::span<const std::uint32_t> slots,
                                 std::uint64_t seed, Outputs outputs = Outputs::kFilled);
  [[nodiscard]] Result<std::vector<SlotFigures>> Compare(std::size_t area,
                                                         std::span<const std::uint32_t> slots);
  // Remembers the slot's outputs for SlotFigures::as_kept.
  [[nodiscard]] Result<void> Keep(std::size_t area, std::size_t slot);

 private:
  TorchServer* server_;
};

}  // namespace pragma
