#include "core/candidate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"

namespace pragma {
namespace {

constexpr std::string_view kFlagsMark = "// pragma-flags:";
constexpr std::string_view kCompilerMark = "// pragma-compiler:";
constexpr std::size_t kFlagsLines = 10;  // number of first lines that are searched for marks

// Appends a part with its length in front, so that different candidates never give the same text.
void Add(std::string& text, std::string_view part) {
  text += std::to_string(part.size()) + ":";
  text += part;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : Split(text, ' ')) {
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  }
  return words;
}

}  // namespace

std::string_view LanguageName(Language language) {
  constexpr std::array<std::string_view, 4> kNames{"cpp", "cuda", "triton", "python"};
  return kNames.at(static_cast<std::size_t>(language));
}

bool RunsOnProcessor(Language language) {
  return language == Language::kCpp || language == Language::kPython;
}

std::string_view TargetName(Language language) {
  return RunsOnProcessor(language) ? "cpu" : LanguageName(language);
}

std::optional<Language> LanguageForTarget(std::string_view target) {
  for (const Language language : {Language::kCpp, Language::kTriton, Language::kCuda}) {
    if (TargetName(language) == target) return language;
  }
  return std::nullopt;
}

const std::string& Candidate::source() const {
  static const std::string kNone;
  return files.empty() ? kNone : files.begin()->second;
}

std::string Candidate::id() const {
  std::string text;
  Add(text, LanguageName(language));
  for (const auto& [name, content] : files) {
    Add(text, name);
    Add(text, content);
  }
  Add(text, compiler);
  Add(text, "flags");
  for (const std::string& flag : flags) Add(text, flag);
  Add(text, "tunables");
  for (const auto& [name, value] : tunables) {
    Add(text, name);
    Add(text, std::to_string(value));
  }
  return Sha256Hex(text).substr(0, 16);
}

bool IsVariantOf(const Candidate& variant, const Candidate& candidate) {
  const bool same_source = variant.language == candidate.language &&
                           variant.files == candidate.files &&
                           variant.compiler == candidate.compiler;
  const bool same_tunables = variant.tunables == candidate.tunables || candidate.tunables.empty();
  const bool keeps_flags =
      variant.flags.size() >= candidate.flags.size() &&
      std::ranges::equal(candidate.flags, std::span(variant.flags).first(candidate.flags.size()));
  return same_source && same_tunables && keeps_flags;
}

const std::vector<std::string>& DefaultCppFlags() {
  static const std::vector<std::string> kFlags{"-O3", "-march=native", "-fopenmp"};
  return kFlags;
}

const std::vector<std::string>& DefaultCudaFlags() {
  static const std::vector<std::string> kFlags{"-O3"};
  return kFlags;
}

namespace {

// Reads the marks in the first lines of a source.
void ReadMarks(const std::string& source, Candidate& candidate) {
  const std::vector<std::string> lines = SplitLines(std::string_view(source).substr(0, 4096));
  for (std::size_t i = 0; i < lines.size() && i < kFlagsLines; ++i) {
    const std::string_view line = Trim(lines[i]);
    if (line.starts_with(kFlagsMark)) candidate.flags = Words(line.substr(kFlagsMark.size()));
    if (line.starts_with(kCompilerMark))
      candidate.compiler = Trim(line.substr(kCompilerMark.size()));
  }
}

}  // namespace

Candidate CppCandidate(std::string source) {
  Candidate candidate;
  candidate.flags = DefaultCppFlags();
  ReadMarks(source, candidate);
  candidate.files["kernel.cpp"] = std::move(source);
  return candidate;
}

Candidate CudaCandidate(std::string source) {
  Candidate candidate{.language = Language::kCuda, .compiler = "nvcc"};
  candidate.flags = DefaultCudaFlags();
  ReadMarks(source, candidate);
  candidate.files["kernel.cu"] = std::move(source);
  return candidate;
}

Candidate TritonCandidate(std::string source) {
  Candidate candidate{.language = Language::kTriton, .compiler = ""};
  candidate.files["solution.py"] = std::move(source);
  return candidate;
}

Candidate PythonCandidate(std::string source) {
  Candidate candidate{.language = Language::kPython, .compiler = ""};
  candidate.files["solution.py"] = std::move(source);
  return candidate;
}

Candidate CandidateIn(Language language, std::string source) {
  switch (language) {
    case Language::kCuda: return CudaCandidate(std::move(source));
    case Language::kTriton: return TritonCandidate(std::move(source));
    case Language::kPython: return PythonCandidate(std::move(source));
    case Language::kCpp: break;
  }
  return CppCandidate(std::move(source));
}

const std::vector<std::string>& DefaultFlags(Language language) {
  static const std::vector<std::string> kNone;
  if (language == Language::kCuda) return DefaultCudaFlags();
  return language == Language::kCpp ? DefaultCppFlags() : kNone;
}

}  // namespace pragma
