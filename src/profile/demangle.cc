#include "profile/demangle.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/text.h"

namespace pragma {
namespace {

constexpr std::size_t kNameBytes = 160;

}  // namespace

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return Shorten(ToValidUtf8(status == 0 && text ? std::string(text.get()) : name), kNameBytes);
}

}  // namespace pragma
