// What the iterations of a loop read from before it, and where that is in each iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/lower/loop_values.h"
#include "expert/lower/lower_node.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/unrolled.h"

namespace pragma::expert {

// The error of a loop that has to stay unrolled.
[[nodiscard]] std::unexpected<Error> NoLoop();

class LoopInputs final {
 public:
  LoopInputs(const UnrolledLoop& loop, const std::vector<GraphNode>& graph, ProgramBuilder& builder,
             ValuesByName& values)
      : loop_(loop), graph_(graph), builder_(builder), values_(values) {}

  // Computes before the loop what does not change in it, and adds the values of the first iteration
  // of what advances. Fails where a value does not advance by the same distance each time.
  [[nodiscard]] Result<void> Lower();

  // Returns whether a node of the body needs no computing in the loop.
  [[nodiscard]] bool IsReady(std::size_t node) const;
  // By how many elements each buffer advances with each iteration.
  [[nodiscard]] const std::map<int, std::int64_t>& step() const { return step_; }

 private:
  Result<void> LowerInvariant();
  void Keep(const std::string& name);
  void AddStill(const std::string& name);
  bool Claim(int buffer, std::int64_t distance);
  Result<void> AddInput(const LoopInput& input);
  Result<void> AddAdvancing(std::size_t node);
  Result<std::vector<Value>> ValuesAt(std::size_t node, const std::vector<std::int64_t>& turns);
  Result<std::optional<std::int64_t>> DistanceOf(std::size_t node);
  [[nodiscard]] std::set<std::string> SelectedOnce() const;
  Result<bool> AddComputed(std::size_t node);
  bool ClaimAll(const std::map<int, std::int64_t>& distances);
  [[nodiscard]] std::optional<std::size_t> SelectedInput(const GraphNode& node) const;
  Result<void> AddProjection(std::size_t node, std::size_t input);

  const UnrolledLoop& loop_;
  const std::vector<GraphNode>& graph_;
  ProgramBuilder& builder_;
  ValuesByName& values_;
  std::set<std::string> invariant_;
  std::set<std::string> projected_;
  std::set<std::string> selected_once_;  // see SelectedOnce
  std::set<int> still_;                  // buffers that the body reads without advancing
  std::map<int, std::int64_t> step_;
  std::vector<StoredPart> stored_;
};

}  // namespace pragma::expert
