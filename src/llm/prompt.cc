#include "llm/prompt.h"

#include <fmt/format.h>

#include <filesystem>
#include <kainjow/mustache.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Data = kainjow::mustache::data;

Data Convert(const PromptData& values) {
  Data object(Data::type::object);
  for (const auto& [name, text] : values.texts) object.set(name, text);
  for (const auto& [name, flag] : values.flags) object.set(name, flag);
  for (const auto& [name, items] : values.lists) {
    Data list(Data::type::list);
    for (const PromptData& item : items) list.push_back(Convert(item));
    object.set(name, list);
  }
  return object;
}

// Returns whether a line of a template holds nothing but a section tag or a comment.
bool IsTagLine(std::string_view line) {
  line = Trim(line);
  const bool tag = line.size() > 4 && line.starts_with("{{") && line.find("}}") == line.size() - 2;
  return tag && std::string_view("#^/!").find(line[2]) != std::string_view::npos;
}

// Prepares a template for the library. The library keeps the empty lines of sections that are left
// out and drops those of sections that are shown. So tag lines are joined to the following line
// here, and every other line end gets a mark that it is not empty. The marks are removed from the
// rendered text.
constexpr char kMark = '\x01';

std::string Prepared(const std::string& text) {
  std::string prepared;
  for (const std::string& line : SplitLines(text)) {
    prepared += IsTagLine(line) ? std::string(Trim(line)) : line + kMark + "\n";
  }
  return prepared;
}

// Prepares a partial. It is used on a line of its own, whose line end is enough.
std::string PreparedPartial(const std::string& text) {
  std::string prepared = Prepared(text);
  if (prepared.ends_with('\n')) prepared.resize(prepared.size() - 2);
  return prepared;
}

// StrictContext: keeps a list of unknown names. The library alone renders them as nothing.
class StrictContext final : public kainjow::mustache::context<std::string> {
 public:
  StrictContext(const Data* data, const std::map<std::string, std::string>& partials)
      : context(data) {
    for (const auto& [name, text] : partials) partials_.emplace(name, Data(PreparedPartial(text)));
  }
  const Data* get(const std::string& name) const override {
    const Data* found = context::get(name);
    if (found == nullptr) unknown_.insert(name);
    return found;
  }
  const Data* get_partial(const std::string& name) const override {
    const auto found = partials_.find(name);
    if (found != partials_.end()) return &found->second;
    unknown_.insert("> " + name);
    return nullptr;
  }
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  std::map<std::string, Data> partials_;
  mutable std::set<std::string> unknown_;
};

Result<std::map<std::string, std::string>> ReadTemplates(const fs::path& folder) {
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".mustache") continue;
    texts[it->path().stem().string()] = TRY(ReadFile(it->path()));
  }
  if (error) {
    return Fail(fmt::format("cannot read the prompts in {}: {}", folder.string(), error.message()));
  }
  return texts;
}

}  // namespace

Result<PromptLibrary> PromptLibrary::Load(const fs::path& folder, std::string_view language) {
  PromptLibrary library;
  library.folder_ = folder;
  library.templates_ = TRY(ReadTemplates(folder));
  if (fs::exists(folder / "partials")) library.partials_ = TRY(ReadTemplates(folder / "partials"));
  if (!language.empty()) library.partials_.merge(TRY(ReadTemplates(folder / language)));
  if (library.templates_.empty()) return Fail("no prompts (*.mustache) in " + folder.string());
  return library;
}

Result<std::string> PromptLibrary::Render(const std::string& name, const PromptData& data) const {
  const auto found = templates_.find(name);
  const std::string file = (folder_ / (name + ".mustache")).string();
  if (found == templates_.end()) return Fail(ErrorKind::kUsage, "no prompt " + file);
  kainjow::mustache::mustache rendered(Prepared(found->second));
  rendered.set_custom_escape([](const std::string& text) { return text; });
  const Data values = Convert(data);
  StrictContext context(&values, partials_);
  std::string text = rendered.render(context);
  if (!rendered.is_valid()) return Fail(fmt::format("{}: {}", file, rendered.error_message()));
  if (!context.unknown().empty()) {
    return Fail(fmt::format("{} uses unknown names: {}", file, fmt::join(context.unknown(), ", ")));
  }
  std::erase(text, kMark);
  return text;
}

}  // namespace pragma
