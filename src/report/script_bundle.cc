#include "report/script_bundle.h"

#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// A module becomes a function that is called once. Its exports are the object that it returns:
//   const modules = {};
//   modules['./a.js'] = (function() { ...; return {exported}; })();
// An import takes the names from that object: const {exported} = modules['./a.js'];
constexpr std::string_view kImport = "import ";
constexpr std::string_view kExport = "export ";

// Returns the line that begins at the place; an import, which may go on over several lines, whole.
std::string StatementAt(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const std::string_view end = rest.starts_with(kImport) ? ";\n" : "\n";
  const std::size_t found = rest.find(end);
  if (found == std::string_view::npos) return std::string(rest) + "\n";
  return std::string(rest.substr(0, found + end.size()));
}

class Bundler {
 public:
  explicit Bundler(const fs::path& folder) : folder_(folder) {}

  Result<void> Add(const std::string& name) {
    if (done_.contains(name)) return {};
    if (!begun_.insert(name).second)
      return Wrong(name, "is imported by a module that it imports itself");
    const std::string text = TRY(ReadFile(folder_ / name));
    std::string body;
    std::vector<std::string> exports;
    for (std::size_t at = 0; at < text.size();) {
      std::string line = StatementAt(text, at);
      at += line.size();
      if (line.starts_with(kImport)) line = TRY(Import(name, line));
      if (line.starts_with(kExport)) exports.push_back(TRY(Export(name, line)));
      body += line;
    }
    text_ +=
        Slot(name) + " = (function() {\n" + body + "return {" + Join(exports, ", ") + "};\n})();\n";
    done_.insert(name);
    return {};
  }

  [[nodiscard]] std::string Text() const { return "'use strict';\nconst modules = {};\n" + text_; }

 private:
  static std::string Slot(const std::string& name) { return "modules['./" + name + "']"; }

  [[nodiscard]] std::unexpected<Error> Wrong(const std::string& name,
                                             const std::string& what) const {
    return Fail(ErrorKind::kUnavailable,
                (folder_ / name).string() + " " + what + "; install pragma again");
  }

  // Adds the module that the statement names. Returns the statement that replaces it.
  Result<std::string> Import(const std::string& name, const std::string& statement) {
    const std::size_t open = statement.find('{'), close = statement.find("} from './");
    const std::size_t end = statement.rfind("';");
    if (open != kImport.size() || close == std::string::npos || end == std::string::npos)
      return Wrong(name, "has an import of a form that pages cannot use");
    const std::size_t module = close + std::string_view("} from './").size();
    const std::string other = statement.substr(module, end - module);
    TRY(Add(other));
    return "const " + statement.substr(open, close + 1 - open) + " = " + Slot(other) + ";\n";
  }

  // Returns the name that the line exports, and removes the word `export`.
  Result<std::string> Export(const std::string& name, std::string& line) const {
    line.erase(0, kExport.size());
    for (const std::string_view kind : {"function ", "async function ", "const "}) {
      if (!line.starts_with(kind)) continue;
      const std::string rest = line.substr(kind.size());
      return rest.substr(0, rest.find_first_of(" ("));
    }
    return Wrong(name, "has an export of a form that pages cannot use");
  }

  fs::path folder_;
  std::set<std::string> begun_, done_;
  std::string text_;  // the modules that are done
};

}  // namespace

Result<std::string> BundleScripts(const fs::path& folder, const std::string& entry) {
  Bundler bundler(folder);
  TRY(bundler.Add(entry));
  return bundler.Text();
}

}  // namespace pragma
