#include "cli/judging_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/settings.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/judging.h"
#include "task/shapes.h"

namespace pragma {
namespace {

std::string FlagName(const JudgingField& field) {
  std::string name = "--" + std::string(field.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

void AddFlag(CLI::App& command, const JudgingField& field, JudgingTexts& given) {
  const std::string name(field.name);
  const std::string help(field.help);
  if (field.kind == JudgingField::Kind::kFlag) {
    command
        .add_flag_callback(
            FlagName(field), [&given, name] { given.insert_or_assign(name, "true"); }, help)
        ->group("Checking");
    return;
  }
  if (field.kind == JudgingField::Kind::kNames) {
    command
        .add_option_function<std::vector<std::string>>(
            FlagName(field),
            [&given, name](const std::vector<std::string>& names) {
              given.insert_or_assign(name, Join(names, ","));
            },
            help)
        ->type_name(std::string(field.type_name))
        ->delimiter(',')
        ->group("Checking");
    return;
  }
  CLI::Option* option = command.add_option_function<std::string>(
      FlagName(field),
      [&given, name](const std::string& text) { given.insert_or_assign(name, text); }, help);
  option->type_name(std::string(field.type_name))->group("Checking");
  switch (field.kind) {
    case JudgingField::Kind::kChoice:
      option->check(
          CLI::IsMember(std::vector<std::string>(field.choices.begin(), field.choices.end())));
      break;
    case JudgingField::Kind::kCount: option->check(CLI::PositiveNumber); break;
    case JudgingField::Kind::kDuration: option->check(DurationComplaint); break;
    default: break;
  }
}

void AddFlags(CLI::App& command, JudgingField::Flag which, JudgingTexts& given) {
  for (const JudgingField& field : JudgingFields()) {
    if (field.flag == which) AddFlag(command, field, given);
  }
}

}  // namespace

std::string DurationComplaint(const std::string& text) {
  const Result<double> seconds = ParseDuration(text);
  return seconds ? "" : seconds.error().message;
}

void JudgingFlags::AddTo(CLI::App& command) {
  AddFlags(command, JudgingField::Flag::kEveryJudge, given);
  command
      .add_flag("--unsafe-no-sandbox", unsafe_no_sandbox,
                "run candidates without protection where bubblewrap does not work")
      ->group("Checking");
}

void JudgingFlags::AddShapesTo(CLI::App& command) {
  for (const JudgingField& field : JudgingFields()) {
    if (field.flag != JudgingField::Flag::kOneTask) continue;
    command.add_option(FlagName(field), shapes_file, std::string(field.help))
        ->type_name(std::string(field.type_name))
        ->group("Checking");
  }
}

void JudgingFlags::AddTargetTo(CLI::App& command) {
  AddFlags(command, JudgingField::Flag::kOneTarget, given);
}

Result<void> JudgingFlags::ReadShapes() {
  if (shapes_file.empty()) return {};
  Result<std::string> text = ReadFile(shapes_file);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  TRY(ParseShapes(*text, shapes_file));
  given.insert_or_assign("shapes", std::move(*text));
  return {};
}

JudgingOptions JudgingFlags::Over(const Settings& settings) const {
  JudgingTexts texts = given;
  texts.insert(settings.judging.begin(), settings.judging.end());
  return JudgingFrom(texts);
}

}  // namespace pragma
