// Several shapes of one task (--shapes FILE): the task's text with other module-level numbers, and
// the sizes that differ between the shapes. A kernel gets these sizes as `const task::Dims& dims`.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/task.h"

namespace pragma {

struct ShapeSet {
  std::map<std::string, std::int64_t> numbers;  // values of module-level names of the task's file
  bool held_out = false;  // true: checked and timed like the others, but its numbers are not shown
                          // to authors
  [[nodiscard]] std::string label() const;  // "batch=8, n=64"
};

// Parses a JSON array of objects: [{"n": 64, "batch": 8}, {"n": 1, "held_out": true}]. Anything
// else is a kUsage error, in one line that begins with `name`.
[[nodiscard]] Result<std::vector<ShapeSet>> ParseShapes(std::string_view text,
                                                        const std::string& name);

// Returns the task's source with each number replaced in the top-level line that assigns it.
[[nodiscard]] Result<std::string> WithShape(const std::string& source, const ShapeSet& shape);

// Returns the sizes that vary, in the same order for each task. Fails with kTask when the tasks
// differ in more than sizes, or do not differ. `labels` names the tasks in messages.
[[nodiscard]] Result<std::vector<std::vector<VaryingSize>>> FindVaryingSizes(
    std::span<const Task* const> tasks, std::span<const std::string> labels);

}  // namespace pragma
