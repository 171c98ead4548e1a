#include "app/candidate_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/json.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Reads a file that the caller named. A missing file is the caller's mistake, not internal trouble.
Result<std::string> ReadGiven(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    return FailUsage(path.string() + " is not a plain file");  // reading a pipe would block
  }
  Result<std::string> text = ReadFile(path);
  if (!text) return FailUsage(text.error().message);
  return text;
}

// Reads a file of a candidate's folder. The folder may come from anywhere. A link in it could point
// to a private file, which the compiler's messages would then quote to a model.
Result<std::string> ReadOwn(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    return FailUsage(path.string() + " is a link: a candidate's folder must hold plain files");
  }
  return ReadGiven(path);
}

// Tells whether the language is Python or embedded in it, and so has neither flags nor a compiler.
bool IsPython(const Json& language) {
  return language == LanguageName(Language::kPython) || language == LanguageName(Language::kTriton);
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

bool IsCuda(const Json& language) { return language == LanguageName(Language::kCuda); }

const char* DefaultFile(const Json& language) {
  if (IsPython(language)) return "solution.py";
  return IsCuda(language) ? "kernel.cu" : "kernel.cpp";
}

std::vector<std::string> DefaultFlags(const Json& language) {
  if (IsPython(language)) return {};
  return IsCuda(language) ? DefaultCudaFlags() : DefaultCppFlags();
}

// Turns "files" as a list of names, or a missing "files", into the object that core reads.
Result<Json> WithFiles(Json value, const fs::path& folder) {
  if (!value.contains("files")) {
    value["files"] = Json::array({DefaultFile(value.value("language", Json()))});
  }
  if (!value["files"].is_array()) return value;
  Json files = Json::object();
  for (const Json& name : value["files"]) {
    if (!name.is_string() || !IsPlainName(name.get<std::string>())) {
      return FailUsage("candidate.json: \"files\" must name files of its own folder");
    }
    files[name.get<std::string>()] = TRY(ReadOwn(folder / name.get<std::string>()));
  }
  value["files"] = std::move(files);
  return value;
}

}  // namespace

Result<Candidate> CandidateFromObject(std::string_view json, const fs::path& folder) {
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return FailUsage("the candidate is not a JSON object");
  value = TRY(WithFiles(std::move(value), folder));
  if (!value.contains("language")) value["language"] = LanguageName(Language::kCpp);
  const Json language = value["language"];
  if (!value.contains("flags")) value["flags"] = DefaultFlags(language);
  if (IsPython(language) && !value.contains("compiler")) value["compiler"] = "";
  if (IsCuda(language) && !value.contains("compiler")) value["compiler"] = "nvcc";
  Result<Candidate> candidate = CandidateFromJson(value.dump());
  if (!candidate) return FailUsage("the candidate is not valid: " + candidate.error().message);
  return candidate;
}

Result<Candidate> LoadCandidate(const fs::path& path, Language language) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const fs::path description = path / "candidate.json";
    if (!fs::exists(description, ignored)) {
      return FailUsage("the folder " + path.string() + " has no candidate.json");
    }
    return CandidateFromObject(TRY(ReadOwn(description)), path);
  }
  const std::string extension = path.extension().string();
  if (extension == ".py") {
    std::string text = TRY(ReadGiven(path));
    return language == Language::kTriton ? TritonCandidate(std::move(text))
                                         : PythonCandidate(std::move(text));
  }
  if (extension == ".cu") return CudaCandidate(TRY(ReadGiven(path)));
  if (extension != ".cpp" && extension != ".cc" && extension != ".cxx") {
    return FailUsage(path.string() +
                     ": a candidate is a .cpp, .cu or .py file, or a folder with candidate.json");
  }
  return CppCandidate(TRY(ReadGiven(path)));
}

}  // namespace pragma
