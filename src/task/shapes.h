// Several shapes of one task (--shapes FILE): its text with other module-level numbers, and what
// differs between the shapes, which a kernel then gets as `const task::Dims& dims`.
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
  std::map<std::string, std::int64_t> numbers;  // module-level names of the task's file
  bool held_out = false;  // checked and timed like the others; authors are not shown its numbers
  [[nodiscard]] std::string label() const;  // "batch=8, n=64"
};

// A JSON array of objects: [{"n": 64, "batch": 8}, {"n": 1, "held_out": true}]. kUsage in one line
// that begins with `name` for anything else.
[[nodiscard]] Result<std::vector<ShapeSet>> ParseShapes(std::string_view text,
                                                        const std::string& name);

// The task's source with each number assigned anew where a line at the top level assigns it.
[[nodiscard]] Result<std::string> WithShape(const std::string& source, const ShapeSet& shape);

// What varies, in the same order for each task. kTask when they differ in more than sizes, or in
// nothing. `labels`: of the tasks, for messages.
[[nodiscard]] Result<std::vector<std::vector<VaryingSize>>> FindVaryingSizes(
    std::span<const Task* const> tasks, std::span<const std::string> labels);

}  // namespace pragma
