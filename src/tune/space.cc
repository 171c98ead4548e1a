#include "tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "build/builder.h"
#include "build/lexer.h"
#include "build/tunables.h"
#include "core/candidate.h"
#include "tune/constraint.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kConstraintMark = "pragma-constraint:";
constexpr const char* kFlagsMark = "pragma-tune-flags:";
constexpr std::size_t kMostConstraints = 32;
constexpr std::size_t kMostAlternatives = 32;

Words FlagWords(std::string_view text) {
  Words words;
  for (const std::string& word : Split(text, ' ')) {
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  }
  return words;
}

// A value that is set by a flag could not be recorded as the tuner's choice.
std::string FlagsComplaint(const Words& flags) {
  std::string complaint = FlagComplaint(flags);
  for (const std::string& flag : flags) {
    if (complaint.empty() && flag.starts_with("-DPRAGMA_TUNE_"))
      complaint = "the compile flag \"" + flag + "\" sets a tunable; leave it out";
  }
  return complaint;
}

Result<void> ReadFlags(const LexedSource& source, TuneSpace& space) {
  for (const MarkedComment& comment : CommentsWith(source, kFlagsMark)) {
    for (const std::string& part : Split(comment.text, '|')) {
      Words flags = FlagWords(part);
      const std::string complaint = FlagsComplaint(flags);
      if (!complaint.empty()) return Fail(fmt::format("line {}: {}", comment.line, complaint));
      if (std::ranges::find(space.flags, flags) != space.flags.end()) continue;
      space.flags.push_back(std::move(flags));
      if (space.flags.size() > kMostAlternatives) {
        return Fail(fmt::format("line {}: more than {} alternatives of flags", comment.line,
                                kMostAlternatives));
      }
    }
  }
  return {};
}

Words Names(const TuneSpace& space) {
  Words names;
  for (const Tunable& tunable : space.tunables) names.push_back(tunable.name);
  return names;
}

std::vector<double> Defaults(const TuneSpace& space) {
  std::vector<double> values;
  for (const Tunable& tunable : space.tunables)
    values.push_back(static_cast<double>(tunable.values.front()));
  return values;
}

Result<void> ReadConstraints(const LexedSource& source, TuneSpace& space) {
  const Words names = Names(space);
  for (const MarkedComment& comment : CommentsWith(source, kConstraintMark)) {
    const std::string where = fmt::format("line {}: the constraint \"{}\"", comment.line,
                                          ToValidUtf8(Shorten(comment.text, 200)));
    if (space.constraints.size() == kMostConstraints)
      return Fail(where + fmt::format(" is one too many; at most {}", kMostConstraints));
    Result<Constraint> constraint = Constraint::Parse(comment.text, names);
    if (!constraint) {
      return Fail(fmt::format("{} cannot be read: {}. It may use {}", where,
                              ToValidUtf8(Shorten(constraint.error().message, 200)),
                              names.empty() ? "tunables, and there are none" : Join(names, ", ")));
    }
    if (!constraint->Holds(Defaults(space)))
      return Fail(where + " does not hold for the default values; change one or the other");
    space.constraints.push_back(std::move(*constraint));
  }
  return {};
}

std::size_t Combinations(const TuneSpace& space) {
  std::size_t all = space.flags.size();
  for (const Tunable& tunable : space.tunables) {
    all *= tunable.values.size();
    if (all > kMostCombinations) break;  // also prevents an overflow
  }
  return all;
}

// Returns the combination with this number, in which each tunable's value is a digit.
Variant VariantAt(const TuneSpace& space, std::size_t number) {
  Variant variant{.tunables = {}, .flags = space.flags[number % space.flags.size()]};
  number /= space.flags.size();
  for (const Tunable& tunable : space.tunables) {
    variant.tunables[tunable.name] = tunable.values[number % tunable.values.size()];
    number /= tunable.values.size();
  }
  return variant;
}

bool Allowed(const TuneSpace& space, const Variant& variant) {
  std::vector<double> values;
  for (const Tunable& tunable : space.tunables)
    values.push_back(static_cast<double>(variant.tunables.at(tunable.name)));
  return std::ranges::all_of(space.constraints, [&values](const Constraint& constraint) {
    return constraint.Holds(values);
  });
}

bool EndsWith(const Words& all, const Words& end) {
  return end.size() <= all.size() && std::equal(end.rbegin(), end.rend(), all.rbegin());
}

}  // namespace

bool TuneSpace::open() const { return Combinations(*this) > 1; }

Result<TuneSpace> ReadTuneSpace(const Candidate& candidate) {
  const LexedSource source = LexSource(candidate.source());
  TuneSpace space;
  space.tunables = TRY(ReadTunables(source));
  TRY(ReadFlags(source, space));
  TRY(ReadConstraints(source, space));
  if (space.open()) {
    if (const std::string complaint = FlagsComplaint(candidate.flags); !complaint.empty())
      return Fail(complaint);
  }
  if (Combinations(space) > kMostCombinations) {
    return Fail(
        fmt::format("line {}: the tunables have more than {} combinations; leave out values "
                    "that can hardly win",
                    space.tunables.empty() ? 1 : space.tunables.back().line, kMostCombinations));
  }
  return space;
}

bool HasChoices(const Candidate& candidate, const TuneSpace& space) {
  return !candidate.tunables.empty() ||
         std::ranges::any_of(space.flags, [&candidate](const Words& flags) {
           return !flags.empty() && EndsWith(candidate.flags, flags);
         });
}

std::string Variant::Text() const {
  Words parts;
  for (const auto& [name, value] : tunables) parts.push_back(fmt::format("{}={}", name, value));
  if (!flags.empty()) parts.push_back("flags " + Join(flags, " "));
  return Join(parts, ", ");
}

VariantList SampleVariants(const TuneSpace& space, std::size_t most, Rng& rng) {
  std::vector<std::size_t> numbers;
  for (std::size_t number = 1; number < Combinations(space); ++number) {
    if (space.constraints.empty() || Allowed(space, VariantAt(space, number)))
      numbers.push_back(number);
  }
  VariantList list{.variants = {VariantAt(space, 0)}, .combinations = numbers.size() + 1};
  for (std::size_t left = numbers.size(); left > 0 && list.variants.size() < most; --left) {
    std::swap(numbers[rng.Below(left)], numbers[left - 1]);
    list.variants.push_back(VariantAt(space, numbers[left - 1]));
  }
  return list;
}

Candidate WithVariant(const Candidate& candidate, const Variant& variant) {
  Candidate chosen = candidate;
  chosen.tunables = variant.tunables;
  chosen.flags.insert(chosen.flags.end(), variant.flags.begin(), variant.flags.end());
  return chosen;
}

}  // namespace pragma
