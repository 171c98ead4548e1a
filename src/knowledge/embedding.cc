#include "knowledge/embedding.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "knowledge/cache.h"
#include "knowledge/embedders.h"
#include "store/database.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDimensions = 65536;

std::unexpected<Error> NoVectors(const std::string& problem) {
  return Fail(ErrorKind::kUnavailable, "the reply holds no usable vectors: " + problem);
}

// Returns the numbers of one item, or an error that says what is wrong.
Result<Vector> VectorOf(const Json& item) {
  const auto found = item.is_object() ? item.find("embedding") : item.end();
  if (!item.is_object() || found == item.end() || !found->is_array()) {
    return NoVectors("an item has no \"embedding\"");
  }
  if (found->empty() || found->size() > kMostDimensions) return NoVectors("an odd length");
  Vector vector;
  for (const Json& number : *found) {
    if (!number.is_number()) return NoVectors("not all are numbers");
    vector.push_back(number.get<float>());
    if (!std::isfinite(vector.back())) return NoVectors("not all are finite");
  }
  return vector;
}

// Returns the index of an item, because services may answer out of order.
std::size_t PlaceOf(const Json& item, std::size_t otherwise) {
  const auto found = item.find("index");
  return found != item.end() && found->is_number_unsigned() ? found->get<std::size_t>() : otherwise;
}

std::string Bytes(const Vector& vector) {
  std::string bytes(vector.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  return bytes;
}

Vector FromBytes(const std::string& bytes) {
  Vector vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
  return vector;
}

Result<void> Keep(const Embedder& embedder, const std::vector<std::string>& hashes,
                  const std::vector<Vector>& vectors, KnowledgeCache& cache) {
  Transaction transaction = TRY(Transaction::Begin(cache.database()));
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    TRY(cache.PutVector(embedder.name, hashes[i], Bytes(vectors[i])));
  }
  return transaction.Commit();
}

}  // namespace

Result<Embedder> MakeEmbedder(const std::string& spec, const EmbedderOptions& options,
                              Clock& clock) {
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!rest.empty() && kind == "openai") return MakeServiceEmbedder(rest, options.service, clock);
  if (!rest.empty() && kind == "local") return MakeLocalEmbedder(rest, options);
  return Fail(ErrorKind::kUsage,
              fmt::format("no embeddings \"{}\": give openai:NAME or local:NAME", spec));
}

Result<std::vector<Vector>> ParseVectors(std::string_view json, std::size_t count) {
  const Json reply = Json::parse(json, nullptr, false);
  const auto data = reply.is_object() ? reply.find("data") : reply.end();
  if (!reply.is_object() || data == reply.end() || !data->is_array()) {
    return NoVectors("no list \"data\"");
  }
  if (data->size() != count) {
    return NoVectors(fmt::format("{} instead of {}", data->size(), count));
  }
  std::vector<Vector> vectors(count);
  std::size_t next = 0;
  for (const Json& item : *data) {
    Vector vector = TRY(VectorOf(item));
    const std::size_t place = PlaceOf(item, next++);
    if (place >= count || !vectors[place].empty()) return NoVectors("an index is wrong");
    vectors[place] = std::move(vector);
    if (vectors[place].size() != TRY(VectorOf(data->front())).size()) {
      return NoVectors("they differ in length");
    }
  }
  return vectors;
}

Result<std::vector<Vector>> EmbedCached(const Embedder& embedder,
                                        const std::vector<std::string>& texts,
                                        KnowledgeCache& cache) {
  std::map<std::string, Vector> known;
  std::vector<std::string> hashes;
  std::vector<std::string> missing;
  std::vector<std::string> missing_hashes;
  for (const std::string& text : texts) {
    hashes.push_back(Sha256Hex(text));
    if (known.contains(hashes.back())) continue;
    const std::optional<std::string> bytes = TRY(cache.FindVector(embedder.name, hashes.back()));
    known[hashes.back()] = bytes ? FromBytes(*bytes) : Vector{};
    if (bytes) continue;
    missing.push_back(text);
    missing_hashes.push_back(hashes.back());
  }
  if (!missing.empty()) {
    const std::vector<Vector> fresh = TRY(embedder.embed(missing));
    TRY(Keep(embedder, missing_hashes, fresh, cache));
    for (std::size_t i = 0; i < fresh.size(); ++i) known[missing_hashes[i]] = fresh[i];
  }
  std::vector<Vector> vectors;
  for (const std::string& hash : hashes) vectors.push_back(known[hash]);
  return vectors;
}

double Cosine(const Vector& a, const Vector& b) {
  double product = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    square_a += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    square_b += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double length = std::sqrt(square_a) * std::sqrt(square_b);
  return length > 0 ? product / length : 0;
}

}  // namespace pragma
