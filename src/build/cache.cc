#include "build/cache.h"

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/check.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr auto kStale = std::chrono::hours(24);
constexpr const char* kObject = "kernel.so";
constexpr const char* kMeta = "meta.json";

std::string MetaText(const BuiltKernel& kernel) {
  Json checks = Json::array();
  for (const Check& check : kernel.checks)
    checks.push_back({check.name, EnumName(check.verdict), check.detail});
  const Json meta = {{"sha256", kernel.sha256},
                     {"scratch_bytes", kernel.scratch_bytes},
                     {"packed_bytes", kernel.packed_bytes},
                     {"has_prepare", kernel.has_prepare},
                     {"llvm_openmp", kernel.llvm_openmp},
                     {"openmp", kernel.openmp},
                     {"seal_data", kernel.seal_data},
                     {"kept", kernel.kept},
                     {"constants", kernel.constants},
                     {"device_variables", kernel.device_variables},
                     {"compiler", kernel.compiler},
                     {"checks", checks}};
  const std::string body = meta.dump(2, ' ', false, Json::error_handler_t::replace);
  return Sha256Hex(body) + "\n" + body;
}

// Reads an entry's meta.json. Its hash is correct, so pragma wrote its fields. A pragma version
// with other fields uses other keys.
std::optional<BuiltKernel> FromMeta(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos ||
      Sha256Hex(std::string_view(text).substr(line + 1)) != text.substr(0, line)) {
    return std::nullopt;
  }
  const Json meta = Json::parse(text.substr(line + 1), nullptr, false);
  if (meta.is_discarded()) return std::nullopt;
  BuiltKernel kernel;
  kernel.sha256 = meta.value("sha256", "");
  kernel.scratch_bytes = meta.value("scratch_bytes", std::size_t{0});
  kernel.packed_bytes = meta.value("packed_bytes", std::size_t{0});
  kernel.has_prepare = meta.value("has_prepare", false);
  kernel.llvm_openmp = meta.value("llvm_openmp", false);
  kernel.openmp = meta.value("openmp", false);
  kernel.seal_data = meta.value("seal_data", false);
  kernel.kept = meta.value("kept", std::vector<std::string>{});
  kernel.constants = meta.value("constants", std::vector<double>());
  kernel.device_variables = meta.value("device_variables", std::vector<std::string>());
  kernel.compiler = meta.value("compiler", "");
  for (const Json& check : meta.value("checks", Json::array())) {
    const auto verdict = EnumFromName<CheckVerdict>(check.at(1).get<std::string>());
    if (!verdict) return std::nullopt;
    kernel.checks.push_back({.name = check.at(0), .verdict = *verdict, .detail = check.at(2)});
  }
  return kernel;
}

// Removes a damaged entry. It is moved away first, because a rename cannot replace a folder.
void Discard(const fs::path& entry, const fs::path& folder) {
  auto grave = TempDir::Create(folder);
  std::error_code code;
  if (grave) fs::rename(entry, grave->path() / "entry", code);
}

Result<void> WriteEntry(const fs::path& folder, const BuiltKernel& kernel,
                        const std::string& bytes) {
  TRY(MakeDirectories(folder));
  TRY(WriteFileAtomic(folder / kObject, bytes));
  TRY(WriteFileAtomic(folder / kMeta, MetaText(kernel)));
  std::error_code code;
  fs::permissions(folder / kObject,
                  fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, code);
  return {};
}

}  // namespace

Result<void> BuildCache::Open() const {
  TRY(MakeDirectories(folder_));
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder_, code)) {
    if (!entry.path().filename().string().starts_with("pragma-")) continue;
    const auto written = entry.last_write_time(code);
    if (!code && fs::file_time_type::clock::now() - written > kStale)
      fs::remove_all(entry.path(), code);
  }
  return {};
}

std::optional<BuiltKernel> BuildCache::Find(const std::string& key) const {
  const fs::path entry = folder_ / key;
  const Result<std::string> meta = ReadFile(entry / kMeta);
  std::optional<BuiltKernel> kernel = meta ? FromMeta(*meta) : std::nullopt;
  const Result<std::string> bytes = kernel ? ReadFile(entry / kObject) : Fail("");
  if (kernel && bytes && Sha256Hex(*bytes) == kernel->sha256) {
    kernel->shared_object = entry / kObject;
    kernel->from_cache = true;
    return kernel;
  }
  std::error_code code;
  if (fs::exists(entry, code)) Discard(entry, folder_);
  return std::nullopt;
}

Result<BuiltKernel> BuildCache::Keep(const std::string& key, BuiltKernel kernel,
                                     const std::string& bytes) const {
  kernel.sha256 = Sha256Hex(bytes);
  const TempDir scratch = TRY(TempDir::Create(folder_));
  const fs::path fresh = scratch.path() / "entry";
  TRY(WriteEntry(fresh, kernel, bytes));
  std::error_code code;
  fs::rename(fresh, folder_ / key, code);
  if (code) {  // another process was first; its object was made from the same input
    const std::optional<BuiltKernel> theirs = Find(key);
    if (!theirs) {
      fs::rename(fresh, folder_ / key, code);
      if (code)
        return Fail("cannot put a built kernel into " + folder_.string() + ": " + code.message());
    } else {
      kernel.sha256 = theirs->sha256;
    }
  }
  kernel.shared_object = folder_ / key / kObject;
  return kernel;
}

}  // namespace pragma
