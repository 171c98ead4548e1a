// Constraint: a condition on tunables, as a candidate's "// pragma-constraint:" line has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

// Operators are + - * / % ^ < <= > >= == != && || ?:, functions min, max, abs and the like.
class Constraint final {
 public:
  // `names`: the tunables that it may use. The error says what cannot be read.
  [[nodiscard]] static Result<Constraint> Parse(const std::string& text,
                                                const std::vector<std::string>& names);
  Constraint(Constraint&&) noexcept;
  Constraint& operator=(Constraint&&) noexcept;
  ~Constraint();

  // Of the values in the order of `names`. What cannot be evaluated (x % 0) does not hold.
  [[nodiscard]] bool Holds(const std::vector<double>& values) const;

 private:
  struct Impl;
  explicit Constraint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
