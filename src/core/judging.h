// JudgingOptions: how candidates are checked and timed. The table of its fields (JudgingFields)
// serves command-line flags, pragma.toml, request files, run records and evidence bundles, so a new
// option needs one member here, one row there, and the code that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/candidate.h"

namespace pragma {

enum class CheckMode : std::uint8_t { kStrict, kOfficial };
// What a timed call finds in the caches: its inputs, or none of its own data.
enum class CacheState : std::uint8_t { kWarm, kCold };
[[nodiscard]] std::string_view CheckModeName(CheckMode mode);     // "strict", "official"
[[nodiscard]] std::string_view CacheStateName(CacheState state);  // "warm", "cold"

struct JudgingOptions {
  CheckMode mode = CheckMode::kStrict;
  CacheState cache = CacheState::kWarm;
  int threads = 0;          // threads of kernel and torch; 0: all that the machine has
  Seconds run_limit{60};    // limit for one call of the kernel
  Seconds build_limit{60};  // processor time of the compiler, and of the linker
  Seconds task_limit{120};  // limit for importing, building and describing the task
  Seconds quiet_wait{0};    // limit for waiting until other programs leave the machine alone
  int interval_width = 5;   // per cent; on a busy machine, process pairs are added until the
                            // interval is narrower, or time is up
  bool strict_nan = false;  // a NaN that does not appear where Torch has it is a wrong value
  bool eval = false;        // judge the module after eval(); false: as its constructor leaves it
  std::string compile_mode = "default";  // of the torch.compile that is a baseline
  bool updates = true;  // what forward changes is a further output; false: in older bundles
  std::string shapes;   // JSON of further shapes (task/shapes.h); empty: the task as written
  Language language = Language::kCpp;  // of the candidates; --target names it
  std::vector<std::string> devices;  // Device::number of the GPUs to choose from; empty: the first
};

// The options that were given, by field name, as text: "cold", "4", "90s", "true", "0,1". Options
// that were not given are missing. Merge two layers with insert(): it keeps what is there.
using JudgingTexts = std::map<std::string, std::string, std::less<>>;

struct JudgingField {
  enum class Kind : std::uint8_t { kChoice, kCount, kDuration, kFlag, kJson, kNames };
  // The commands that have a flag for it.
  enum class Flag : std::uint8_t { kEveryJudge, kOneTask, kOneTarget };
  // When a run's record holds it (kIfGiven: unless it is at its default). The record also
  // identifies the cells of a benchmark.
  enum class Record : std::uint8_t { kNever, kIfGiven, kAlways };

  std::string_view name;  // in pragma.toml, request files and records; the flag has '-' for '_'
  Kind kind = Kind::kChoice;
  std::vector<std::string_view> choices;  // for kChoice; the first is the default
  Flag flag = Flag::kEveryJudge;
  std::string_view type_name;  // for --help
  std::string_view help;
  bool in_settings = false;  // pragma.toml may set it
  Record record = Record::kNever;
  bool in_bundle = false;  // a bundle of evidence holds it
  // Sets the field from a valid text, and returns it as text.
  void (*set)(JudgingOptions& options, const std::string& text) = nullptr;
  std::string (*text)(const JudgingOptions& options) = nullptr;

  // Returns what is wrong with a text ("must be true or false"), or an empty string if it is a
  // value of this field.
  [[nodiscard]] std::string Complaint(const std::string& value) const;
};

[[nodiscard]] std::span<const JudgingField> JudgingFields();

// Returns the options that the texts name, and the defaults for all others. Texts that are unknown
// or not valid are ignored: check them where they are read.
[[nodiscard]] JudgingOptions JudgingFrom(const JudgingTexts& texts);
// Returns all fields that are not at their default, and all choices but those that a record holds
// only if they are given.
[[nodiscard]] JudgingTexts TextsOf(const JudgingOptions& options);
// Returns what a run's record holds (JudgingField::record).
[[nodiscard]] JudgingTexts RecordOf(const JudgingOptions& options);

}  // namespace pragma
