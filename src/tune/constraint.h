// Constraint: a condition on tunables, as in a candidate's "// pragma-constraint:" line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

// The operators are + - * / % ^ < <= > >= == != && || ?:, and the functions min, max, abs and so
// on.
class Constraint final {
 public:
  // `names` are the tunables that the condition may use. The error says what cannot be parsed.
  [[nodiscard]] static Result<Constraint> Parse(const std::string& text,
                                                const std::vector<std::string>& names);
  Constraint(Constraint&&) noexcept;
  Constraint& operator=(Constraint&&) noexcept;
  ~Constraint();

  // Evaluates the condition. `values` are in the order of `names`. A condition that cannot be
  // evaluated (x % 0) does not hold.
  [[nodiscard]] bool Holds(const std::vector<double>& values) const;

 private:
  struct Impl;
  explicit Constraint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
