// Prompt templates: logic-less text with {{names}}, rendered strictly.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// What a template may name. A name is one of the three; list items see the names around them too.
struct PromptData {
  std::map<std::string, std::string> texts;              // {{name}}
  std::map<std::string, bool> flags;                     // {{#name}}…{{/name}}, {{^name}}…{{/name}}
  std::map<std::string, std::vector<PromptData>> lists;  // {{#name}}…{{/name}}: once for each item
};

// The *.mustache files of one folder, and as partials ({{> name}}) those of its folder partials/
// and of its folder for the language that prompts are about. Nothing is escaped: a prompt is plain
// text.
class PromptLibrary final {
 public:
  // Reads every template at once, so that a run does not change its prompts half way.
  // `language`: a folder in it; empty: none, for prompts that are about no language.
  [[nodiscard]] static Result<PromptLibrary> Load(const std::filesystem::path& folder,
                                                  std::string_view language = {});
  [[nodiscard]] bool Has(const std::string& name) const { return templates_.contains(name); }
  // An Error for a template that does not exist or is malformed, and for every name that it uses
  // and `data` does not have.
  [[nodiscard]] Result<std::string> Render(const std::string& name, const PromptData& data) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> templates_;
  std::map<std::string, std::string> partials_;
};

}  // namespace pragma
