// KernelBody: writes the code of a kernel's nests in order, and of the functions that they call.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/anchored.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/nest_pattern.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/slices.h"

namespace pragma::expert {

// Returns the declaration of a buffer at this distance in bytes from `memory`, a char*.
[[nodiscard]] std::string BufferAt(const Buffer& buffer, std::string_view memory,
                                   std::size_t offset);

class KernelBody final {
 public:
  // `buffers_bytes` is the size of the buffers in the scratch memory. The scratch memory of anchors
  // is located behind them.
  KernelBody(Program program, const KernelTarget& target, const NestChoices& choices,
             std::size_t buffers_bytes, Writer& out)
      : program_(std::move(program)),
        target_(target),
        choices_(choices),
        anchors_at_(fmt::format("static_cast<char*>(scratch) + {}", buffers_bytes)),
        scratch_(anchors_at_),
        out_(out) {}

  void Write(const std::vector<Nest>& nests, const std::vector<Slices>& sliced);

  [[nodiscard]] const std::string& functions() const { return functions_; }
  // Returns the largest scratch size that an anchor needs, as a C++ expression. It is empty where
  // there are no anchors.
  [[nodiscard]] const std::string& anchor_scratch() const { return anchor_scratch_; }
  // Returns what the functions need, and then what the body needs.
  [[nodiscard]] Needs needs() const {
    Needs all = function_needs_;
    all.Add(body_needs_);
    return all;
  }

 private:
  // The target and the choices with which one nest is written.
  [[nodiscard]] KernelTarget TargetOf(const Nest& nest) const;
  [[nodiscard]] NestChoices ChoicesOf(const Nest& nest) const;
  // Opens slices whose threads take images of their own.
  void OpenThreadSlices(const Slices& slices, const std::vector<Nest>& nests);
  // Packs the weights of all anchors and gives each thread scratch memory for them.
  void PackWeights(const Slices& slices, const std::vector<Nest>& nests,
                   const std::vector<NestPattern>& patterns);
  void OpenSlices(const Slices& slices, const std::vector<Nest>& nests);
  void OpenLoop(std::string_view index, std::int64_t count, std::int64_t step);
  // Declares where each buffer in `steps` begins for the present value of a loop's index, and lets
  // the nests call it by that name. Those in `kept` begin at the same place each time.
  void NameParts(std::string_view index, const std::map<int, std::int64_t>& steps,
                 const std::set<int>& kept, std::span<const Nest> nests);
  void CloseSlices();
  // Writes the work that is done once for all iterations of a repeat.
  void WriteBefore(const Slices& slices, const std::vector<Nest>& nests,
                   const std::vector<NestPattern>& patterns);
  [[nodiscard]] AnchorText AnchorOf(const Nest& nest, const NestPattern& pattern);
  // Fills in where the scratch memory is, and where the packed weight of nest number `n`.
  [[nodiscard]] std::string WithScratch(const std::string& call, std::size_t n) const;
  // Makes room for an anchor's scratch memory of so many bytes, a C++ expression.
  void NeedScratch(const std::string& bytes);
  void WriteNest(const Nest& nest, const NestPattern& pattern);
  [[nodiscard]] std::string AddFunction(const RebasedNest& rebased, const NestPattern& pattern);
  [[nodiscard]] std::string Call(const std::string& function, const RebasedNest& rebased,
                                 const NestPattern& pattern) const;

  Program program_;  // while slices are open, buffers carry the names of their parts
  const KernelTarget& target_;
  NestChoices choices_;
  std::string anchors_at_;  // where the scratch memory of anchors begins
  std::string scratch_;     // the same for the nest that is written now
  Writer& out_;
  Needs body_needs_;
  std::string functions_;
  Needs function_needs_;
  std::string anchor_scratch_;
  int anchors_ = 0;
  std::map<int, std::string> whole_names_;  // full names of buffers that slices have renamed
  int open_ = 0;                            // loops around slices
  std::set<std::string> tunables_;
  std::map<std::string, int> times_;               // number of uses of each pattern, keyed by its
                                                   // text
  std::map<std::string, std::string> written_as_;  // name of the function for each pattern, keyed
                                                   // by its text
};

}  // namespace pragma::expert
