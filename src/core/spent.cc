#include "core/spent.h"

namespace pragma {

Spent& Spent::operator+=(const Spent& other) {
  seconds += other.seconds;
  tokens_in += other.tokens_in;
  tokens_out += other.tokens_out;
  usd += other.usd;
  tokens_cached += other.tokens_cached;
  usd_saved += other.usd_saved;
  return *this;
}

}  // namespace pragma
