#include "report/html_page.h"

#include <array>
#include <filesystem>
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "report/gzip.h"
#include "report/script_bundle.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Data = kainjow::mustache::data;

// Libraries for drawing and layout, and for text differences. docs/report.md has versions and
// licences.
constexpr std::array<const char*, 2> kLibraries{"d3.min.js", "diff.js"};
// The module that draws the page.
constexpr const char* kEntry = "start.js";

// Checks a script or style. The text must not contain its own end tag.
Result<std::string> CheckPart(const fs::path& path, std::string text) {
  for (const char* end : {"</script", "</style", "<!--"}) {
    if (text.find(end) == std::string::npos) continue;
    return Fail(ErrorKind::kUnavailable, path.string() + " contains \"" + end +
                                             "\" and cannot be part of a page; install it again");
  }
  return text;
}

Result<std::string> ReadPart(const fs::path& path) { return CheckPart(path, TRY(ReadFile(path))); }

Result<std::string> ReadLibrary(const std::vector<fs::path>& folders, const std::string& name) {
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / name, ignored)) return ReadPart(folder / name);
  }
  return Fail(ErrorKind::kUnavailable,
              "cannot find the JavaScript library " + name +
                  " for reports; install the packages node-d3 and node-diff, or pragma again");
}

std::string Source(std::string_view text) { return "'sha256-" + Sha256Base64(text) + "'"; }

std::string Policy(const PageAssets& assets) {
  std::string scripts;
  for (const std::string& script : assets.scripts) scripts += " " + Source(script);
  return "default-src 'none'; script-src" + scripts + "; style-src " + Source(assets.style) +
         "; base-uri 'none'; form-action 'none'";
}

}  // namespace

Result<PageAssets> LoadPageAssets(const PageFolders& folders) {
  PageAssets assets;
  assets.page = TRY(ReadFile(folders.parts / "page.html"));
  assets.style = TRY(ReadPart(folders.parts / "page.css"));
  for (const char* name : kLibraries)
    assets.scripts.push_back(TRY(ReadLibrary(folders.libraries, name)));
  std::string own = TRY(BundleScripts(folders.parts, kEntry));
  assets.scripts.push_back(TRY(CheckPart(folders.parts, std::move(own))));
  return assets;
}

std::string RenderPage(const PageAssets& assets, const PageContent& content) {
  Data scripts(Data::type::list);
  for (const std::string& script : assets.scripts) scripts.push_back(Data("text", script));
  Data blocks(Data::type::list);
  for (const PageBlock& block : content.blocks) {
    Data entry("id", block.id);
    entry.set("packed", Base64(Gzip(block.json)));
    blocks.push_back(entry);
  }
  Data page("title", ToValidUtf8(content.title));
  page.set("policy", Policy(assets));
  page.set("style", assets.style);
  page.set("scripts", scripts);
  page.set("data", ScriptSafeJson(content.json));
  page.set("blocks", blocks);
  kainjow::mustache::mustache rendered(assets.page);
  return rendered.render(page);
}

std::string ScriptSafeJson(std::string_view json) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEscapes{
      {{"<", "\\u003c"},
       {">", "\\u003e"},
       {"&", "\\u0026"},
       {"\xE2\x80\xA8", "\\u2028"},
       {"\xE2\x80\xA9", "\\u2029"}}};
  std::string safe;
  safe.reserve(json.size() + json.size() / 16);
  for (std::size_t at = 0; at < json.size();) {
    std::string_view written = json.substr(at, 1);
    std::size_t length = 1;
    for (const auto& [sign, escape] : kEscapes) {
      if (!json.substr(at).starts_with(sign)) continue;
      written = escape;
      length = sign.size();
    }
    safe += written;
    at += length;
  }
  return safe;
}

}  // namespace pragma
