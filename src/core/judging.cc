#include "core/judging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/duration.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using Kind = JudgingField::Kind;
using Flag = JudgingField::Flag;
using Record = JudgingField::Record;

constexpr int kMostCount = 1'000'000;

int CountOf(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && count >= 1 && count <= kMostCount ? count : 0;
}

template <Seconds JudgingOptions::* kMember>
void SetDuration(JudgingOptions& options, const std::string& text) {
  options.*kMember = Seconds(ParseDuration(text).value_or(0));
}

template <Seconds JudgingOptions::* kMember>
std::string DurationText(const JudgingOptions& options) {
  return fmt::format("{}s", (options.*kMember).count());
}

// Returns the field as text. Returns an empty text if it is at its default, unless it is a choice
// that is always said.
std::string GivenText(const JudgingField& field, const JudgingOptions& options) {
  const std::string text = field.text(options);
  const bool always = field.kind == Kind::kChoice && field.record != Record::kIfGiven;
  return !always && text == field.text(JudgingOptions{}) ? "" : text;
}

std::vector<JudgingField> MakeFields() {
  return {
      {.name = "mode",
       .kind = Kind::kChoice,
       .choices = {"strict", "official"},
       .type_name = "MODE",
       .help = "verdict that counts: strict (default) or official",
       .in_settings = true,
       .record = Record::kAlways,
       .in_bundle = true,
       .set =
           [](JudgingOptions& options, const std::string& text) {
             options.mode = text == "official" ? CheckMode::kOfficial : CheckMode::kStrict;
           },
       .text =
           [](const JudgingOptions& options) { return std::string(CheckModeName(options.mode)); }},
      {.name = "cache",
       .kind = Kind::kChoice,
       .choices = {"warm", "cold"},
       .type_name = "STATE",
       .help = "cache state during timing: warm (default) or cold",
       .in_settings = true,
       .record = Record::kAlways,
       .in_bundle = true,
       .set =
           [](JudgingOptions& options, const std::string& text) {
             options.cache = text == "cold" ? CacheState::kCold : CacheState::kWarm;
           },
       .text =
           [](const JudgingOptions& options) {
             return std::string(CacheStateName(options.cache));
           }},
      // A run's record holds the number that was used, which NewRunSettings adds.
      {.name = "threads",
       .kind = Kind::kCount,
       .type_name = "N",
       .help = "threads for the kernel and torch (default: all)",
       .in_settings = true,
       .in_bundle = true,
       .set = [](JudgingOptions& options,
                 const std::string& text) { options.threads = CountOf(text); },
       .text = [](const JudgingOptions& options) { return std::to_string(options.threads); }},
      {.name = "run_limit",
       .kind = Kind::kDuration,
       .type_name = "TIME",
       .help = "time limit of a single call (default: 60s)",
       .record = Record::kAlways,
       .in_bundle = true,
       .set = SetDuration<&JudgingOptions::run_limit>,
       .text = DurationText<&JudgingOptions::run_limit>},
      {.name = "build_limit",
       .kind = Kind::kDuration,
       .type_name = "TIME",
       .help = "processor time for compiling a kernel (default: 60s)",
       .in_settings = true,
       .record = Record::kIfGiven,
       .set = SetDuration<&JudgingOptions::build_limit>,
       .text = DurationText<&JudgingOptions::build_limit>},
      {.name = "task_limit",
       .kind = Kind::kDuration,
       .type_name = "TIME",
       .help = "time limit for starting the task (default: 2m)",
       .set = SetDuration<&JudgingOptions::task_limit>,
       .text = DurationText<&JudgingOptions::task_limit>},
      {.name = "quiet_wait",
       .kind = Kind::kDuration,
       .type_name = "TIME",
       .help = "wait this long for other programs to be quiet (default: 0s)",
       .in_settings = true,
       .record = Record::kIfGiven,
       .set = SetDuration<&JudgingOptions::quiet_wait>,
       .text = DurationText<&JudgingOptions::quiet_wait>},
      {.name = "interval_width",
       .kind = Kind::kCount,
       .type_name = "N",
       .help = "aim for intervals on a busy machine, in per cent (default: 5)",
       .in_settings = true,
       .record = Record::kIfGiven,
       .set = [](JudgingOptions& options,
                 const std::string& text) { options.interval_width = CountOf(text); },
       .text =
           [](const JudgingOptions& options) { return std::to_string(options.interval_width); }},
      {.name = "strict_nan",
       .kind = Kind::kFlag,
       .help = "reject a kernel that does not propagate NaN as PyTorch does",
       .record = Record::kIfGiven,
       .in_bundle = true,
       .set = [](JudgingOptions& options,
                 const std::string& text) { options.strict_nan = text == "true"; },
       .text = [](const JudgingOptions& options) -> std::string {
         return options.strict_nan ? "true" : "false";
       }},
      {.name = "eval",
       .kind = Kind::kFlag,
       .help = "judge the module after eval(): batch norm by its running statistics, no dropout",
       .record = Record::kIfGiven,
       .in_bundle = true,
       .set = [](JudgingOptions& options,
                 const std::string& text) { options.eval = text == "true"; },
       .text = [](const JudgingOptions& options) -> std::string {
         return options.eval ? "true" : "false";
       }},
      {.name = "compile_mode",
       .kind = Kind::kChoice,
       .choices = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"},
       .type_name = "MODE",
       .help = "mode of the torch.compile that is a baseline (default: default)",
       .in_settings = true,
       .record = Record::kIfGiven,
       .in_bundle = true,
       .set = [](JudgingOptions& options, const std::string& text) { options.compile_mode = text; },
       .text = [](const JudgingOptions& options) { return options.compile_mode; }},
      {.name = "shapes",
       .kind = Kind::kJson,
       .flag = Flag::kOneTask,
       .type_name = "FILE",
       .help = "also judge on these shapes: a JSON list of {\"NAME\": NUMBER}",
       .record = Record::kIfGiven,
       .in_bundle = true,
       .set = [](JudgingOptions& options, const std::string& text) { options.shapes = text; },
       .text = [](const JudgingOptions& options) { return options.shapes; }},
      {.name = "target",
       .kind = Kind::kChoice,
       .choices = {"cpu", "triton", "cuda"},
       .flag = Flag::kOneTarget,
       .type_name = "TARGET",
       .help = "what runs the kernel: cpu (default), triton or cuda (the GPU)",
       .set =
           [](JudgingOptions& options, const std::string& text) {
             options.language = LanguageForTarget(text).value_or(Language::kCpp);
           },
       .text =
           [](const JudgingOptions& options) { return std::string(TargetName(options.language)); }},
      {.name = "devices",
       .kind = Kind::kNames,
       .flag = Flag::kOneTarget,
       .type_name = "N,...",
       .help = "candidate GPUs, e.g. 0,1; the least busy one is used",
       .set = [](JudgingOptions& options,
                 const std::string& text) { options.devices = Split(text, ','); },
       .text = [](const JudgingOptions& options) { return Join(options.devices, ","); }},
  };
}

}  // namespace

std::string_view CheckModeName(CheckMode mode) {
  return mode == CheckMode::kOfficial ? "official" : "strict";
}

std::string_view CacheStateName(CacheState state) {
  return state == CacheState::kCold ? "cold" : "warm";
}

std::string JudgingField::Complaint(const std::string& value) const {
  switch (kind) {
    case Kind::kChoice:
      if (std::ranges::find(choices, value) != choices.end()) return "";
      return fmt::format("must be one of {}", fmt::join(choices, ", "));
    case Kind::kCount: return CountOf(value) > 0 ? "" : "must be a whole number from 1";
    case Kind::kDuration: {
      const Result<double> seconds = ParseDuration(value);
      return seconds ? "" : seconds.error().message;
    }
    case Kind::kFlag: return value == "true" || value == "false" ? "" : "must be true or false";
    case Kind::kJson:  // its users read it (task/shapes.h)
    case Kind::kNames: return "";
  }
  return "";
}

std::span<const JudgingField> JudgingFields() {
  static const std::vector<JudgingField> fields = MakeFields();
  return fields;
}

JudgingOptions JudgingFrom(const JudgingTexts& texts) {
  JudgingOptions options;
  for (const JudgingField& field : JudgingFields()) {
    const auto given = texts.find(field.name);
    if (given != texts.end() && field.Complaint(given->second).empty())
      field.set(options, given->second);
  }
  return options;
}

JudgingTexts TextsOf(const JudgingOptions& options) {
  JudgingTexts texts;
  for (const JudgingField& field : JudgingFields()) {
    const std::string text = GivenText(field, options);
    if (!text.empty()) texts.emplace(field.name, text);
  }
  return texts;
}

JudgingTexts RecordOf(const JudgingOptions& options) {
  JudgingTexts record;
  for (const JudgingField& field : JudgingFields()) {
    const std::string text = GivenText(field, options);
    if (field.record == Record::kAlways || (field.record == Record::kIfGiven && !text.empty()))
      record.emplace(field.name, text);
  }
  return record;
}

}  // namespace pragma
