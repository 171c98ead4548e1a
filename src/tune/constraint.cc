#include "tune/constraint.h"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

constexpr std::size_t kLongest = 500;

// muParser would treat "TILE = 4" as an assignment, which changes a value and holds.
bool Assigns(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    const bool compares = i + 1 < text.size() && text[i + 1] == '=';
    const bool ends = i > 0 && std::string_view("<>!").find(text[i - 1]) != std::string_view::npos;
    if (!compares && !ends) return true;
    if (compares) ++i;
  }
  return false;
}

double Remainder(double a, double b) { return std::fmod(a, b); }

std::string Complaint(std::string_view text) {
  if (Trim(text).empty()) return "it is empty";
  if (text.size() > kLongest) return "it has more than 500 letters";
  if (Assigns(text)) return "= does not compare; use ==";
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"'; };
  return std::ranges::all_of(text, plain) ? "" : "it holds a letter that no expression has";
}

}  // namespace

struct Constraint::Impl {
  std::vector<double> values;  // the parser reads from these addresses, so it is never moved
  mu::Parser parser;
};

Constraint::Constraint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Constraint::Constraint(Constraint&&) noexcept = default;
Constraint& Constraint::operator=(Constraint&&) noexcept = default;
Constraint::~Constraint() = default;

Result<Constraint> Constraint::Parse(const std::string& text,
                                     const std::vector<std::string>& names) {
  if (const std::string complaint = Complaint(text); !complaint.empty()) return Fail(complaint);
  auto impl = std::make_unique<Impl>();
  impl->values.assign(names.size(), 1.0);
  try {
    impl->parser.DefineOprt("%", Remainder, mu::prMUL_DIV);
    for (std::size_t i = 0; i < names.size(); ++i)
      impl->parser.DefineVar(names[i], &impl->values[i]);
    impl->parser.SetExpr(text);
    static_cast<void>(impl->parser.Eval());
    // "A < 3, B < 4" is two expressions, and only the last one would count.
    if (impl->parser.GetNumResults() != 1)
      return Fail("it is several expressions; join them by &&");
  } catch (const mu::Parser::exception_type& error) {
    return Fail(error.GetMsg());
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
  return Constraint(std::move(impl));
}

bool Constraint::Holds(const std::vector<double>& values) const {
  std::ranges::copy(values, impl_->values.begin());
  try {
    const double result = impl_->parser.Eval();
    return std::isfinite(result) && result != 0;
  } catch (const std::exception&) {
    return false;
  } catch (const mu::Parser::exception_type&) {
    return false;
  }
}

}  // namespace pragma
