// ConvWriter: writes the code of one convolution from its plan. conv_kernel.cc has the parts
// outside the loops, conv_input.cc the copy of the input, and conv_bands.cc the loops over the
// output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_kernel.h"
#include "expert/cpp/conv_plan.h"
#include "expert/cpp/text_lines.h"

namespace pragma::expert {

inline constexpr const char* kAxisNames[] = {"z", "y", "x"};

// The taps of one output phase, as stored in the tables of the generated code.
struct PhaseTaps {
  std::vector<std::int64_t> index;   // index in the whole kernel
  std::vector<std::int64_t> offset;  // distance from a step to the element that the tap reads
};

class ConvWriter final {
 public:
  ConvWriter(const ConvSpec& spec, const KernelTarget& target)
      : spec_(spec), plan_(PlanConv(spec, target)) {}
  [[nodiscard]] KernelText Kernel();

 private:
  [[nodiscard]] std::size_t rank() const { return plan_.axes.size(); }
  [[nodiscard]] const char* axis_name(std::size_t i) const { return kAxisNames[3 - rank() + i]; }
  // Returns the first axis that is part of a run.
  [[nodiscard]] std::size_t first_flat() const {
    return rank() - static_cast<std::size_t>(plan_.flat);
  }
  [[nodiscard]] bool phased() const { return phases_.size() > 1; }
  [[nodiscard]] std::int64_t x_phases() const { return plan_.axes.back().out_stride; }
  // Returns whether all runs have the length that the plan states.
  [[nodiscard]] bool even_runs() const {
    return first_flat() > 0 || plan_.axes[0].steps % plan_.band == 0;
  }
  [[nodiscard]] bool banded() const { return plan_.band < plan_.axes[0].steps; }
  // Returns whether the bands are pieces of the only axis, and not whole rows.
  [[nodiscard]] bool in_pieces() const { return rank() == 1 && banded(); }
  // Returns the number of steps along the last axis that are computed together.
  [[nodiscard]] std::int64_t row_steps() const {
    return rank() == 1 ? plan_.band : plan_.axes.back().steps;
  }
  // Returns whether several rows pass through the buffer before they are written.
  [[nodiscard]] bool gathers() const { return plan_.rows_at_once > 1; }
  [[nodiscard]] std::string extra() const { return ExtraParameters(spec_.extra); }
  [[nodiscard]] std::string arguments() const { return ExtraArguments(spec_.extra); }
  [[nodiscard]] std::string out_parameters() const {
    return std::string(spec_.bias ? ", const float* bias" : "") + ", float* out" + extra();
  }
  [[nodiscard]] std::string out_arguments() const {
    return std::string(spec_.bias ? ", bias" : "") + ", out" + arguments();
  }

  void CollectPhases();
  void Head();
  void Tables();
  void Finish(bool whole);
  void PackWeights();
  void PrepareInput();
  [[nodiscard]] int OpenInput(std::size_t i);
  void SkipOutside();
  void PrepareRow();
  void PreparePiece();
  void Tile();
  void Tiles();
  [[nodiscard]] int OpenPhases();
  [[nodiscard]] int OpenRows(std::size_t i);
  void Rows();
  void RunOf();
  void WriteOut();
  void WritePiece();
  void OutputPlace(std::size_t i, const std::string& place);
  [[nodiscard]] std::int64_t OutputStep(std::size_t i) const;
  [[nodiscard]] bool joins_rows() const;
  [[nodiscard]] bool compacts() const;
  [[nodiscard]] std::int64_t line_length() const;
  void Band();
  void PackAll();    // loops over the panels
  void PackAhead();  // the function that packs them once for many calls
  void Driver();

  const ConvSpec& spec_;
  ConvPlan plan_;
  std::vector<PhaseTaps> phases_;
  TextLines out_;
  CppFacts facts_;
};

}  // namespace pragma::expert
