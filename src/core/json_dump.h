// Dump: writes a JSON value as text on one line.
#pragma once

#include <string>

namespace pragma {

// Takes an nlohmann::json or ordered_json. Bytes that are not UTF-8 become U+FFFD.
template <class Json>
[[nodiscard]] std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pragma
